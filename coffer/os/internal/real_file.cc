// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/internal/real_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <algorithm>

#include "coffer/base/checked.h"
#include "coffer/os/error.h"

namespace coffer::os::internal {
namespace {

// The kernel's bounds for the names of a file's attributes and for one value
// (XATTR_LIST_MAX, XATTR_SIZE_MAX of linux/limits.h).
constexpr size_t kAttributeBound = 65536;

FileTime ToFileTime(const timespec& time) { return MakeFileTime(time.tv_sec, time.tv_nsec); }

FileKind KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return FileKind::kRegular;
    case S_IFDIR:
      return FileKind::kDirectory;
    case S_IFLNK:
      return FileKind::kSymlink;
    case S_IFIFO:
      return FileKind::kFifo;
    case S_IFCHR:
      return FileKind::kCharacterDevice;
    case S_IFBLK:
      return FileKind::kBlockDevice;
    case S_IFSOCK:
      return FileKind::kSocket;
    default:
      return FileKind::kUnknown;
  }
}

}  // namespace

FileStat ToFileStat(const struct stat& from) {
  FileStat to;
  to.device = from.st_dev;
  to.inode = from.st_ino;
  to.kind = KindOf(from.st_mode);
  to.mode = from.st_mode & 07777;
  to.user = from.st_uid;
  to.group = from.st_gid;
  to.link_count = from.st_nlink;
  to.size = CheckedCast<uint64_t>(from.st_size).value_or(0);
  to.stored_size = CheckedCast<uint64_t>(from.st_blocks).value_or(0) * 512;
  if (to.kind == FileKind::kCharacterDevice || to.kind == FileKind::kBlockDevice) {
    to.device_major = major(from.st_rdev);
    to.device_minor = minor(from.st_rdev);
  }
  to.access_time = ToFileTime(from.st_atim);
  to.modify_time = ToFileTime(from.st_mtim);
  to.change_time = ToFileTime(from.st_ctim);
  return to;
}

timespec ToTimespec(FileTime time) {
  // Beyond a second the kernel has words of its own (UTIME_NOW, UTIME_OMIT).
  const FileTime normal = MakeFileTime(time.seconds, time.nanoseconds);
  return {normal.seconds, normal.nanoseconds};
}

Status RealFile::Check(const char* verb, int result) const {
  if (result == 0) return OkStatus();
  return PathError(verb, path_, errno);
}

Result<size_t> RealFile::Read(MutableByteSpan out) {
  const ssize_t count = ReadSome(descriptor_.get(), out);
  if (count < 0) return PathError("read", path_, errno);
  return static_cast<size_t>(count);
}

Status RealFile::Write(ByteSpan bytes) {
  const int error = WriteAll(descriptor_.get(), bytes);
  if (error != 0) return PathError("write", path_, error);
  return OkStatus();
}

