// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/file_system.h"

#include <errno.h>

namespace coffer::os {

bool IsUnsupportedSync(const Error& error) {
  return error.system_errno() == EINVAL || error.system_errno() == ENOTSUP;
}

bool SameFile(const FileStat& a, const FileStat& b) {
  const bool destructible = a.kind == FileKind::kRegular || a.kind == FileKind::kBlockDevice;
  return destructible && SameObject(a, b);
}

Result<bool> SameFile(FileSystem& file_system, const std::string& a, const std::string& b) {
  const Result<FileStat> stat_a = file_system.Stat(a);
  const Result<FileStat> stat_b = file_system.Stat(b);
  for (const Result<FileStat>* stat : {&stat_a, &stat_b}) {
    if (stat->ok()) continue;
    if (stat->error().code() == ErrorCode::kNotFound) return false;
    return stat->error();
  }
  return SameFile(*stat_a, *stat_b);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string BaseNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string JoinPath(const std::string& directory, const std::string& name) {
  if (directory.empty() || directory.back() == '/') return directory + name;
  return directory + '/' + name;
}

}  // namespace coffer::os
