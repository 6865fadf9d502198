// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/restore.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <thread>
#include <utility>

#include "coffer/base/hex.h"
#include "coffer/base/parallel.h"
#include "coffer/base/quote.h"
#include "coffer/local/internal/file_data_sink.h"
#include "coffer/local/scan.h"
#include "coffer/os/error.h"
#include "coffer/os/random.h"

namespace coffer::local {
namespace {

using internal::FileDataSink;
using internal::HolesFit;
using os::FileKind;
using os::FileStat;
using os::FileSystem;
using os::JoinPath;
using os::TemporaryFile;
using vault::Entry;
using vault::EntryKind;

constexpr size_t kBatchSize = 256;
constexpr uint32_t kSetIdBits = 06000;
constexpr uint32_t kWorkingMode = 0700;  // of directories while they are filled
constexpr int kTryLimit = 16;

const char* WordFor(FileKind kind) {
  switch (kind) {
    case FileKind::kRegular:
      return "a file";
    case FileKind::kDirectory:
      return "a directory";
    case FileKind::kSymlink:
      return "a symbolic link";
    default:
      return "something";
  }
}

// Whether two entries with one link number are the same file: a number may have passed on to
// another file while a scan went on.
bool IsSameFile(const Entry& a, const Entry& b) {
  return a.content_hash == b.content_hash && a.size == b.size && a.mode == b.mode &&
         a.user == b.user && a.group == b.group && a.modified == b.modified && a.inode == b.inode &&
         a.holes == b.holes && a.attributes == b.attributes;
}

std::string TemporaryName(const std::string& directory) {
  std::array<uint8_t, 8> bytes;
  os::SystemRandom().Fill(bytes);
  return JoinPath(directory, ".coffer-tmp-" + hex::Encode(bytes));
}

Status MakeWithParents(FileSystem& file_system, const std::string& directory) {
  std::vector<std::string> missing;
  std::string path = directory;
  for (;;) {
    const Result<FileStat> stat = file_system.Stat(path);
    if (stat.ok() && stat->kind == FileKind::kDirectory) break;
    if (stat.ok()) return os::PathError("restore to", path, ENOTDIR);
    if (stat.error().code() != ErrorCode::kNotFound) return stat.error();
    missing.push_back(path);
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const std::string parent = os::DirectoryOf(path);
    if (parent == path) return stat.error();
    path = parent;
  }
  for (; !missing.empty(); missing.pop_back()) {
    Status made = file_system.MakeDirectory(missing.back(), 0777);
    if (!made.ok() && made.error().code() != ErrorCode::kAlreadyExists) return made;
    std::string bare = missing.back();
    while (bare.size() > 1 && bare.back() == '/') bare.pop_back();
    const Status synced = file_system.SyncDirectory(os::DirectoryOf(bare));
    if (!synced.ok() && !os::IsUnsupportedSync(synced.error())) return synced;
  }
  return OkStatus();
}

}  // namespace

struct Restorer::Directory {
  size_t parent = 0;
  std::string component;
  bool made = false;
  bool changed = false;  // what is in it, or itself
  std::optional<Entry> entry;
};

struct Restorer::PendingFile {
  std::unique_ptr<TemporaryFile> file;
  std::string name;
  size_t directory = 0;
  std::optional<uint64_t> link_group;
  Status synced;
};

// Files that one thread puts on stable storage while the next ones are written.
struct Restorer::Batch {
  explicit Batch(std::vector<PendingFile> files_in) : files(std::move(files_in)) {}
  ~Batch() { Wait(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void Start() {
    try {
      thread = std::thread([this] { Sync(); });
    } catch (const std::system_error&) {
      Sync();  // no more threads are to be had
    }
  }
  void Wait() {
    if (thread.joinable()) thread.join();
  }
  // Each one's own result is looked at, so nothing stops the others.
  void Sync() {
    (void)RunInParallel(files.size(), [&](size_t i) {
      files[i].synced = files[i].file->file().Sync();
      return OkStatus();
    });
  }

  std::vector<PendingFile> files;
  std::thread thread;
};

struct Restorer::LinkTarget {
  Entry entry;
  std::string name;
  std::optional<FileStat> named;  // once the file has its name
};

Restorer::Restorer(std::unique_ptr<FileSystem> files, const RestoreOptions& options,
                   DataProvider provider)
    : files_(std::move(files)), options_(options), provider_(std::move(provider)) {
  directories_.emplace_back();
}

Restorer::~Restorer() = default;

Result<std::unique_ptr<Restorer>> Restorer::Create(FileSystem& file_system,
                                                   const std::string& destination,
                                                   const RestoreOptions& options,
                                                   DataProvider provider) {
  const bool made = !file_system.Stat(destination).ok();
  COFFER_TRY(MakeWithParents(file_system, destination));
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> view, file_system.Beneath(destination));
  if (!made) os::SweepTemporaries(*view, ".");
  std::unique_ptr<Restorer> restorer(new Restorer(std::move(view), options, std::move(provider)));
  restorer->directories_[0].made = made;
  return restorer;
}

void Restorer::Fail(const std::string& name, const Error& error) {
  failed_ = true;
  problems_.push_back({RestoreProblem::Kind::kFailure, files_->FullPath(name.empty() ? "." : name),
                       error.message(), error.code() == ErrorCode::kAlreadyExists});
}

void Restorer::Note(const std::string& name, const std::string& message) {
  problems_.push_back({RestoreProblem::Kind::kNote, files_->FullPath(name.empty() ? "." : name),
                       message, /*was_there=*/false});
}

void Restorer::Add(const Entry& entry, const std::string& name) {
  const Result<std::string> normal = NormalizeName(name);
  if (!normal.ok() || *normal != name) {
    Fail("", Error(ErrorCode::kDamaged, Quote(name) + " is no name in a vault"));
    return;
  }
  Status status;
  switch (entry.kind) {
    case EntryKind::kFile:
      status = AddFile(entry, name);
      break;
    case EntryKind::kDirectory:
      status = AddDirectory(entry, name);
      break;
    case EntryKind::kSymlink:
      status = AddSymlink(entry, name);
      break;
    case EntryKind::kFifo:
      status = AddFifo(entry, name);
      break;
    case EntryKind::kCharacterDevice:
    case EntryKind::kBlockDevice:
      Note(name, "is a device, and left out");
      break;
    case EntryKind::kSocket:
      Note(name, "is a socket, and left out");
      break;
  }
  if (!status.ok()) Fail(name, status.error());
}

// ---- Directories ----

std::string Restorer::NameOf(size_t directory) const {
  std::vector<const std::string*> components;
  for (; directory != 0; directory = directories_[directory].parent) {
    components.push_back(&directories_[directory].component);
  }
  std::string name;
  for (; !components.empty(); components.pop_back()) {
    if (!name.empty()) name += '/';
    name += *components.back();
  }
  return name.empty() ? "." : name;
}

// The number of a directory, which is made with its parents where it is not there.
Result<size_t> Restorer::EnsureDirectory(std::string_view name) {
  // Mostly it is the last one, or lies below it, or above.
  size_t at = 0;
  size_t start = 0;
  if (name == last_name_) return last_directory_;
  if (!last_name_.empty() && name.starts_with(last_name_) && name[last_name_.size()] == '/') {
    at = last_directory_;
    start = last_name_.size() + 1;
  } else if (!name.empty() && last_name_.starts_with(name) && last_name_[name.size()] == '/') {
    const auto levels =
        std::count(last_name_.begin() + static_cast<ptrdiff_t>(name.size()), last_name_.end(), '/');
    at = last_directory_;
    for (auto level = levels; level > 0; --level) at = directories_[at].parent;
    start = name.size();
  }
  while (start < name.size()) {
    const size_t end = std::min(name.find('/', start), name.size());
    COFFER_ASSIGN_OR_RETURN(at,
                            EnsureChild(at, name.substr(start, end - start), name.substr(0, end)));
    start = end + 1;
  }
  last_name_ = name;
  last_directory_ = at;
  return at;
}

Result<size_t> Restorer::EnsureChild(size_t parent, std::string_view component,
                                     std::string_view path) {
  const auto known = children_.find({parent, std::string(component)});
  if (known != children_.end()) return known->second;
  const std::string name(path);
  Directory directory;
  directory.parent = parent;
  directory.component = component;
  const Status made = files_->MakeDirectory(name, kWorkingMode);
  directory.made = made.ok();
  if (!made.ok()) {
    if (made.error().code() != ErrorCode::kAlreadyExists) return made.error();
    COFFER_ASSIGN_OR_RETURN(const FileStat stat, files_->StatNoFollow(name));
    if (stat.kind != FileKind::kDirectory) {
      return Error(ErrorCode::kAlreadyExists, Quote(files_->FullPath(name)) + " is " +
                                                  WordFor(stat.kind) +
                                                  ", where a directory should be");
    }
    os::SweepTemporaries(*files_, name);
  }
  directories_[parent].changed = directories_[parent].changed || directory.made;
  directory.changed = directory.made;
  directories_.push_back(std::move(directory));
  const size_t index = directories_.size() - 1;
  children_[{parent, std::string(component)}] = index;
  return index;
}

Status Restorer::AddDirectory(const Entry& entry, const std::string& name) {
  COFFER_ASSIGN_OR_RETURN(const size_t index, EnsureDirectory(name));
  Directory& directory = directories_[index];
  if (!directory.made && !options_.overwrite) return OkStatus();
  directory.entry = entry;
  directory.entry->path.clear();  // names may be long, and are known from the parents
  directory.changed = true;
  return OkStatus();
}

// Metadata, to be followed by the sync that covers it and the names within.
std::unique_ptr<os::File> Restorer::FinishDirectory(size_t index) {
  const Directory& directory = directories_[index];
  if (!directory.changed) return nullptr;
  const std::string name = NameOf(index);
  auto opened = files_->Open(name, {});
  if (!opened.ok()) {
    Fail(name, opened.error());
    return nullptr;
  }
  os::File& file = **opened;
  if (directory.entry) {
    SetMetadata(*directory.entry, name, file);
  } else if (directory.made) {
    const Status set = file.SetMode(0777 & ~files_->Umask());
    if (!set.ok()) Note(name, set.error().message());
  }
  return std::move(opened).value();
}

// The deepest first: parents have smaller numbers than what is in them.
void Restorer::FinishDirectories() {
  std::vector<std::pair<size_t, std::unique_ptr<os::File>>> batch;
  const auto flush = [&] {
    std::vector<Status> synced(batch.size());
    (void)RunInParallel(batch.size(), [&](size_t i) {
      synced[i] = batch[i].second->Sync();
      return OkStatus();
    });
    for (size_t i = 0; i < batch.size(); ++i) {
      if (synced[i].ok() || os::IsUnsupportedSync(synced[i].error())) continue;
      Fail(NameOf(batch[i].first), synced[i].error());
    }
    batch.clear();
  };
  for (size_t i = directories_.size(); i-- > 0;) {
    if (auto file = FinishDirectory(i)) batch.emplace_back(i, std::move(file));
    if (batch.size() == kBatchSize) flush();
  }
  flush();
}

// ---- Links and FIFOs ----

// Runs `make(path)` for a name that is free, or for a temporary one that then replaces `name`.
template <class Make>
Status Restorer::MakeAt(const std::string& name, Make make) {
  COFFER_ASSIGN_OR_RETURN(
      const size_t parent,
      EnsureDirectory(name.substr(0, name.rfind('/') == name.npos ? 0 : name.rfind('/'))));
  Status made = make(name);
  if (!made.ok() && made.error().code() == ErrorCode::kAlreadyExists && options_.overwrite) {
    for (int attempt = 0; attempt < kTryLimit; ++attempt) {
      const std::string temporary = TemporaryName(NameOf(parent));
      made = make(temporary);
      if (!made.ok() && made.error().code() == ErrorCode::kAlreadyExists) continue;
      if (!made.ok()) break;
      made = files_->Rename(temporary, name);
      // It is still there after a failure, and if both were names of one file (rename(2)).
      (void)files_->Unlink(temporary);
      break;
    }
  }
  COFFER_TRY(made);
  directories_[parent].changed = true;
  return OkStatus();
}

Status Restorer::AddSymlink(const Entry& entry, const std::string& name) {
  if (entry.link_target.find('\0') != std::string::npos) {
    return Error(ErrorCode::kDamaged, "a symbolic link cannot lead to a name with NUL");
  }
  COFFER_TRY(MakeAt(
      name, [&](const std::string& path) { return files_->MakeSymlink(entry.link_target, path); }));
  if (options_.set_owner) {
    const Status owned = files_->SetOwnerNoFollow(name, entry.user, entry.group);
    if (!owned.ok()) Note(name, owned.error().message());
  }
  const Status timed =
      files_->SetTimesNoFollow(name, entry.accessed.value_or(entry.modified), entry.modified);
  if (!timed.ok()) Note(name, timed.error().message());
  return OkStatus();
}

Status Restorer::AddFifo(const Entry& entry, const std::string& name) {
  COFFER_TRY(MakeAt(name, [&](const std::string& path) { return files_->MakeFifo(path, 0600); }));
  os::OpenOptions options;
  options.wait_for_peer = false;
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::File> file, files_->Open(name, options));
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file->Stat());
  if (stat.kind != FileKind::kFifo) {
    return Error(ErrorCode::kIo, "the FIFO was replaced at once");
  }
  SetMetadata(entry, name, *file);
  return OkStatus();
}