Result<size_t> RealFile::ReadAt(uint64_t offset, MutableByteSpan out) {
  size_t done = 0;
  while (done < out.size()) {
    const std::optional<uint64_t> sum = CheckedAdd<uint64_t>(offset, done);
    const std::optional<off_t> position = sum ? ToOffset(*sum) : std::nullopt;
    if (!position) break;  // no file reaches so far
    const MutableByteSpan rest = out.subspan(done);
    const ssize_t count =
        Retry([&] { return pread(descriptor_.get(), rest.data(), rest.size(), *position); });
    if (count < 0) return PathError("read", path_, errno);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

Status RealFile::WriteAt(uint64_t offset, ByteSpan bytes) {
  while (!bytes.empty()) {
    const std::optional<off_t> position = ToOffset(offset);
    if (!position) return PathError("write", path_, EFBIG);
    const ssize_t count =
        Retry([&] { return pwrite(descriptor_.get(), bytes.data(), bytes.size(), *position); });
    if (count < 0) return PathError("write", path_, errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return OkStatus();
}

Result<uint64_t> RealFile::Position() {
  const off_t position = lseek(descriptor_.get(), 0, SEEK_CUR);
  if (position < 0) return PathError("find the position in", path_, errno);
  return static_cast<uint64_t>(position);
}

Result<FileStat> RealFile::Stat() {
  struct stat buffer;
  COFFER_TRY(Check("stat", fstat(descriptor_.get(), &buffer)));
  return ToFileStat(buffer);
}

Result<std::optional<uint64_t>> RealFile::Seek(uint64_t offset, int whence) {
  const std::optional<off_t> start = ToOffset(offset);
  if (!start) return std::optional<uint64_t>();  // no file reaches so far
  const off_t found = lseek(descriptor_.get(), *start, whence);
  if (found >= 0) return std::optional(static_cast<uint64_t>(found));
  if (errno == ENXIO) return std::optional<uint64_t>();
  return PathError("look for holes in", path_, errno);
}

Result<std::optional<uint64_t>> RealFile::NextData(uint64_t offset) {
  return Seek(offset, SEEK_DATA);
}

Result<std::optional<uint64_t>> RealFile::NextHole(uint64_t offset) {
  return Seek(offset, SEEK_HOLE);
}

Status RealFile::Truncate(uint64_t size) {
  const std::optional<off_t> wanted = ToOffset(size);
  if (!wanted) return PathError("set the size of", path_, EFBIG);
  return Check("set the size of", Retry([&] { return ftruncate(descriptor_.get(), *wanted); }));
}

Status RealFile::Allocate(uint64_t offset, uint64_t size) {
  const std::optional<off_t> start = ToOffset(offset);
  const std::optional<off_t> length = ToOffset(size);
  if (!start || !length) return PathError("allocate space for", path_, EFBIG);
  return Check("allocate space for",
               Retry([&] { return fallocate(descriptor_.get(), 0, *start, *length); }));
}

Status RealFile::Sync() {
  // A signal before the first byte was written back is the one failure that loses nothing.
  return Check("sync", Retry([&] { return fsync(descriptor_.get()); }));
}

Status RealFile::Flush() {
  // Closing any descriptor of an open file flushes it; the lock stays with the other one.
  Descriptor second(Retry([&] { return fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0); }));
  if (!second.valid()) return PathError("write", path_, errno);
  const int error = second.Close();
  if (error != 0) return PathError("write", path_, error);
  return OkStatus();
}

void RealFile::StartWriteback(uint64_t offset, uint64_t size) {
  const std::optional<off_t> start = ToOffset(offset);
  const std::optional<off_t> length = ToOffset(size);
  if (!start || !length) return;
  (void)sync_file_range(descriptor_.get(), *start, *length, SYNC_FILE_RANGE_WRITE);
}

void RealFile::AdviseSequential() {
  (void)posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

Status RealFile::SetMode(uint32_t mode) {
  return Check("set the mode of", Retry([&] { return fchmod(descriptor_.get(), mode); }));
}

Status RealFile::SetOwner(std::optional<uint32_t> user, std::optional<uint32_t> group) {
  constexpr auto kKeep = static_cast<uint32_t>(-1);
  return Check("set the owner of", Retry([&] {
                 return fchown(descriptor_.get(), user.value_or(kKeep), group.value_or(kKeep));
               }));
}

Status RealFile::SetTimes(FileTime access_time, FileTime modify_time) {
  const timespec times[2] = {ToTimespec(access_time), ToTimespec(modify_time)};
  return Check("set the times of", Retry([&] { return futimens(descriptor_.get(), times); }));
}

Result<std::vector<std::string>> RealFile::ListAttributes() {
  std::vector<std::string> names;
  std::string buffer(kAttributeBound, '\0');
  const ssize_t size = flistxattr(descriptor_.get(), buffer.data(), buffer.size());
  if (size < 0 && errno == ENOTSUP) return names;
  if (size < 0) return PathError("list the attributes of", path_, errno);
  // The names come one after another, each ended by a NUL.
  std::string_view rest(buffer.data(), static_cast<size_t>(size));
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\0'), rest.size() - 1);
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return names;
}

Result<Bytes> RealFile::GetAttribute(const std::string& name) {
  Bytes value(kAttributeBound);
  const ssize_t size = fgetxattr(descriptor_.get(), name.c_str(), value.data(), value.size());
  if (size < 0) return PathError("get an attribute of", path_, errno);
  value.resize(static_cast<size_t>(size));
  return value;
}

Status RealFile::SetAttribute(const std::string& name, ByteSpan value) {
  return Check("set an attribute of",
               fsetxattr(descriptor_.get(), name.c_str(), value.data(), value.size(), 0));
}

Result<bool> RealFile::TryLock() {
  if (Retry([&] { return flock(descriptor_.get(), LOCK_EX | LOCK_NB); }) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return PathError("lock", path_, errno);
}

Status RealFile::Lock() {
  return Check("lock", Retry([&] { return flock(descriptor_.get(), LOCK_EX); }));
}

Status RealFile::Close() {
  const int error = descriptor_.Close();
  if (error != 0) return PathError("close", path_, error);
  return OkStatus();
}

}  // namespace coffer::os::internal
