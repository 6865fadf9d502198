// SPDX-License-Identifier: Apache-2.0
// Files and directories as this project uses them: one narrow door, with the real system behind it
// or a double (coffer/os/testing/).
//
// Names are raw bytes without NUL, of any length: paths beyond PATH_MAX are walked. A path that is
// not absolute starts at the working directory. Interrupted calls are taken up again. Errors carry
// system_errno() and name the path, quoted; a missing name is kNotFound, one that is taken
// kAlreadyExists, a pipe without a reader kClosedPipe, all else kIo.
//
// A FileSystem may be used by several threads at once; a File by one, but for ReadAt and WriteAt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/os/file_time.h"

namespace coffer::os {

enum class FileKind : uint8_t {
  kRegular,
  kDirectory,
  kSymlink,
  kFifo,
  kCharacterDevice,
  kBlockDevice,
  kSocket,
  kUnknown,
};

struct FileStat {
  uint64_t device = 0;
  uint64_t inode = 0;
  FileKind kind = FileKind::kUnknown;
  uint32_t mode = 0;  // the twelve permission bits, 07777
  uint32_t user = 0;
  uint32_t group = 0;
  uint64_t link_count = 0;
  uint64_t size = 0;
  uint64_t stored_size = 0;   // what it takes on the disk
  uint64_t device_major = 0;  // of what a device file stands for
  uint64_t device_minor = 0;
  FileTime access_time;
  FileTime modify_time;
  FileTime change_time;
};

// Whether two stats are of one object, whatever names led to it.
inline bool SameObject(const FileStat& a, const FileStat& b) {
  return a.device == b.device && a.inode == b.inode;
}

enum class Access : uint8_t { kRead, kWrite, kReadWrite };
enum class Creation : uint8_t { kMustExist, kMayExist, kMustBeNew };

struct OpenOptions {
  Access access = Access::kRead;
  Creation creation = Creation::kMustExist;
  uint32_t mode = 0666;  // of a file that is created, less the umask
  bool truncate = false;
  bool follow_symlink = true;  // else a symbolic link at the end of the path is ELOOP
  bool wait_for_peer = true;   // else opening a FIFO does not wait for its other end
};

// An open file. The destructor closes without looking at the result.
class File : public ByteSource, public ByteSink {
 public:
  // Reads and writes at the file's position.
  Result<size_t> Read(MutableByteSpan out) override = 0;
  Status Write(ByteSpan bytes) override = 0;

  // Fills `out` from `offset`; fewer bytes only where the file ends. The position stays.
  virtual Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) = 0;
  virtual Status WriteAt(uint64_t offset, ByteSpan bytes) = 0;

  // The position; an error for pipes and the like.
  virtual Result<uint64_t> Position() = 0;

  virtual Result<FileStat> Stat() = 0;

  // Where data begins at or after `offset`; nothing if only a hole, or nothing at all, follows.
  // And where a hole begins at or after it, the end of the file being one; nothing beyond the end.
  // Where the file system keeps no holes all is data. The position may change.
  virtual Result<std::optional<uint64_t>> NextData(uint64_t offset) = 0;
  virtual Result<std::optional<uint64_t>> NextHole(uint64_t offset) = 0;

  virtual Status Truncate(uint64_t size) = 0;
  // Reserves space, so that writes there do not run out of it, and extends the size if need be.
  // ENOTSUP where the file system cannot.
  virtual Status Allocate(uint64_t offset, uint64_t size) = 0;

  // fsync: data and attributes of a file, or the entries of a directory, are on stable storage when
  // this succeeds. After a failure what was written may be lost even if a second call succeeds:
  // the file is to be given up.
  virtual Status Sync() = 0;
  // Hands the data to the server of a network file system and reports what close would report.
  virtual Status Flush() = 0;
  // Hints, without a result worth looking at: starts to write dirty pages; the whole file will be
  // read once from front to back.
  virtual void StartWriteback(uint64_t offset, uint64_t size) = 0;
  virtual void AdviseSequential() = 0;

  virtual Status SetMode(uint32_t mode) = 0;
  virtual Status SetOwner(std::optional<uint32_t> user, std::optional<uint32_t> group) = 0;
  virtual Status SetTimes(FileTime access_time, FileTime modify_time) = 0;

  // Extended attributes; ACLs are among them, as system.posix_acl_*. Where there is no support the
  // list is empty and setting one is ENOTSUP.
  virtual Result<std::vector<std::string>> ListAttributes() = 0;
  virtual Result<Bytes> GetAttribute(const std::string& name) = 0;
  virtual Status SetAttribute(const std::string& name, ByteSpan value) = 0;

