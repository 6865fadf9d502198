// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/temporary_file.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "coffer/base/hex.h"
#include "coffer/os/error.h"
#include "coffer/os/random.h"

namespace coffer::os {
namespace {

constexpr std::string_view kPrefix = ".coffer-tmp-";
constexpr size_t kHexSize = 16;
constexpr size_t kSweepLimit = 2048;
// Names are random; several tries in a row that meet another file are no accident.
constexpr int kTryLimit = 16;

bool IsTemporaryName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view hex = name.substr(kPrefix.size());
  return hex.size() == kHexSize &&
         hex.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// What file systems say that have no links, or no rename that refuses a taken name.
bool IsUnsupportedNaming(const Error& error) {
  const int code = error.system_errno();
  return code == ENOTSUP || code == ENOSYS || code == EINVAL || code == EPERM;
}

// Removes one temporary, if nobody holds it. A process that has created its file and not yet locked
// it finds it gone (CreateNamed) and makes another.
void SweepOne(FileSystem& file_system, const std::string& path) {
  OpenOptions options;
  options.access = Access::kReadWrite;  // NFS locks exclusively only what is open for writing
  options.follow_symlink = false;
  options.wait_for_peer = false;
  const Result<FileStat> stat = file_system.StatNoFollow(path);
  if (!stat.ok() || stat->kind != FileKind::kRegular) return;
  const Result<std::unique_ptr<File>> file = file_system.Open(path, options);
  if (!file.ok()) return;
  const Result<bool> locked = (*file)->TryLock();
  if (!locked.ok() || !*locked) return;
  // The name may have passed on between the opening and the lock.
  const Result<FileStat> opened = (*file)->Stat();
  const Result<FileStat> named = file_system.StatNoFollow(path);
  if (opened.ok() && named.ok() && SameObject(*opened, *named)) (void)file_system.Unlink(path);
}

}  // namespace

void SweepTemporaries(FileSystem& file_system, const std::string& directory) {
  const auto entries = file_system.ReadDirectory(directory, kSweepLimit);
  if (!entries.ok()) return;
  for (const DirectoryEntry& entry : *entries) {
    if (IsTemporaryName(entry.name)) SweepOne(file_system, JoinPath(directory, entry.name));
  }
}

Result<std::unique_ptr<TemporaryFile>> TemporaryFile::Create(FileSystem& file_system,
                                                             const std::string& directory,
                                                             uint32_t mode) {
  std::unique_ptr<TemporaryFile> temporary(new TemporaryFile(file_system, directory));
  Result<std::unique_ptr<File>> unnamed = file_system.CreateUnnamed(directory, mode);
  if (unnamed.ok()) {
    temporary->file_ = std::move(unnamed).value();
    return temporary;
  }
  if (unnamed.error().system_errno() != ENOTSUP) return std::move(unnamed).error();
  COFFER_TRY(temporary->CreateNamed());
  return temporary;
}

TemporaryFile::~TemporaryFile() {
  if (name_.empty()) return;
  SignalGuard guard;
  (void)file_system_.Unlink(name_);
  guard.Unregister(slot_);
}

Status TemporaryFile::CreateNamed() {
  OpenOptions options;
  options.access = Access::kReadWrite;
  options.creation = Creation::kMustBeNew;
  options.mode = 0600;
  for (int attempt = 0; attempt < kTryLimit; ++attempt) {
    const std::string path = NewName();
    {
      SignalGuard guard;
      Result<std::unique_ptr<File>> created = file_system_.Open(path, options);
      if (!created.ok() && created.error().code() == ErrorCode::kAlreadyExists) continue;
      if (!created.ok()) return std::move(created).error();
      file_ = std::move(created).value();
      name_ = path;
      slot_ = guard.Register(file_system_.FullPath(path));
    }
    // Where there are no locks, no other process sweeps either.
    const Result<bool> locked = file_->TryLock();
    COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_->Stat());
    if ((!locked.ok() || *locked) && stat.link_count > 0) return OkStatus();
    // Another process took it for a leftover between its creation and the lock.
    SignalGuard guard;
    (void)file_system_.Unlink(path);
    guard.Unregister(slot_);
    name_.clear();
  }
  return PathError("create a temporary file in", directory_, EEXIST);
}

std::string TemporaryFile::NewName() const {
  std::array<uint8_t, kHexSize / 2> bytes;
  SystemRandom().Fill(bytes);
  return JoinPath(directory_, std::string(kPrefix) + hex::Encode(bytes));
}

Status TemporaryFile::NameNew(const std::string& path) {
  SignalGuard guard;
  if (name_.empty()) return file_system_.LinkUnnamed(*file_, path);
  Status named = file_system_.RenameNoReplace(name_, path);
  if (!named.ok() && IsUnsupportedNaming(named.error())) named = ClaimAndReplace(path);
  COFFER_TRY(named);
  guard.Unregister(slot_);
  name_.clear();
  return OkStatus();
}

// For file systems with neither links nor a rename that refuses: the name is taken with an empty
// file, which only one process can create, and that is replaced.
Status TemporaryFile::ClaimAndReplace(const std::string& path) {
  OpenOptions options;
  options.access = Access::kWrite;
  options.creation = Creation::kMustBeNew;
  options.mode = 0600;
  COFFER_TRY(file_system_.Open(path, options));
  Status renamed = file_system_.Rename(name_, path);
  if (!renamed.ok()) (void)file_system_.Unlink(path);
  return renamed;
}

Status TemporaryFile::Replace(const std::string& path) {
  SignalGuard guard;
  if (name_.empty()) COFFER_TRY(LinkTemporaryName(guard));
  COFFER_TRY(file_system_.Rename(name_, path));
  guard.Unregister(slot_);
  name_.clear();
  return OkStatus();
}

// linkat(2) does not replace, and rename(2) needs a name.
Status TemporaryFile::LinkTemporaryName(SignalGuard& guard) {
  (void)file_->TryLock();
  for (int attempt = 0; attempt < kTryLimit; ++attempt) {
    const std::string path = NewName();
    Status linked = file_system_.LinkUnnamed(*file_, path);
    if (!linked.ok() && linked.error().code() == ErrorCode::kAlreadyExists) continue;
    if (!linked.ok()) return linked;
    name_ = path;
    slot_ = guard.Register(file_system_.FullPath(path));
    return OkStatus();
  }
  return PathError("create a temporary file in", directory_, EEXIST);
}

}  // namespace coffer::os
