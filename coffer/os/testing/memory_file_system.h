// SPDX-License-Identifier: Apache-2.0
// A FileSystem for tests that lives in memory and knows what a crash would leave of it. The model
// is as weak as POSIX is: the content of a file is durable after Sync of that file, an entry after
// SyncDirectory of its directory, a new directory once its parent was synced, and renames are not
// ordered with data. A rename within one directory is a single change; one across two directories
// is a change in each of them.
//
// There are no users: every permission is granted. Umask() is 022.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coffer/os/file_system.h"

namespace coffer::os {

class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();  // an empty root directory
  ~MemoryFileSystem() override;

  // Everything that was not synced is gone.
  [[nodiscard]] std::unique_ptr<MemoryFileSystem> CrashDroppingUnsynced() const;
  // Each unsynced change of a directory, each 4 KiB block and each size of unsynced content
  // survives or not, as `seed` has it.
  [[nodiscard]] std::unique_ptr<MemoryFileSystem> CrashKeepingSome(uint64_t seed) const;

  // The power goes after `operation_count` more operations that change something or sync: those
  // later have no effect and fail with EIO.
  void CutAfter(size_t operation_count);
  [[nodiscard]] bool cut() const;
  // How many such operations there were so far.
  [[nodiscard]] size_t operation_count() const;

  Result<std::unique_ptr<File>> Open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> OpenDescriptor(int descriptor) override;  // EBADF
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
  // Stays with the path of the directory, which tests do not move.
  Result<std::unique_ptr<FileSystem>> Beneath(const std::string& directory) override;
  Result<bool> IsOnProcessFileSystem(const std::string& path) override;
  uint32_t Umask() override;

 private:
  class Tree;
  explicit MemoryFileSystem(std::shared_ptr<Tree> tree);
  Result<FileStat> StatWith(const std::string& path, bool follow);
  Status Remove(const char* verb, const std::string& path, bool directory);

  std::shared_ptr<Tree> tree_;
};

}  // namespace coffer::os