  // Takes an exclusive advisory lock on the open file, which ends when it is closed or its process
  // dies; false if another open file holds one.
  virtual Result<bool> TryLock() = 0;
  // The same, and waits while another open file holds one. A signal whose handler returns does not
  // end the wait.
  virtual Status Lock() = 0;

  // Closes. The file is closed whatever the result is; called at most once, and nothing after it.
  virtual Status Close() = 0;

  // The path it was opened with, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

struct DirectoryEntry {
  std::string name;
  FileKind kind = FileKind::kUnknown;  // kUnknown where the file system does not say
};

class FileSystem {
 public:
  static constexpr size_t kNoLimit = SIZE_MAX;

  virtual ~FileSystem() = default;

  // Opens a file, or a directory with Access::kRead (for Stat, Sync and the attributes).
  virtual Result<std::unique_ptr<File>> Open(const std::string& path,
                                             const OpenOptions& options) = 0;
  // A second handle of a descriptor this process was given, e.g. 1 for standard output.
  virtual Result<std::unique_ptr<File>> OpenDescriptor(int descriptor) = 0;
  // Creates a file without a name in the file system of `directory`, to be named by LinkUnnamed or
  // to vanish (O_TMPFILE). ENOTSUP where the file system cannot, or could not name it.
  virtual Result<std::unique_ptr<File>> CreateUnnamed(const std::string& directory,
                                                      uint32_t mode) = 0;
  // Names a file of CreateUnnamed; kAlreadyExists if the name is taken, without a race.
  virtual Status LinkUnnamed(File& file, const std::string& path) = 0;

  virtual Result<FileStat> Stat(const std::string& path) = 0;  // follows symbolic links
  virtual Result<FileStat> StatNoFollow(const std::string& path) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // kAlreadyExists if `to` is taken, without a race.
  virtual Status RenameNoReplace(const std::string& from, const std::string& to) = 0;
  virtual Status Link(const std::string& existing, const std::string& name) = 0;
  virtual Status Unlink(const std::string& path) = 0;

  virtual Status MakeDirectory(const std::string& path, uint32_t mode) = 0;
  virtual Status RemoveDirectory(const std::string& path) = 0;
  // In no order, without "." and "..". At most `limit` entries (kNoLimit: all); which ones is open.
  virtual Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path,
                                                            size_t limit) = 0;
  // fsync of a directory. Some file systems cannot: see IsUnsupportedSync.
  virtual Status SyncDirectory(const std::string& path) = 0;

  virtual Status MakeFifo(const std::string& path, uint32_t mode) = 0;
  virtual Status MakeSymlink(const std::string& target, const std::string& path) = 0;
  virtual Result<std::string> ReadLink(const std::string& path) = 0;

  // On the name itself, never on what a symbolic link points to.
  virtual Status SetOwnerNoFollow(const std::string& path, uint32_t user, uint32_t group) = 0;
  virtual Status SetTimesNoFollow(const std::string& path, FileTime access_time,
                                  FileTime modify_time) = 0;

  // The same files, for names below `directory` that nobody can lead out of it: paths are relative,
  // ".." is refused (EINVAL), and no symbolic link is followed anywhere in them, the last component
  // included, whoever plants one and when. The view stays with the directory it was opened on,
  // whatever its name then leads to, and is not outlived by this file system. "." is the directory.
  virtual Result<std::unique_ptr<FileSystem>> Beneath(const std::string& directory) = 0;
  // What the whole process calls `path`: for messages and signal handlers.
  [[nodiscard]] virtual std::string FullPath(const std::string& path) const { return path; }

  // Whether the name itself lies in a file system of the kernel's view of processes, where links
  // lead to open files and not to the paths they show (/proc).
  virtual Result<bool> IsOnProcessFileSystem(const std::string& path) = 0;
  // The permission bits that are taken from files this process creates.
  virtual uint32_t Umask() = 0;
};

// The system's files.
FileSystem& RealFileSystem();

// Whether a failed SyncDirectory says that this file system has no such thing (EINVAL, ENOTSUP):
// tolerable for a directory, never for a file.
bool IsUnsupportedSync(const Error& error);

// Whether two paths, all links followed, lead to one file whose content one of them could destroy
// while the other is read: a regular file or a block device. Devices such as /dev/null and
// terminals are never the same in this sense, nor is a name that does not exist.
Result<bool> SameFile(FileSystem& file_system, const std::string& a, const std::string& b);
bool SameFile(const FileStat& a, const FileStat& b);

// The part of a path before its last component ("." if there is none), and that component.
// Slashes at the end are not dropped: the last component of "a/" is empty.
std::string DirectoryOf(const std::string& path);
std::string BaseNameOf(const std::string& path);
// Puts a name below a directory.
std::string JoinPath(const std::string& directory, const std::string& name);

}  // namespace coffer::os
