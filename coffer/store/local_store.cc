// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/local_store.h"

#include <errno.h>

#include <algorithm>

#include "coffer/base/parallel.h"
#include "coffer/base/quote.h"
#include "coffer/os/error.h"
#include "coffer/store/internal/local_upload.h"
#include "coffer/store/internal/names.h"

namespace coffer::store {
namespace {

using internal::LocalUpload;
using os::FileKind;
using os::FileStat;
using os::FileSystem;
using os::JoinPath;

constexpr uint32_t kObjectMode = 0444;
constexpr uint32_t kDirectoryMode = 0777;

std::string WithoutSlashesAtEnd(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.empty() ? "." : path;
}

const char* WordFor(FileKind kind) {
  switch (kind) {
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kSymlink:
      return "a symbolic link";
    case FileKind::kFifo:
      return "a FIFO";
    default:
      return "no regular file";
  }
}

Error NotAnObject(const std::string& path, FileKind kind) {
  return {ErrorCode::kIo, Quote(path) + " is " + WordFor(kind) + ", where an object should be"};
}

Error NotADirectory(const std::string& path) {
  Error error(ErrorCode::kIo, Quote(path) + " is not a directory, which the store needs there");
  return error.set_system_errno(ENOTDIR);
}

ObjectInfo InfoOf(std::string key, EntryKind kind, const FileStat& stat) {
  return {std::move(key), kind, kind == EntryKind::kObject ? stat.size : 0, stat.modify_time};
}

// What can be told of a directory that this process need not be able to read.
bool IsOutOfReach(const Error& error) {
  const int code = error.system_errno();
  return code == EACCES || code == EPERM || code == EROFS;
}

class LocalObject final : public StoredObject {
 public:
  LocalObject(std::unique_ptr<os::File> file, uint64_t size)
      : file_(std::move(file)), size_(size) {}

  [[nodiscard]] uint64_t size() const override { return size_; }

  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override {
    if (offset >= size_) return size_t{0};
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(out.size(), size_ - offset));
    COFFER_ASSIGN_OR_RETURN(const size_t count, file_->ReadAt(offset, out.first(wanted)));
    if (count == wanted) return count;
    return Error(ErrorCode::kIo, Quote(file_->path()) + " was cut short while it was read");
  }

 private:
  std::unique_ptr<os::File> file_;
  uint64_t size_;
};

}  // namespace

LocalStore::LocalStore(FileSystem& file_system, std::string root, os::Clock& clock)
    : file_system_(file_system), root_(WithoutSlashesAtEnd(std::move(root))), clock_(clock) {}

std::string LocalStore::PathOf(std::string_view key) const {
  return JoinPath(root_, std::string(key));
}

std::string LocalStore::TemporaryDirectory() const { return PathOf(kReservedComponent); }

Status LocalStore::CheckTrust() const {
  if (!in_doubt_) return OkStatus();
  return Error(ErrorCode::kIo,
               Quote(root_) + " could not be synced: it takes no changes before it is opened anew");
}

void LocalStore::Warn(std::string sentence) {
  const std::lock_guard lock(warnings_mutex_);
  warnings_.insert(std::move(sentence));
}

std::vector<std::string> LocalStore::Warnings() const {
  const std::lock_guard lock(warnings_mutex_);
  return {warnings_.begin(), warnings_.end()};
}

// ---- Directories ----

Status LocalStore::Prepare(std::span<const std::string> prefixes) {
  Directories directories = {TemporaryDirectory()};
  for (const std::string& prefix : prefixes) {
    if (!internal::IsValidPrefix(prefix)) return internal::InvalidPrefix(prefix);
    for (std::string_view rest = prefix; !rest.empty(); rest = internal::PrefixOf(rest)) {
      directories.insert(PathOf(rest));
    }
  }
  const std::lock_guard lock(turn_);
  COFFER_TRY(CheckTrust());
  COFFER_TRY(PrepareRoot());
  // Parents of what was there already are synced as well: whoever made it may have been stopped
  // before the sync.
  Directories parents;
  for (const std::string& path : directories) {  // in this order parents come first
    COFFER_TRY(EnsureDirectory(path));
    parents.insert(os::DirectoryOf(path));
  }
  return SyncDirectories(parents);
}

// Makes the root and its ancestors, from the top, each one durable before the next: so that of what
// an interrupted call left only the lowest can be in doubt, and that is what is synced first.
Status LocalStore::PrepareRoot() {
  std::vector<std::string> missing;
  std::string path = root_;
  for (;;) {
    const Result<FileStat> stat = file_system_.Stat(path);
    if (stat.ok() && stat->kind == FileKind::kDirectory) break;
    if (stat.ok()) return NotADirectory(path);
    if (stat.error().code() != ErrorCode::kNotFound) return stat.error();
    missing.push_back(path);
    path = os::DirectoryOf(path);
  }
  Status synced = file_system_.SyncDirectory(JoinPath(path, ".."));
  if (!synced.ok() && !IsOutOfReach(synced.error()) && !os::IsUnsupportedSync(synced.error())) {
    return synced;
  }
  for (; !missing.empty(); missing.pop_back()) {
    Status made = file_system_.MakeDirectory(missing.back(), kDirectoryMode);
    if (!made.ok() && made.error().code() != ErrorCode::kAlreadyExists) return made;
    COFFER_TRY(SyncOne(os::DirectoryOf(missing.back())));
  }
  return OkStatus();
}

