// SPDX-License-Identifier: Apache-2.0
// The system's files.
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <charconv>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"
#include "coffer/os/file_system.h"
#include "coffer/os/internal/descriptor.h"
#include "coffer/os/internal/long_path.h"
#include "coffer/os/internal/real_file.h"

namespace coffer::os {
namespace {

using internal::BeneathRoot;
using internal::Descriptor;
using internal::LastComponent;
using internal::LongPath;
using internal::RealFile;
using internal::Retry;

// A path that leads to the open file, for linkat(2) after open(2), "O_TMPFILE".
std::string ProcessPath(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

int OpenFlags(const OpenOptions& options) {
  int flags = O_CLOEXEC | O_NOCTTY;
  switch (options.access) {
    case Access::kRead:
      flags |= O_RDONLY;
      break;
    case Access::kWrite:
      flags |= O_WRONLY;
      break;
    case Access::kReadWrite:
      flags |= O_RDWR;
      break;
  }
  switch (options.creation) {
    case Creation::kMustExist:
      break;
    case Creation::kMayExist:
      flags |= O_CREAT;
      break;
    case Creation::kMustBeNew:
      flags |= O_CREAT | O_EXCL;
      break;
  }
  if (options.truncate) flags |= O_TRUNC;
  if (!options.follow_symlink) flags |= O_NOFOLLOW;
  if (!options.wait_for_peer) flags |= O_NONBLOCK;
  return flags;
}

FileKind KindOfEntry(const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return FileKind::kRegular;
    case DT_DIR:
      return FileKind::kDirectory;
    case DT_LNK:
      return FileKind::kSymlink;
    case DT_FIFO:
      return FileKind::kFifo;
    case DT_CHR:
      return FileKind::kCharacterDevice;
    case DT_BLK:
      return FileKind::kBlockDevice;
    case DT_SOCK:
      return FileKind::kSocket;
    default:
      return FileKind::kUnknown;
  }
}

class DirectoryStream {
 public:
  explicit DirectoryStream(Descriptor directory) : stream_(fdopendir(directory.get())) {
    if (stream_ != nullptr) (void)directory.Release();  // the stream's now
  }
  DirectoryStream(const DirectoryStream&) = delete;
  DirectoryStream& operator=(const DirectoryStream&) = delete;
  ~DirectoryStream() {
    if (stream_ != nullptr) (void)closedir(stream_);
  }
  [[nodiscard]] DIR* get() const { return stream_; }

 private:
  DIR* stream_;
};

class SystemFiles final : public FileSystem {
 public:
  SystemFiles() = default;
  explicit SystemFiles(std::unique_ptr<BeneathRoot> root) : root_(std::move(root)) {}

  Result<std::unique_ptr<File>> Open(const std::string& path, const OpenOptions& options) override {
    const char* verb = options.creation == Creation::kMustExist ? "open" : "create";
    Descriptor opened;
    COFFER_TRY(OnPath(verb, path, [&](int directory, const char* name) {
      opened =
          Descriptor(openat(directory, name, OpenFlags(options) | BeneathFlags(), options.mode));
      return opened.get();
    }));
    return std::unique_ptr<File>(std::make_unique<RealFile>(std::move(opened), FullPath(path)));
  }

  Result<std::unique_ptr<File>> OpenDescriptor(int descriptor) override {
    const std::string path = "/dev/fd/" + std::to_string(descriptor);
    Descriptor second(Retry([&] { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }));
    if (!second.valid()) return PathError("open", path, errno);
    return std::unique_ptr<File>(std::make_unique<RealFile>(std::move(second), path));
  }

