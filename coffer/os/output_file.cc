// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/output_file.h"

#include <errno.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"
#include "coffer/os/internal/descriptor.h"
#include "coffer/os/internal/output_target.h"
#include "coffer/os/temporary_file.h"

namespace coffer::os {

namespace internal {

class OutputBackend {
 public:
  virtual ~OutputBackend() = default;  // removes what was not committed
  virtual Status Write(ByteSpan bytes) = 0;
  virtual Status Commit() = 0;
};

}  // namespace internal

using internal::OutputBackend;
using internal::OutputTarget;
using internal::Route;

namespace {

// Dirty pages are handed to the disk in steps of this size where a sync is to come, so that it does
// not find all of a large file still to be written.
constexpr uint64_t kWritebackStep = 16 << 20;

// Whether a directory refused a change: then overwriting in place is what is left.
bool IsDirectoryRefusal(const Error& error) {
  const int code = error.system_errno();
  return code == EACCES || code == EPERM || code == EROFS || code == EBUSY;
}

// Gives `to` what a replaced file had. Its owner if the system lets us, then its attributes, and
// its mode last: a change of owner takes mode bits away, and an ACL sets the group's.
Status CopyMetadata(File& from, File& to) {
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, from.Stat());
  bool keeps_group = to.SetOwner(stat.user, stat.group).ok();
  if (!keeps_group) keeps_group = to.SetOwner(std::nullopt, stat.group).ok();
  // set-user-ID and set-group-ID end with a file's content, as for a write(2).
  uint32_t mode = stat.mode & 01777;
  // Another group must not get what was granted to the old one, by its mode bits or by an ACL.
  if (!keeps_group) mode = (mode & ~070u) | ((mode & 07u) << 3);
  COFFER_ASSIGN_OR_RETURN(const std::vector<std::string> names, from.ListAttributes());
  for (const std::string& name : names) {
    const bool is_acl = name.starts_with("system.posix_acl_");
    if (is_acl && !keeps_group) continue;
    // The others are the system's own: labels, capabilities and signatures of the old content.
    if (!is_acl && !name.starts_with("user.")) continue;
    COFFER_ASSIGN_OR_RETURN(const Bytes value, from.GetAttribute(name));
    COFFER_TRY(to.SetAttribute(name, value));
  }
  return to.SetMode(mode);
}

// Whether a file system has no modes; then a file has the one it gives to all.
bool IsWithoutModes(const Error& error) {
  const int code = error.system_errno();
  return code == ENOTSUP || code == ENOSYS || code == EPERM;
}

// A file that gets its name when it is complete.
class HiddenOutput final : public OutputBackend {
 public:
  static Result<std::unique_ptr<OutputBackend>> Create(FileSystem& file_system, OutputTarget target,
                                                       const OutputOptions& options) {
    const std::string directory = DirectoryOf(target.path);
    SweepTemporaries(file_system, directory);
    const bool is_private = target.route == Route::kReplace || options.kind == OutputKind::kKeyFile;
    auto temporary = TemporaryFile::Create(file_system, directory, is_private ? 0600 : 0666);
    if (!temporary.ok()) {
      const Error& error = temporary.error();
      const std::string reason = ErrorText(error.system_errno());
      if (target.route != Route::kReplace)
        return PathError("create", target.path, error.system_errno());
      if (IsDirectoryRefusal(error)) {
        return internal::RefuseToReplace(target.path, "its directory cannot be written: " + reason);
      }
      return error;
    }
    return std::unique_ptr<OutputBackend>(std::make_unique<HiddenOutput>(
        file_system, std::move(target), options, std::move(temporary).value()));
  }

  HiddenOutput(FileSystem& file_system, OutputTarget target, const OutputOptions& options,
               std::unique_ptr<TemporaryFile> temporary)
      : file_system_(file_system),
        target_(std::move(target)),
        options_(options),
        temporary_(std::move(temporary)) {}

  Status Write(ByteSpan bytes) override {
    COFFER_TRY(Named(temporary_->file().Write(bytes)));
    written_ += bytes.size();
    if (MustSync() && written_ - writeback_start_ >= kWritebackStep) {
      temporary_->file().StartWriteback(writeback_start_, written_ - writeback_start_);
      writeback_start_ = written_;
    }
    return OkStatus();
  }

  Status Commit() override {
    File& file = temporary_->file();
    COFFER_TRY(Named(SetMetadata()));
    // Before the name: the name must not survive a crash that the content does not.
    if (MustSync()) COFFER_TRY(Named(file.Sync()));
    // A network file system may report only now that there was no space.
    if (temporary_->has_name()) COFFER_TRY(Named(file.Flush()));
    COFFER_TRY(GiveName());
    if (options_.sync) COFFER_TRY(SyncName());
    return Named(file.Close());
  }

 private:
  [[nodiscard]] bool MustSync() const { return options_.sync || target_.route == Route::kReplace; }

  // Errors of the temporary are errors of the output.
  [[nodiscard]] Status Named(Status status) const {
    if (status.ok()) return status;
    return PathError("write", target_.path, status.error().system_errno());
  }