Status LocalStore::EnsureDirectory(const std::string& path) {
  Status made = file_system_.MakeDirectory(path, kDirectoryMode);
  if (made.ok()) return made;
  if (made.error().code() != ErrorCode::kAlreadyExists) {
    return internal::StepError("create directory", path, made.error().system_errno());
  }
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_system_.StatNoFollow(path));
  if (stat.kind != FileKind::kDirectory) return NotADirectory(path);
  return OkStatus();
}

Status LocalStore::SyncDirectories(const Directories& directories) {
  const std::vector<std::string> paths(directories.begin(), directories.end());
  return RunInParallel(paths.size(), [&](size_t i) { return SyncOne(paths[i]); });
}

Status LocalStore::SyncOne(const std::string& path) {
  Status status = file_system_.SyncDirectory(path);
  if (status.ok()) return status;
  if (!os::IsUnsupportedSync(status.error())) {
    // A second sync may succeed without what the first one lost, so there is none.
    in_doubt_ = true;
    return status;
  }
  Warn("the file system of " + Quote(root_) +
       " cannot sync directories: if the power fails, what was stored last may be lost");
  return OkStatus();
}

// ---- Objects that come and go ----

Result<std::unique_ptr<Upload>> LocalStore::Begin(std::optional<uint64_t> expected_size) {
  COFFER_ASSIGN_OR_RETURN(
      std::unique_ptr<LocalUpload> upload,
      LocalUpload::Create(file_system_, root_, TemporaryDirectory(), expected_size));
  return std::unique_ptr<Upload>(std::move(upload));
}

Status LocalStore::Publish(std::vector<std::unique_ptr<Upload>> uploads) {
  std::vector<LocalUpload*> own;
  for (const auto& upload : uploads) {
    own.push_back(dynamic_cast<LocalUpload*>(upload.get()));
    COFFER_CHECK(own.back() != nullptr && !upload->key().empty());
  }
  const std::lock_guard lock(turn_);
  COFFER_TRY(CheckTrust());
  const uint32_t mode = kObjectMode & ~file_system_.Umask();
  // All content before the first name: a name must not survive a crash that the content does not,
  // and a disk that is full is met before anything can be seen.
  COFFER_TRY(RunInParallel(own.size(), [&](size_t i) { return own[i]->Seal(mode); }));
  Directories changed;
  for (LocalUpload* upload : own) {
    COFFER_TRY(MoveToPlace(*upload, changed));
  }
  return SyncDirectories(changed);
}

Status LocalStore::MoveToPlace(LocalUpload& upload, Directories& changed) {
  const std::string path = PathOf(upload.key());
  Status moved = upload.MoveTo(path);
  if (!moved.ok() && moved.error().system_errno() == ENOENT) {
    // Many a copy of a store lacks the directories in which there was nothing.
    COFFER_TRY(MakeDirectoryAnew(os::DirectoryOf(path), changed));
    moved = upload.MoveTo(path);
  }
  COFFER_TRY(std::move(moved));
  changed.insert(os::DirectoryOf(path));
  return OkStatus();
}

// Makes a directory below the root, with its parents; the names of those that were made are then to
// be synced. A process that makes the same ones at the same time may not have come to that.
Status LocalStore::MakeDirectoryAnew(const std::string& path, Directories& changed) {
  Status made = EnsureDirectory(path);
  if (!made.ok() && made.error().system_errno() == ENOENT && path != root_) {
    COFFER_TRY(MakeDirectoryAnew(os::DirectoryOf(path), changed));
    made = EnsureDirectory(path);
  }
  COFFER_TRY(std::move(made));
  changed.insert(os::DirectoryOf(path));
  return OkStatus();
}

Status LocalStore::Settle(std::span<const std::string> keys) {
  Directories directories;
  for (const std::string& key : keys) {
    COFFER_TRY(Stat(key));
    directories.insert(os::DirectoryOf(PathOf(key)));
  }
  const std::lock_guard lock(turn_);
  COFFER_TRY(CheckTrust());
  return SyncDirectories(directories);
}