  Result<std::unique_ptr<File>> CreateUnnamed(const std::string& directory,
                                              uint32_t mode) override {
    constexpr const char* kVerb = "create a file in";
    Descriptor opened;
    const Status status = OnDirectory(kVerb, directory, [&](int at, const char* name) {
      opened = Descriptor(openat(at, name, O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
      return opened.get();
    });
    if (!status.ok()) {
      // What kernels and file systems without O_TMPFILE say.
      const int error = status.error().system_errno();
      const bool unsupported = error == EISDIR || error == EINVAL || error == ENOSYS;
      return unsupported ? PathError(kVerb, FullPath(directory), ENOTSUP) : status.error();
    }
    // Without /proc there would be no way to give the name.
    if (access(ProcessPath(opened.get()).c_str(), F_OK) != 0) {
      return PathError(kVerb, FullPath(directory), ENOTSUP);
    }
    std::string shown = FullPath(JoinPath(directory, "(unnamed)"));
    return std::unique_ptr<File>(std::make_unique<RealFile>(std::move(opened), std::move(shown)));
  }

  Status LinkUnnamed(File& file, const std::string& path) override {
    const auto* real = dynamic_cast<RealFile*>(&file);
    COFFER_CHECK(real != nullptr);
    const std::string from = ProcessPath(real->descriptor());
    return OnPath("create", path, [&](int directory, const char* name) {
      return linkat(AT_FDCWD, from.c_str(), directory, name, AT_SYMLINK_FOLLOW);
    });
  }

  Result<FileStat> Stat(const std::string& path) override {
    return StatWith(path, root_ != nullptr ? AT_SYMLINK_NOFOLLOW : 0);
  }
  Result<FileStat> StatNoFollow(const std::string& path) override {
    return StatWith(path, AT_SYMLINK_NOFOLLOW);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    ForgetDirectories();
    return OnPaths("rename", from, to, [](const LongPath& a, const LongPath& b) {
      return renameat(a.directory(), a.name(), b.directory(), b.name());
    });
  }

  Status RenameNoReplace(const std::string& from, const std::string& to) override {
    ForgetDirectories();
    Status status = OnPaths("rename", from, to, [](const LongPath& a, const LongPath& b) {
      return renameat2(a.directory(), a.name(), b.directory(), b.name(), RENAME_NOREPLACE);
    });
    if (status.ok()) return status;
    const int error = status.error().system_errno();
    if (error != EINVAL && error != ENOSYS) return status;
    // A file system without the flag: a second name fails if it is taken, too.
    COFFER_TRY(Link(from, to));
    return Unlink(from);
  }

  Status Link(const std::string& existing, const std::string& name) override {
    return OnPaths("link", existing, name, [](const LongPath& a, const LongPath& b) {
      return linkat(a.directory(), a.name(), b.directory(), b.name(), 0);
    });
  }

  Status Unlink(const std::string& path) override {
    return OnPath("remove", path,
                  [](int directory, const char* name) { return unlinkat(directory, name, 0); });
  }

  Status MakeDirectory(const std::string& path, uint32_t mode) override {
    return OnPath("create directory", path,
                  [&](int directory, const char* name) { return mkdirat(directory, name, mode); });
  }

  Status RemoveDirectory(const std::string& path) override {
    ForgetDirectories();
    return OnPath("remove directory", path, [](int directory, const char* name) {
      return unlinkat(directory, name, AT_REMOVEDIR);
    });
  }

  Result<std::vector<DirectoryEntry>> ReadDirectory(const std::string& path,
                                                    size_t limit) override {
    constexpr const char* kVerb = "read directory";
    Descriptor opened;
    COFFER_TRY(OnDirectory(kVerb, path, [&](int at, const char* name) {
      opened = Descriptor(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      return opened.get();
    }));
    const DirectoryStream stream(std::move(opened));
    if (stream.get() == nullptr) return PathError(kVerb, FullPath(path), errno);
    std::vector<DirectoryEntry> entries;
    while (entries.size() < limit) {
      errno = 0;
      const dirent* entry = readdir(stream.get());
      if (entry == nullptr && errno != 0) return PathError(kVerb, FullPath(path), errno);
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      entries.push_back({std::string(name), KindOfEntry(*entry)});
    }
    return entries;
  }

  Status SyncDirectory(const std::string& path) override {
    Descriptor opened;
    COFFER_TRY(OnDirectory("open directory", path, [&](int at, const char* name) {
      opened = Descriptor(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      return opened.get();
    }));
    if (Retry([&] { return fsync(opened.get()); }) != 0) {
      return PathError("sync directory", FullPath(path), errno);
    }
    const int error = opened.Close();
    if (error != 0) return PathError("close directory", FullPath(path), error);
    return OkStatus();
  }

  Status MakeFifo(const std::string& path, uint32_t mode) override {
    return OnPath("create FIFO", path,
                  [&](int directory, const char* name) { return mkfifoat(directory, name, mode); });
  }

  Status MakeSymlink(const std::string& target, const std::string& path) override {
    return OnPath("create symbolic link", path, [&](int directory, const char* name) {
      return symlinkat(target.c_str(), directory, name);
    });
  }

  Result<std::string> ReadLink(const std::string& path) override {
    std::string target(256, '\0');
    for (;;) {
      ssize_t size = 0;
      COFFER_TRY(OnPath("read symbolic link", path, [&](int directory, const char* name) {
        size = readlinkat(directory, name, target.data(), target.size());
        return size < 0 ? -1 : 0;
      }));
      // A target that fills the buffer may have been cut.
      const auto length = static_cast<size_t>(size);
      if (length < target.size()) {
        target.resize(length);
        return target;
      }
      target.resize(target.size() * 2);
    }
  }

  Status SetOwnerNoFollow(const std::string& path, uint32_t user, uint32_t group) override {
    return OnPath("set the owner of", path, [&](int directory, const char* name) {
      return fchownat(directory, name, user, group, AT_SYMLINK_NOFOLLOW);
    });
  }

  Status SetTimesNoFollow(const std::string& path, FileTime access_time,
                          FileTime modify_time) override {
    const timespec times[2] = {internal::ToTimespec(access_time),
                               internal::ToTimespec(modify_time)};
    return OnPath("set the times of", path, [&](int directory, const char* name) {
      return utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
    });
  }

  Result<std::unique_ptr<FileSystem>> Beneath(const std::string& directory) override {
    Descriptor opened;
    COFFER_TRY(OnDirectory("open directory", directory, [&](int at, const char* name) {
      opened = Descriptor(openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
      return opened.get();
    }));
    auto root = std::make_unique<BeneathRoot>(std::move(opened), FullPath(directory));
    return std::unique_ptr<FileSystem>(std::make_unique<SystemFiles>(std::move(root)));
  }

  [[nodiscard]] std::string FullPath(const std::string& path) const override {
    if (root_ == nullptr) return path;
    return path == "." ? root_->path() : JoinPath(root_->path(), path);
  }

  Result<bool> IsOnProcessFileSystem(const std::string& path) override {
    Descriptor opened;
    COFFER_TRY(OnPath("open", path, [&](int directory, const char* name) {
      opened = Descriptor(openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
      return opened.get();
    }));
    struct statfs buffer;
    if (Retry([&] { return fstatfs(opened.get(), &buffer); }) != 0) {
      return PathError("stat", FullPath(path), errno);
    }
    return buffer.f_type == PROC_SUPER_MAGIC;
  }

  uint32_t Umask() override {
    if (const std::optional<uint32_t> shown = UmaskFromProc()) return *shown;
    // Without /proc it can only be read by setting it. A file that another thread creates in
    // between gets too few permissions, never too many.
    const mode_t mask = umask(077);
    umask(mask);
    return mask;
  }

 private:
  // Runs `call(directory, name)`, an *at system call, on `path`.
  template <class Call>
  Status On(const char* verb, const std::string& path, LastComponent last, Call call) {
    const LongPath at(root_.get(), path, last);
    if (at.error() != 0) return PathError(verb, FullPath(path), at.error());
    if (Retry([&] { return call(at.directory(), at.name()); }) == -1) {
      return PathError(verb, FullPath(path), errno);
    }
    return OkStatus();
  }
  template <class Call>
  Status OnPath(const char* verb, const std::string& path, Call call) {
    return On(verb, path, LastComponent::kIsName, call);
  }
  template <class Call>
  Status OnDirectory(const char* verb, const std::string& path, Call call) {
    return On(verb, path, LastComponent::kIsDirectory, call);
  }

  // The same for a call on two paths.
  template <class Call>
  Status OnPaths(const char* verb, const std::string& from, const std::string& to, Call call) {
    const LongPath a(root_.get(), from, LastComponent::kIsName);
    const LongPath b(root_.get(), to, LastComponent::kIsName);
    int error = a.error() != 0 ? a.error() : b.error();
    if (error == 0 && Retry([&] { return call(a, b); }) == -1) error = errno;
    if (error == 0) return OkStatus();
    return SystemError(
        "cannot " + std::string(verb) + " " + Quote(FullPath(from)) + " to " + Quote(FullPath(to)),
        error);
  }

  [[nodiscard]] int BeneathFlags() const { return root_ != nullptr ? O_NOFOLLOW : 0; }
  void ForgetDirectories() {
    if (root_ != nullptr) root_->Forget();
  }

  Result<FileStat> StatWith(const std::string& path, int flags) {
    struct stat buffer;
    COFFER_TRY(OnPath("stat", path, [&](int directory, const char* name) {
      return fstatat(directory, name, &buffer, flags);
    }));
    return internal::ToFileStat(buffer);
  }

  // proc(5): /proc/self/status holds a line "Umask:\t0022".
  static std::optional<uint32_t> UmaskFromProc() {
    const Descriptor status(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
    char buffer[1024];
    if (!status.valid()) return std::nullopt;
    const ssize_t size = Retry([&] { return read(status.get(), buffer, sizeof(buffer)); });
    if (size <= 0) return std::nullopt;
    const std::string_view text(buffer, static_cast<size_t>(size));
    constexpr std::string_view kLabel = "\nUmask:\t";
    const size_t label = text.find(kLabel);
    if (label == std::string_view::npos) return std::nullopt;
    uint32_t mask = 0;
    const char* first = buffer + label + kLabel.size();
    const auto parsed = std::from_chars(first, buffer + size, mask, 8);
    if (parsed.ec != std::errc() || parsed.ptr == buffer + size) return std::nullopt;
    return mask;
  }

  std::unique_ptr<BeneathRoot> root_;  // of a view
};

}  // namespace

FileSystem& RealFileSystem() {
  static SystemFiles files;
  return files;
}

}  // namespace coffer::os
