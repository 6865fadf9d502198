// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/internal/local_upload.h"

#include <errno.h>

#include <array>

#include "coffer/base/hex.h"
#include "coffer/os/error.h"
#include "coffer/os/random.h"
#include "coffer/store/internal/names.h"

namespace coffer::store::internal {
namespace {

using os::File;
using os::FileStat;
using os::FileSystem;
using os::SignalGuard;

constexpr std::string_view kPrefix = "upload-";
constexpr size_t kHexSize = 16;
// Names are random; several tries in a row that meet another file are no accident.
constexpr int kTryLimit = 16;
// Dirty pages go to the disk in steps of this size, so that the sync does not find all of an object
// still to be written.
constexpr uint64_t kWritebackStep = 8 << 20;

bool IsUploadName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view hex = name.substr(kPrefix.size());
  return hex.size() == kHexSize && hex.find_first_not_of("0123456789abcdef") == hex.npos;
}

std::string NewPath(const std::string& directory) {
  std::array<uint8_t, kHexSize / 2> bytes;
  os::SystemRandom().Fill(bytes);
  return os::JoinPath(directory, std::string(kPrefix) + hex::Encode(bytes));
}

// What file systems say that cannot reserve space.
bool IsUnsupportedReservation(const Error& error) {
  return error.system_errno() == ENOTSUP || error.system_errno() == ENOSYS;
}

// Whether a file system has no modes; then a file has the one it gives to all.
bool IsWithoutModes(const Error& error) {
  const int code = error.system_errno();
  return code == ENOTSUP || code == ENOSYS || code == EPERM;
}

// NFS locks exclusively only what is open for writing; an upload that was interrupted just before
// it got its name cannot be opened so.
Result<std::unique_ptr<File>> OpenForLock(FileSystem& file_system, const std::string& path) {
  os::OpenOptions options;
  options.access = os::Access::kReadWrite;
  options.follow_symlink = false;
  options.wait_for_peer = false;
  auto opened = file_system.Open(path, options);
  if (opened.ok() || opened.error().system_errno() != EACCES) return opened;
  options.access = os::Access::kRead;
  return file_system.Open(path, options);
}

// A process that has created its file and not yet locked it finds it gone (CreateFile) and makes
// another.
Status SweepOne(FileSystem& file_system, const std::string& path,
                std::optional<os::FileTime> newest) {
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_system.StatNoFollow(path));
  if (stat.kind != os::FileKind::kRegular) return OkStatus();
  if (newest && stat.modify_time > *newest) return OkStatus();
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, OpenForLock(file_system, path));
  COFFER_ASSIGN_OR_RETURN(const bool locked, file->TryLock());
  if (!locked) return OkStatus();
  // The name may have passed on between the opening and the lock.
  COFFER_ASSIGN_OR_RETURN(const FileStat opened, file->Stat());
  COFFER_ASSIGN_OR_RETURN(const FileStat named, file_system.StatNoFollow(path));
  if (!os::SameObject(opened, named)) return OkStatus();
  return file_system.Unlink(path);
}

}  // namespace

Result<std::unique_ptr<LocalUpload>> LocalUpload::Create(FileSystem& file_system,
                                                         const std::string& root,
                                                         const std::string& directory,
                                                         std::optional<uint64_t> expected_size) {
  std::unique_ptr<LocalUpload> upload(new LocalUpload(file_system, root));
  COFFER_TRY(upload->Named(upload->CreateFile(directory)));
  if (expected_size) COFFER_TRY(upload->Named(upload->Reserve(*expected_size)));
  return upload;
}

LocalUpload::~LocalUpload() {
  if (path_.empty()) return;
  SignalGuard guard;
  (void)file_system_.Unlink(path_);
  guard.Unregister(slot_);
}

