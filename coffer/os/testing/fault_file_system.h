// SPDX-License-Identifier: Apache-2.0
// A FileSystem for tests that passes calls on to another one, counts them, and lets chosen ones
// fail.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coffer/os/file_system.h"

namespace coffer::os {

enum class Call : uint8_t {
  kOpen,
  kCreate,  // an Open that may create
  kOpenDescriptor,
  kCreateUnnamed,
  kLinkUnnamed,
  kStat,   // of names and of open files
  kRead,   // also ReadAt
  kSeek,   // NextData and NextHole
  kWrite,  // also WriteAt
  kTruncate,
  kAllocate,
  kSync,
  kFlush,
  kSetAttribute,  // mode, owner, times, extended attributes
  kGetAttribute,
  kLock,  // also TryLock
  kClose,
  kRename,  // also RenameNoReplace
  kLink,
  kUnlink,
  kMakeDirectory,
  kRemoveDirectory,
  kReadDirectory,
  kSyncDirectory,
  kMakeFifo,
  kMakeSymlink,
  kReadLink,
  kCount,
};

class FaultFileSystem final : public FileSystem {
 public:
  explicit FaultFileSystem(FileSystem& base);
  ~FaultFileSystem() override;

  // The Nth call from now on (N = 1 is the next), of one kind or of any, fails with `error_number`,
  // and so do those after it if `times` is more than one. What a call would have done is not done,
  // but for two: a write that fails has written half of its bytes, and a close has closed.
  void FailNth(Call call, size_t n, int error_number, size_t times = 1);
  void FailNthOfAny(size_t n, int error_number);
  // From now on every call of this kind fails.
  void FailAlways(Call call, int error_number);
  // The Nth Read from now on returns at most one byte.
  void ShortenNthRead(size_t n);
  // The Nth call of Sync or SyncDirectory from now on succeeds and does nothing.
  void SkipNthSync(size_t n);
  // `action` runs just before the Nth call of any kind from now on.
  void BeforeNthOfAny(size_t n, std::function<void()> action);
  void ClearFaults();
  // Whether a fault of FailNth, FailNthOfAny, ShortenNthRead or SkipNthSync has struck.
  [[nodiscard]] bool struck() const;
  // What the skipped Sync or SyncDirectory was of.
  [[nodiscard]] std::string skipped_path() const;

  [[nodiscard]] size_t Count(Call call) const;
  [[nodiscard]] size_t TotalCount() const;
  // Calls that wait for stable storage: Sync and SyncDirectory.
  [[nodiscard]] size_t SyncCount() const;
  void ResetCounts();

  Result<std::unique_ptr<File>> Open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> OpenDescriptor(int descriptor) override;
  Result<std::unique_ptr<File>> CreateUnnamed(const std::string& directory, uint32_t mode) override;
  Status LinkUnnamed(File& file, const std::string& path) override;
  Result<FileStat> Stat(const std::string& path) override;
  Result<FileStat> StatNoFollow(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RenameNoReplace(const std::string& from, const std::string& to) override;
  Status Link(const std::string& existing, const std::string& name) override;
  Status Unlink(const std::string& path) override;
  Status MakeDirectory(const std::string& path, uint32_t mode) override;
  Status RemoveDirectory(const std::string& path) override;
  Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path, size_t limit) override;
  Status SyncDirectory(const std::string& path) override;
  Status MakeFifo(const std::string& path, uint32_t mode) override;
  Status MakeSymlink(const std::string& target, const std::string& path) override;
  Result<std::string> ReadLink(const std::string& path) override;
  Status SetOwnerNoFollow(const std::string& path, uint32_t user, uint32_t group) override;
  Status SetTimesNoFollow(const std::string& path, FileTime access_time,
                          FileTime modify_time) override;
  // Shares the counts and what is to fail. Not itself counted as a call.
  Result<std::unique_ptr<FileSystem>> Beneath(const std::string& directory) override;
  [[nodiscard]] std::string FullPath(const std::string& path) const override;
  Result<bool> IsOnProcessFileSystem(const std::string& path) override;
  uint32_t Umask() override;

 private:
  class State;
  class FaultFile;
  Result<std::unique_ptr<File>> Wrap(Result<std::unique_ptr<File>> opened);

  FaultFileSystem(std::unique_ptr<FileSystem> base, std::shared_ptr<State> state);

  std::unique_ptr<FileSystem> owned_base_;  // of a view
  FileSystem& base_;
  std::shared_ptr<State> state_;
};

}  // namespace coffer::os