// ---- Metadata ----

void Restorer::SetAttributes(const Entry& entry, const std::string& name, os::File& file) {
  for (const vault::Attribute& attribute : entry.attributes) {
    if (attribute.name.find('\0') != std::string::npos) continue;  // no name of this system
    const Status set = file.SetAttribute(attribute.name, attribute.value);
    if (set.ok()) continue;
    // Such as a label that the system gives by itself.
    const Result<Bytes> there = file.GetAttribute(attribute.name);
    if (there.ok() && *there == attribute.value) continue;
    Note(name, "its attribute " + Quote(attribute.name) + " is left out: " + set.error().message());
  }
}

// The order matters: a change of owner takes away set-id bits and capabilities, and attributes need
// the right to write, which the mode may not give.
void Restorer::SetMetadata(const Entry& entry, const std::string& name, os::File& file) {
  const Result<FileStat> stat = file.Stat();
  bool is_owner = stat.ok() && stat->user == entry.user && stat->group == entry.group;
  if (!is_owner && options_.set_owner) {
    const Status owned = file.SetOwner(entry.user, entry.group);
    is_owner = owned.ok();
    if (!owned.ok()) Note(name, owned.error().message());
  }
  SetAttributes(entry, name, file);
  uint32_t mode = entry.mode & 07777;
  if (!is_owner && (mode & kSetIdBits) != 0) {
    mode &= ~kSetIdBits;
    Note(name, "its set-user-id and set-group-id bits are left out, since its owner is another");
  }
  const Status moded = file.SetMode(mode);
  if (!moded.ok()) Note(name, moded.error().message());
  const Status timed = file.SetTimes(entry.accessed.value_or(entry.modified), entry.modified);
  if (!timed.ok()) Note(name, timed.error().message());
}