Status LocalStore::RemoveAll(std::span<const std::string> keys) {
  for (const std::string& key : keys) {
    if (!IsValidKey(key)) return internal::InvalidKey(key);
  }
  const std::lock_guard lock(turn_);
  COFFER_TRY(CheckTrust());
  Directories changed;
  Status missing;
  Status failure;
  for (const std::string& key : keys) {
    const std::string path = PathOf(key);
    Status removed = RemoveOne(path);
    if (removed.ok()) {
      changed.insert(os::DirectoryOf(path));
    } else if (removed.error().code() == ErrorCode::kNotFound) {
      missing = std::move(removed);
    } else {
      failure = std::move(removed);
      break;
    }
  }
  COFFER_TRY(SyncDirectories(changed));
  return failure.ok() ? missing : failure;
}

Status LocalStore::RemoveOne(const std::string& path) {
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_system_.StatNoFollow(path));
  if (stat.kind != FileKind::kRegular) return NotAnObject(path, stat.kind);
  return file_system_.Unlink(path);
}

Status LocalStore::Sweep(std::chrono::seconds age) {
  std::optional<os::FileTime> newest;
  if (age.count() > 0) {
    newest = os::MakeFileTime(-age.count(), clock_.WallNanoseconds());
  }
  return internal::SweepUploads(file_system_, TemporaryDirectory(), newest);
}

// ---- Reading ----

Result<std::unique_ptr<StoredObject>> LocalStore::Open(std::string_view key) {
  if (!IsValidKey(key)) return internal::InvalidKey(key);
  const std::string path = PathOf(key);
  os::OpenOptions options;
  options.follow_symlink = false;
  options.wait_for_peer = false;  // a FIFO at its place is looked at, not waited for
  Result<std::unique_ptr<os::File>> file = file_system_.Open(path, options);
  if (!file.ok()) {
    const Result<FileStat> stat = file_system_.StatNoFollow(path);
    if (stat.ok() && stat->kind != FileKind::kRegular) return NotAnObject(path, stat->kind);
    return std::move(file).error();
  }
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, (*file)->Stat());
  if (stat.kind != FileKind::kRegular) return NotAnObject(path, stat.kind);
  return std::unique_ptr<StoredObject>(
      std::make_unique<LocalObject>(std::move(file).value(), stat.size));
}

Result<ObjectInfo> LocalStore::Stat(std::string_view key) {
  if (!IsValidKey(key)) return internal::InvalidKey(key);
  const std::string path = PathOf(key);
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_system_.StatNoFollow(path));
  if (stat.kind != FileKind::kRegular) return NotAnObject(path, stat.kind);
  return InfoOf(std::string(key), EntryKind::kObject, stat);
}

Result<std::vector<ObjectInfo>> LocalStore::List(std::string_view prefix) {
  if (!prefix.empty() && !internal::IsValidPrefix(prefix)) return internal::InvalidPrefix(prefix);
  std::vector<ObjectInfo> found;
  COFFER_ASSIGN_OR_RETURN(const FileStat root, file_system_.Stat(root_));
  if (root.kind != FileKind::kDirectory) return NotADirectory(root_);
  // A link on the way would lead out of the store.
  for (std::string_view part = prefix; !part.empty(); part = internal::PrefixOf(part)) {
    const std::string path = PathOf(part);
    const Result<FileStat> stat = file_system_.StatNoFollow(path);
    if (!stat.ok() && stat.error().code() == ErrorCode::kNotFound) continue;
    if (!stat.ok()) return stat.error();
    if (stat->kind != FileKind::kDirectory) return NotADirectory(path);
  }
  COFFER_TRY(ListBelow(std::string(prefix), found));
  std::sort(found.begin(), found.end(),
            [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
  return found;
}

Status LocalStore::ListBelow(const std::string& prefix, std::vector<ObjectInfo>& found) {
  const std::string path = prefix.empty() ? root_ : PathOf(prefix);
  const auto entries = file_system_.ReadDirectory(path, FileSystem::kNoLimit);
  if (!entries.ok()) {
    return entries.error().code() == ErrorCode::kNotFound ? OkStatus() : entries.error();
  }
  for (const os::DirectoryEntry& entry : *entries) {
    const std::string key = prefix.empty() ? entry.name : prefix + '/' + entry.name;
    if (key != kReservedComponent) COFFER_TRY(ListEntry(key, found));
  }
  return OkStatus();
}

Status LocalStore::ListEntry(const std::string& key, std::vector<ObjectInfo>& found) {
  const Result<FileStat> stat = file_system_.StatNoFollow(PathOf(key));
  if (!stat.ok()) {
    return stat.error().code() == ErrorCode::kNotFound ? OkStatus() : stat.error();
  }
  if (stat->kind == FileKind::kRegular && IsValidKey(key)) {
    found.push_back(InfoOf(key, EntryKind::kObject, *stat));
    return OkStatus();
  }
  if (stat->kind == FileKind::kDirectory && internal::IsValidPrefix(key)) {
    found.push_back(InfoOf(key, EntryKind::kDirectory, *stat));
    return ListBelow(key, found);
  }
  found.push_back(InfoOf(key, EntryKind::kStranger, *stat));
  return OkStatus();
}

}  // namespace coffer::store