Status LocalUpload::CreateFile(const std::string& directory) {
  os::OpenOptions options;
  options.access = os::Access::kReadWrite;
  options.creation = os::Creation::kMustBeNew;
  options.mode = 0600;
  for (int attempt = 0; attempt < kTryLimit; ++attempt) {
    const std::string path = NewPath(directory);
    {
      SignalGuard guard;
      Result<std::unique_ptr<File>> created = file_system_.Open(path, options);
      if (!created.ok() && created.error().code() == ErrorCode::kAlreadyExists) continue;
      if (!created.ok()) return std::move(created).error();
      file_ = std::move(created).value();
      path_ = path;
      slot_ = guard.Register(path);
    }
    // Where there are no locks, no other process sweeps either.
    const Result<bool> locked = file_->TryLock();
    COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_->Stat());
    if ((!locked.ok() || *locked) && stat.link_count > 0) return OkStatus();
    // Another process took it for a leftover between its creation and the lock.
    SignalGuard guard;
    (void)file_system_.Unlink(path);
    guard.Unregister(slot_);
    path_.clear();
  }
  return os::PathError("create a file in", directory, EEXIST);
}

Status LocalUpload::Reserve(uint64_t expected_size) {
  if (expected_size == 0) return OkStatus();
  Status reserved = file_->Allocate(0, expected_size);
  if (reserved.ok()) {
    reserved_size_ = expected_size;
    return reserved;
  }
  return IsUnsupportedReservation(reserved.error()) ? OkStatus() : std::move(reserved);
}

Status LocalUpload::Write(ByteSpan bytes) {
  COFFER_CHECK(key_.empty());
  COFFER_TRY(Named(file_->Write(bytes)));
  size_ += bytes.size();
  if (size_ - writeback_start_ >= kWritebackStep) StartWriteback();
  return OkStatus();
}

Status LocalUpload::Finish(std::string_view key) {
  COFFER_CHECK(key_.empty());
  if (!IsValidKey(key)) return InvalidKey(key);
  if (size_ < reserved_size_) COFFER_TRY(Named(file_->Truncate(size_)));
  if (size_ > writeback_start_) StartWriteback();
  key_ = key;
  return OkStatus();
}

void LocalUpload::StartWriteback() {
  file_->StartWriteback(writeback_start_, size_ - writeback_start_);
  writeback_start_ = size_;
}

Status LocalUpload::Seal(uint32_t mode) {
  Status status = file_->SetMode(mode);
  if (!status.ok() && !IsWithoutModes(status.error())) return Named(std::move(status));
  return Named(file_->Sync());
}

Status LocalUpload::MoveTo(const std::string& path) {
  SignalGuard guard;
  const Status moved = file_system_.RenameNoReplace(path_, path);
  if (!moved.ok()) {
    // A network file system may have done it, asked again, and been refused by its own work.
    if (!IsAt(path)) return StepError("publish", path, moved.error().system_errno());
    (void)file_system_.Unlink(path_);
  }
  guard.Unregister(slot_);
  path_.clear();
  return OkStatus();
}

bool LocalUpload::IsAt(const std::string& path) const {
  const Result<FileStat> own = file_->Stat();
  const Result<FileStat> there = file_system_.StatNoFollow(path);
  return own.ok() && there.ok() && os::SameObject(*own, *there);
}

Status LocalUpload::Named(Status status) const {
  if (status.ok()) return status;
  return StepError("store an object in", root_, status.error().system_errno());
}

Status SweepUploads(FileSystem& file_system, const std::string& directory,
                    std::optional<os::FileTime> newest) {
  const auto entries = file_system.ReadDirectory(directory, FileSystem::kNoLimit);
  if (!entries.ok()) return entries.error();
  Status first;
  for (const os::DirectoryEntry& entry : *entries) {
    if (!IsUploadName(entry.name)) continue;
    Status swept = SweepOne(file_system, os::JoinPath(directory, entry.name), newest);
    // Somebody else was faster.
    if (!swept.ok() && swept.error().code() == ErrorCode::kNotFound) continue;
    if (first.ok()) first = std::move(swept);
  }
  return first;
}

}  // namespace coffer::store::internal