// ---- Files ----

Status Restorer::AddFile(const Entry& entry, const std::string& name) {
  if (name.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a file needs a name to be restored under");
  }
  if (Defer(entry, name)) return OkStatus();
  return WriteFile(entry, name);
}

// Whether the file is to become a link to another one that is restored in this run, or waits for
// its turn to.
bool Restorer::Defer(const Entry& entry, const std::string& name) {
  if (!entry.link_group) return false;
  const auto known = links_.find(*entry.link_group);
  if (known == links_.end()) {
    links_[*entry.link_group] = {entry, name, std::nullopt};
    return false;
  }
  if (!IsSameFile(known->second.entry, entry)) return false;
  deferred_.emplace_back(entry, name);
  return true;
}

Status Restorer::WriteFile(const Entry& entry, const std::string& name) {
  if (!HolesFit(entry)) return Error(ErrorCode::kDamaged, "its holes do not fit its size");
  const size_t slash = name.rfind('/');
  COFFER_ASSIGN_OR_RETURN(const size_t directory,
                          EnsureDirectory(name.substr(0, slash == name.npos ? 0 : slash)));
  const std::string parent = NameOf(directory);
  if (!options_.overwrite && files_->StatNoFollow(name).ok()) {
    // Told before the work is done; naming it later tells for certain.
    return os::PathError("create", files_->FullPath(name), EEXIST);
  }
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<TemporaryFile> temporary,
                          TemporaryFile::Create(*files_, parent, 0600));
  os::File& file = temporary->file();
  FileDataSink sink(entry, file);
  COFFER_TRY(provider_(entry, sink));
  if (!sink.complete()) {
    return Error(ErrorCode::kDamaged, "there is less data than the entry says");
  }
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file.Stat());
  if (stat.size != entry.size) COFFER_TRY(file.Truncate(entry.size));
  sink.StartWriteback();
  SetMetadata(entry, name, file);
  pending_.push_back({std::move(temporary), name, directory, entry.link_group, OkStatus()});
  if (pending_.size() == kBatchSize) SyncPending();
  return OkStatus();
}

