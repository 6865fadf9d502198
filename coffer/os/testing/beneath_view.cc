// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/beneath_view.h"

#include <errno.h>

#include <utility>

#include "coffer/os/error.h"

namespace coffer::os {

Result<std::string> BeneathView::Resolve(const std::string& path, bool whole) {
  if (path.empty()) return PathError("reach", path, ENOENT);
  if (path.front() == '/') return PathError("reach", FullPath(path), EINVAL);
  std::string resolved = directory_;
  size_t start = 0;
  while (start < path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string component = path.substr(start, end - start);
    start = end + 1;
    if (component.empty() || component == ".") continue;
    if (component == "..") return PathError("reach", FullPath(path), EINVAL);
    resolved = JoinPath(resolved, component);
    if (start >= path.size() && !whole) break;
    const Result<FileStat> stat = base_.StatNoFollow(resolved);
    if (!stat.ok() && start >= path.size()) break;  // the call itself says what is wrong
    if (!stat.ok()) return stat.error();
    if (stat->kind == FileKind::kSymlink) return PathError("reach", FullPath(path), ELOOP);
  }
  return resolved;
}

Result<std::unique_ptr<File>> BeneathView::Open(const std::string& path,
                                                const OpenOptions& options) {
  OpenOptions stricter = options;
  stricter.follow_symlink = false;
  return On(path, [&](const std::string& at) { return base_.Open(at, stricter); });
}

Result<std::unique_ptr<File>> BeneathView::OpenDescriptor(int descriptor) {
  return base_.OpenDescriptor(descriptor);
}

Result<std::unique_ptr<File>> BeneathView::CreateUnnamed(const std::string& directory,
                                                         uint32_t mode) {
  return On(directory, [&](const std::string& at) { return base_.CreateUnnamed(at, mode); }, true);
}

Status BeneathView::LinkUnnamed(File& file, const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.LinkUnnamed(file, at); });
}

Result<FileStat> BeneathView::StatNoFollow(const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.StatNoFollow(at); });
}

Status BeneathView::Rename(const std::string& from, const std::string& to) {
  COFFER_ASSIGN_OR_RETURN(const std::string source, Resolve(from));
  return On(to, [&](const std::string& at) { return base_.Rename(source, at); });
}

Status BeneathView::RenameNoReplace(const std::string& from, const std::string& to) {
  COFFER_ASSIGN_OR_RETURN(const std::string source, Resolve(from));
  return On(to, [&](const std::string& at) { return base_.RenameNoReplace(source, at); });
}

Status BeneathView::Link(const std::string& existing, const std::string& name) {
  COFFER_ASSIGN_OR_RETURN(const std::string source, Resolve(existing));
  return On(name, [&](const std::string& at) { return base_.Link(source, at); });
}

Status BeneathView::Unlink(const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.Unlink(at); });
}

Status BeneathView::MakeDirectory(const std::string& path, uint32_t mode) {
  return On(path, [&](const std::string& at) { return base_.MakeDirectory(at, mode); });
}

Status BeneathView::RemoveDirectory(const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.RemoveDirectory(at); });
}

Result<std::vector<DirectoryEntry>> BeneathView::ReadDirectory(const std::string& path,
                                                               size_t limit) {
  return On(path, [&](const std::string& at) { return base_.ReadDirectory(at, limit); }, true);
}

Status BeneathView::SyncDirectory(const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.SyncDirectory(at); }, true);
}

Status BeneathView::MakeFifo(const std::string& path, uint32_t mode) {
  return On(path, [&](const std::string& at) { return base_.MakeFifo(at, mode); });
}

Status BeneathView::MakeSymlink(const std::string& target, const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.MakeSymlink(target, at); });
}

Result<std::string> BeneathView::ReadLink(const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.ReadLink(at); });
}

Status BeneathView::SetOwnerNoFollow(const std::string& path, uint32_t user, uint32_t group) {
  return On(path, [&](const std::string& at) { return base_.SetOwnerNoFollow(at, user, group); });
}

Status BeneathView::SetTimesNoFollow(const std::string& path, FileTime access_time,
                                     FileTime modify_time) {
  return On(path, [&](const std::string& at) {
    return base_.SetTimesNoFollow(at, access_time, modify_time);
  });
}

Result<std::unique_ptr<FileSystem>> BeneathView::Beneath(const std::string& directory) {
  return On(directory, [&](const std::string& at) { return base_.Beneath(at); }, true);
}

std::string BeneathView::FullPath(const std::string& path) const {
  return path == "." ? directory_ : JoinPath(directory_, path);
}

Result<bool> BeneathView::IsOnProcessFileSystem(const std::string& path) {
  return On(path, [&](const std::string& at) { return base_.IsOnProcessFileSystem(at); });
}

}  // namespace coffer::os
