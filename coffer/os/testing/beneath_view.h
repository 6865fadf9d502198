// SPDX-License-Identifier: Apache-2.0
// What FileSystem::Beneath is for a double: every call first looks at each component on its way.
// A test that plants something acts between two calls, so nothing comes between look and deed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coffer/os/file_system.h"

namespace coffer::os {

class BeneathView final : public FileSystem {
 public:
  BeneathView(FileSystem& base, std::string directory)
      : base_(base), directory_(std::move(directory)) {}

  Result<std::unique_ptr<File>> Open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> OpenDescriptor(int descriptor) override;
  Result<std::unique_ptr<File>> CreateUnnamed(const std::string& directory, uint32_t mode) override;
  Status LinkUnnamed(File& file, const std::string& path) override;
  Result<FileStat> Stat(const std::string& path) override { return StatNoFollow(path); }
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
  Result<std::unique_ptr<FileSystem>> Beneath(const std::string& directory) override;
  [[nodiscard]] std::string FullPath(const std::string& path) const override;
  Result<bool> IsOnProcessFileSystem(const std::string& path) override;
  uint32_t Umask() override { return base_.Umask(); }

 private:
  // The base's path for `path`, once its parents are known to be directories; with `whole` its last
  // component is not a symbolic link either.
  Result<std::string> Resolve(const std::string& path, bool whole = false);
  template <class Call>
  auto On(const std::string& path, Call call, bool whole = false) -> decltype(call(std::string())) {
    COFFER_ASSIGN_OR_RETURN(const std::string resolved, Resolve(path, whole));
    return call(resolved);
  }

  FileSystem& base_;
  std::string directory_;
};

}  // namespace coffer::os