// Starts to sync what is pending, once what was started before is done and has its names.
void Restorer::SyncPending() {
  NameSynced();
  syncing_ = std::make_unique<Batch>(std::exchange(pending_, {}));
  syncing_->Start();
}

void Restorer::NameSynced() {
  if (syncing_ == nullptr) return;
  syncing_->Wait();
  for (PendingFile& file : syncing_->files) NameFile(file);
  syncing_.reset();
}

void Restorer::FlushFiles() {
  NameSynced();
  Batch rest(std::exchange(pending_, {}));
  rest.Sync();
  for (PendingFile& file : rest.files) NameFile(file);
}

void Restorer::NameFile(PendingFile& pending) {
  Status named = pending.synced;
  Result<FileStat> stat = pending.file->file().Stat();
  if (named.ok() && options_.overwrite) {
    const Result<FileStat> there = files_->StatNoFollow(pending.name);
    const bool taken = there.ok() || there.error().code() != ErrorCode::kNotFound;
    named = taken ? pending.file->Replace(pending.name) : pending.file->NameNew(pending.name);
  } else if (named.ok()) {
    named = pending.file->NameNew(pending.name);
  }
  if (!named.ok()) {
    Fail(pending.name, named.error());
    return;
  }
  directories_[pending.directory].changed = true;
  if (!pending.link_group || !stat.ok()) return;
  LinkTarget& target = links_[*pending.link_group];
  if (target.name == pending.name) target.named = *stat;
}

