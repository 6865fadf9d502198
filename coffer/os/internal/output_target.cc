// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/internal/output_target.h"

#include <errno.h>

#include <charconv>
#include <optional>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"

namespace coffer::os::internal {
namespace {

// As in the kernel (path_resolution(7)).
constexpr int kSymlinkLimit = 40;

Error IsADirectory(const std::string& path) {
  Error error(ErrorCode::kInvalidArgument, "cannot write " + Quote(path) + ": it is a directory");
  error.set_system_errno(EISDIR);
  return error;
}

// The number of this process's descriptor that `link` in /proc stands for, if it does: then the
// open file is to be shared, as for a redirected standard output, and not opened anew.
std::optional<int> OwnDescriptor(FileSystem& file_system, const std::string& link) {
  const std::string name = BaseNameOf(link);
  int descriptor = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), descriptor);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  const Result<FileStat> directory = file_system.Stat(DirectoryOf(link));
  const Result<FileStat> own = file_system.Stat("/proc/self/fd");
  if (!directory.ok() || !own.ok() || !SameObject(*directory, *own)) return std::nullopt;
  return descriptor;
}

Result<OutputTarget> OpenDescriptorLink(FileSystem& file_system, const std::string& link) {
  OutputTarget target;
  target.path = link;
  target.route = Route::kThrough;
  if (const std::optional<int> descriptor = OwnDescriptor(file_system, link)) {
    COFFER_ASSIGN_OR_RETURN(target.file, file_system.OpenDescriptor(*descriptor));
    COFFER_ASSIGN_OR_RETURN(target.stat, target.file->Stat());
    return target;
  }
  OpenOptions options;
  options.access = Access::kWrite;
  COFFER_ASSIGN_OR_RETURN(target.file, file_system.Open(link, options));
  COFFER_ASSIGN_OR_RETURN(target.stat, target.file->Stat());
  if (target.stat.kind == FileKind::kRegular) target.route = Route::kInPlace;
  return target;
}

Result<OutputTarget> OpenExisting(FileSystem& file_system, const std::string& path,
                                  const OutputOptions& options) {
  OutputTarget target;
  target.path = path;
  OpenOptions open_options;
  open_options.access = Access::kWrite;
  // The kernel's guard of files and FIFOs in sticky directories looks at opens with O_CREAT.
  open_options.creation = Creation::kMayExist;
  open_options.follow_symlink = false;
  Result<std::unique_ptr<File>> opened = file_system.Open(path, open_options);
  if (!opened.ok()) return PathError("write", path, opened.error().system_errno());
  target.file = std::move(opened).value();
  COFFER_ASSIGN_OR_RETURN(target.stat, target.file->Stat());
  if (target.stat.kind != FileKind::kRegular) {
    target.route = Route::kThrough;
    return target;
  }
  target.route = options.in_place ? Route::kInPlace : Route::kReplace;
  if (target.route == Route::kReplace && target.stat.link_count > 1) {
    return RefuseToReplace(
        path, "it has " + std::to_string(target.stat.link_count) + " names (hard links)");
  }
  return target;
}

}  // namespace

Error RefuseToReplace(const std::string& path, const std::string& reason) {
  return Error(ErrorCode::kInvalidArgument, "cannot replace " + Quote(path) + ": " + reason +
                                                "; --in-place-output overwrites it where it is");
}

Result<OutputTarget> FindOutputTarget(FileSystem& file_system, const std::string& path,
                                      const OutputOptions& options) {
  std::string current = path;
  for (int link_count = 0;; ++link_count) {
    if (BaseNameOf(current).empty()) return IsADirectory(path);
    const Result<FileStat> stat = file_system.StatNoFollow(current);
    if (!stat.ok() && stat.error().code() != ErrorCode::kNotFound) return stat.error();
    if (!stat.ok()) {
      OutputTarget target;
      target.path = std::move(current);
      return target;
    }
    if (options.kind != OutputKind::kReplaceable) return PathError("create", path, EEXIST);
    if (stat->kind == FileKind::kDirectory) return IsADirectory(path);
    if (stat->kind != FileKind::kSymlink) return OpenExisting(file_system, current, options);
    if (link_count == 0) {
      // The kernel's own walk of the links, which refuses loops and what it protects.
      const Result<FileStat> followed = file_system.Stat(path);
      if (!followed.ok() && followed.error().code() != ErrorCode::kNotFound) {
        return followed.error();
      }
    }
    if (link_count == kSymlinkLimit) return PathError("write", path, ELOOP);
    COFFER_ASSIGN_OR_RETURN(const bool leads_to_open_file,
                            file_system.IsOnProcessFileSystem(current));
    if (leads_to_open_file) return OpenDescriptorLink(file_system, current);
    Result<std::string> link = file_system.ReadLink(current);
    if (!link.ok()) return std::move(link).error();
    current = link->starts_with('/') ? *link : JoinPath(DirectoryOf(current), *link);
  }
}

}  // namespace coffer::os::internal