  Status SetMetadata() {
    File& file = temporary_->file();
    if (target_.route == Route::kReplace) return CopyMetadata(*target_.file, file);
    if (!temporary_->has_name() || options_.kind == OutputKind::kKeyFile) return OkStatus();
    Status status = file.SetMode(0666 & ~file_system_.Umask());
    return !status.ok() && IsWithoutModes(status.error()) ? OkStatus() : status;
  }

  Status GiveName() {
    if (target_.route == Route::kNew) {
      Status status = temporary_->NameNew(target_.path);
      if (status.ok()) return status;
      const bool is_taken = status.error().code() == ErrorCode::kAlreadyExists;
      if (!is_taken || options_.kind != OutputKind::kReplaceable) {
        return PathError("create", target_.path, status.error().system_errno());
      }
      // Another process was faster, and the last one wins. Its file must not be lost to a crash.
      if (!options_.sync) COFFER_TRY(Named(temporary_->file().Sync()));
    }
    Status status = temporary_->Replace(target_.path);
    if (status.ok()) return status;
    if (!IsDirectoryRefusal(status.error())) return Named(status);
    return internal::RefuseToReplace(target_.path, ErrorText(status.error().system_errno()));
  }

  Status SyncName() {
    Status status = file_system_.SyncDirectory(DirectoryOf(target_.path));
    if (status.ok() || IsUnsupportedSync(status.error())) return OkStatus();
    return std::move(status).error().WithContext(Quote(target_.path) +
                                                 " is written, but may not survive a crash");
  }

  FileSystem& file_system_;
  OutputTarget target_;
  OutputOptions options_;
  std::unique_ptr<TemporaryFile> temporary_;
  uint64_t written_ = 0;
  uint64_t writeback_start_ = 0;
};

// What is open already: written straight through, or overwritten in place.
class DirectOutput final : public OutputBackend {
 public:
  DirectOutput(OutputTarget target, const OutputOptions& options)
      : target_(std::move(target)),
        must_cut_(target_.route == Route::kInPlace),
        must_sync_(options.sync && target_.stat.kind == FileKind::kRegular) {}

  Status Write(ByteSpan bytes) override {
    COFFER_TRY(CutOnce());
    return Named(target_.file->Write(bytes));
  }

  Status Commit() override {
    COFFER_TRY(CutOnce());
    if (must_sync_) COFFER_TRY(Named(target_.file->Sync()));
    return Named(target_.file->Close());
  }

 private:
  // The old content goes with the first byte written, and not before.
  Status CutOnce() {
    if (!std::exchange(must_cut_, false)) return OkStatus();
    return Named(target_.file->Truncate(0));
  }

  [[nodiscard]] Status Named(Status status) const {
    if (status.ok()) return status;
    if (target_.path.empty()) {
      return SystemError("cannot write to standard output", status.error().system_errno());
    }
    return PathError("write", target_.path, status.error().system_errno());
  }

  OutputTarget target_;
  bool must_cut_;
  bool must_sync_;
};

class StandardStream final : public ByteSink {
 public:
  StandardStream(int descriptor, const char* name) : descriptor_(descriptor), name_(name) {}

  Status Write(ByteSpan bytes) override {
    const int error = internal::WriteAll(descriptor_, bytes);
    if (error != 0) return SystemError(std::string("cannot write to ") + name_, error);
    return OkStatus();
  }

 private:
  int descriptor_;
  const char* name_;
};

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path,
                                                       const OutputOptions& options,
                                                       FileSystem& file_system) {
  std::unique_ptr<OutputBackend> backend;
  OutputTarget target;
  if (path.empty() || path == "-") {
    target.route = Route::kThrough;
    Result<std::unique_ptr<File>> opened = file_system.OpenDescriptor(STDOUT_FILENO);
    if (!opened.ok()) {
      return SystemError("cannot write to standard output", opened.error().system_errno());
    }
    target.file = std::move(opened).value();
    COFFER_ASSIGN_OR_RETURN(target.stat, target.file->Stat());
  } else {
    COFFER_ASSIGN_OR_RETURN(target, internal::FindOutputTarget(file_system, path, options));
  }
  if (target.route == Route::kNew || target.route == Route::kReplace) {
    COFFER_ASSIGN_OR_RETURN(backend, HiddenOutput::Create(file_system, std::move(target), options));
  } else {
    backend = std::make_unique<DirectOutput>(std::move(target), options);
  }
  return std::unique_ptr<OutputFile>(new OutputFile(std::move(backend)));
}

OutputFile::OutputFile(std::unique_ptr<OutputBackend> backend) : backend_(std::move(backend)) {}

OutputFile::~OutputFile() = default;

Status OutputFile::Write(ByteSpan bytes) {
  COFFER_CHECK(backend_ != nullptr);
  Status status = backend_->Write(bytes);
  if (!status.ok()) Discard();
  return status;
}

Status OutputFile::Commit() {
  COFFER_CHECK(backend_ != nullptr);
  Status status = backend_->Commit();
  backend_.reset();
  return status;
}

void OutputFile::Discard() { backend_.reset(); }

ByteSink& StandardOutput() {
  static StandardStream stream(STDOUT_FILENO, "standard output");
  return stream;
}

ByteSink& StandardError() {
  static StandardStream stream(STDERR_FILENO, "standard error");
  return stream;
}

}  // namespace coffer::os