bool Restorer::LinkTo(const LinkTarget& target, const Entry& entry, const std::string& name) {
  if (!target.named || !IsSameFile(target.entry, entry)) return false;
  const Result<FileStat> there = files_->StatNoFollow(target.name);
  if (!there.ok() || !os::SameObject(*there, *target.named)) return false;
  const Status linked =
      MakeAt(name, [&](const std::string& path) { return files_->Link(target.name, path); });
  if (linked.ok()) return true;
  // A file system without links, or with no more of them, gets another file.
  if (linked.error().code() != ErrorCode::kIo) {
    Fail(name, linked.error());
    return true;
  }
  return false;
}

void Restorer::LinkDeferred() {
  while (!deferred_.empty()) {
    const auto waiting = std::exchange(deferred_, {});
    for (const auto& [entry, name] : waiting) {
      const uint64_t group = entry.link_group.value_or(0);  // only those with one wait
      if (LinkTo(links_[group], entry, name)) continue;
      // The one that came first failed: this one takes its place.
      LinkTarget& target = links_[group];
      if (!target.named) target = {entry, name, std::nullopt};
      const Status written = WriteFile(entry, name);
      if (!written.ok()) Fail(name, written.error());
      FlushFiles();
    }
  }
}

void Restorer::Finish() {
  FlushFiles();
  LinkDeferred();
  FinishDirectories();
}

Status RestoreFile(FileSystem& file_system, const Entry& entry, const std::string& path,
                   const RestoreOptions& options, DataProvider provider,
                   std::vector<RestoreProblem>& problems) {
  if (entry.kind != EntryKind::kFile) {
    return Error(ErrorCode::kInvalidArgument, Quote(entry.path) + " is not a file");
  }
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<Restorer> restorer,
      Restorer::Create(file_system, os::DirectoryOf(path), options, std::move(provider)));
  Entry alone = entry;
  alone.link_group.reset();
  restorer->Add(alone, os::BaseNameOf(path));
  restorer->Finish();
  problems = restorer->problems();
  for (const RestoreProblem& problem : problems) {
    if (problem.kind != RestoreProblem::Kind::kFailure) continue;
    return Error(ErrorCode::kIo, "cannot restore " + Quote(path) + ": " + problem.message);
  }
  return OkStatus();
}

}  // namespace coffer::local
