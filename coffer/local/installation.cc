// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/installation.h"

#include <algorithm>
#include <array>
#include <set>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"
#include "coffer/crypto/sha2.h"
#include "coffer/local/internal/seen_files.h"
#include "coffer/local/internal/writer_file.h"
#include "coffer/os/environment.h"

namespace coffer::local {
namespace {

using internal::Place;
using internal::SeenState;
using internal::Slot;
using internal::WriterFile;
using os::FileStat;
using os::FileSystem;
using os::JoinPath;
using vault::FirstNoticed;
using vault::Id;
using vault::SeenCommit;
using vault::WriterId;

constexpr const char* kWriterName = "writer";
constexpr uint32_t kDirectoryMode = 0700;
// /etc/machine-id has 33 bytes.
constexpr size_t kMachineIdBound = 256;

std::optional<SeenCommit> CommitOf(const WriterId& writer, uint64_t seq, const Id& id) {
  if (seq == 0) return std::nullopt;
  return SeenCommit{writer, seq, id};
}

// A machine without a readable id is like any other without one.
Result<std::array<uint8_t, 32>> MachineOf(FileSystem& file_system, const std::string& path) {
  std::array<uint8_t, kMachineIdBound> buffer;
  const auto file = file_system.Open(path, {});
  if (!file.ok()) return std::array<uint8_t, 32>{};
  const Result<size_t> size = (*file)->ReadAt(0, buffer);
  if (!size.ok()) return std::array<uint8_t, 32>{};
  return crypto::Sha256(ByteSpan(buffer).first(*size));
}

// Makes a directory and its parents. They become durable with the first commit.
Status MakeDirectories(FileSystem& file_system, const std::string& directory) {
  std::vector<std::string> missing;
  std::string path = directory;
  for (;;) {
    const Result<FileStat> stat = file_system.Stat(path);
    if (stat.ok() && stat->kind == os::FileKind::kDirectory) break;
    if (stat.ok()) {
      return Error(ErrorCode::kIo, Quote(path) + " is not a directory, which is needed there");
    }
    if (stat.error().code() != ErrorCode::kNotFound) return stat.error();
    const std::string parent = os::DirectoryOf(path);
    missing.push_back(std::move(path));
    if (parent == missing.back()) return stat.error();
    path = parent;
  }
  for (; !missing.empty(); missing.pop_back()) {
    const Status made = file_system.MakeDirectory(missing.back(), kDirectoryMode);
    if (!made.ok() && made.error().code() != ErrorCode::kAlreadyExists) return made;
  }
  return OkStatus();
}

Result<std::unique_ptr<os::File>> LockFile(FileSystem& file_system, const std::string& path) {
  os::OpenOptions options;
  options.access = os::Access::kReadWrite;
  options.creation = os::Creation::kMayExist;
  options.mode = 0600;
  options.follow_symlink = false;
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<os::File> file, file_system.Open(path, options));
  COFFER_TRY(file->Lock());
  return file;
}

// The names of a new state must survive with what was recorded in it. A parent that cannot be
// opened was not made by us.
Status SyncNames(FileSystem& file_system, std::string directory) {
  for (int level = 0; level < 3; ++level) {
    const Status synced = file_system.SyncDirectory(directory);
    if (!synced.ok()) {
      const bool needed = level == 0 && !os::IsUnsupportedSync(synced.error());
      if (needed) return synced;
    }
    directory = os::DirectoryOf(directory);
  }
  return OkStatus();
}

class FileTurn final : public vault::Turn {
 public:
  FileTurn(FileSystem& file_system, std::string directory, std::unique_ptr<os::File> lock,
           std::unique_ptr<WriterFile> file)
      : file_system_(file_system),
        directory_(std::move(directory)),
        lock_(std::move(lock)),
        file_(std::move(file)) {}

  [[nodiscard]] std::optional<SeenCommit> last() const override {
    const Slot& slot = file_->current();
    return CommitOf(slot.writer, slot.last_seq, slot.last_id);
  }
  [[nodiscard]] std::optional<SeenCommit> intended() const override {
    const Slot& slot = file_->current();
    return CommitOf(slot.writer, slot.intended_seq, slot.intended_id);
  }

  Status Record(uint64_t seq, const Id& id) override {
    Slot next = file_->current();
    if (seq == 0 || seq != next.last_seq + 1) {
      return Error(ErrorCode::kInvalidArgument,
                   "commit " + std::to_string(seq) + " does not follow commit " +
                       std::to_string(next.last_seq) + " of this writer");
    }
    next.intended_seq = seq;
    next.intended_id = id;
    next.synced = true;
    if (file_->current().generation == 1) {
      Status synced = SyncNames(file_system_, directory_);
      if (!synced.ok()) file_->GiveUp();
      COFFER_TRY(synced);
    }
    return file_->Advance(next);
  }

  Status Confirm() override {
    Slot next = file_->current();
    if (next.intended_seq == 0) {
      return Error(ErrorCode::kInvalidArgument, "no commit was recorded that could be confirmed");
    }
    next.last_seq = next.intended_seq;
    next.last_id = next.intended_id;
    next.intended_seq = 0;
    next.intended_id = {};
    next.synced = false;
    return file_->Advance(next);
  }

 private:
  FileSystem& file_system_;
  std::string directory_;
  std::unique_ptr<os::File> lock_;
  std::unique_ptr<WriterFile> file_;
};

}  // namespace

Result<std::string> StateDirectoryOf(const vault::VaultId& vault) {
  const auto state_home = os::GetEnvironment("XDG_STATE_HOME");
  std::string base;
  if (state_home && state_home->starts_with('/')) {
    base = *state_home;
  } else {
    const auto home = os::GetEnvironment("HOME");
    if (!home || !home->starts_with('/')) {
      return Error(ErrorCode::kInvalidArgument,
                   "no place to remember the vault: set HOME or XDG_STATE_HOME to a full path");
    }
    base = JoinPath(*home, ".local/state");
  }
  return JoinPath(JoinPath(base, "coffer"), hex::Encode(vault));
}

class FileInstallation::State {
 public:
  State(FileSystem& file_system, const Options& options)
      : file_system_(file_system), options_(options) {}

  Status Load() {
    const Status usable = FindWriter();
    if (!usable.ok()) {
      cannot_ = usable.error();
      if (!has_writer_) options_.random.Fill(writer_);
      NoteCannotRemember(usable.error());
    }
    const auto loaded = internal::LoadSeen(file_system_, options_.directory);
    if (loaded.ok()) {
      seen_ = loaded->state;
    } else {
      NoteCannotRemember(loaded.error());
    }
    // What this machine published it has seen, though nobody read it since.
    if (published_) (void)internal::MergeCommits(seen_, {&*published_, 1});
    if (loaded.ok() && loaded->damaged) {
      notes_.insert("what was seen of this vault is lost: files in " + Quote(options_.directory) +
                    " are damaged; what is missing from it now may go unnoticed");
    }
    return OkStatus();
  }

  [[nodiscard]] const WriterId& writer() const { return writer_; }

  Result<std::unique_ptr<vault::Turn>> TakeTurn() {
    if (cannot_) {
      return Error(*cannot_).WithContext("cannot add without a place to remember what was added");
    }
    COFFER_ASSIGN_OR_RETURN(std::unique_ptr<os::File> lock, LockFile(file_system_, TurnLock()));
    COFFER_ASSIGN_OR_RETURN(std::unique_ptr<WriterFile> file, OpenWriter(os::Access::kReadWrite));
    if (file->current().writer != writer_ || !(file->current().place == PlaceOf(*file))) {
      return Error(ErrorCode::kIo, Quote(options_.directory) +
                                       " was changed by another process meanwhile: try again");
    }
    return std::unique_ptr<vault::Turn>(std::make_unique<FileTurn>(
        file_system_, options_.directory, std::move(lock), std::move(file)));
  }

  [[nodiscard]] std::vector<SeenCommit> Seen() const {
    const std::lock_guard lock(mutex_);
    return seen_.commits;
  }

  Status Remember(std::span<const SeenCommit> newest) {
    const std::lock_guard lock(mutex_);
    SeenState ahead = seen_;
    if (!internal::MergeCommits(ahead, newest)) return OkStatus();
    Update([&](SeenState& state) { return internal::MergeCommits(state, newest); });
    return OkStatus();
  }

  std::vector<FirstNoticed> NoteAbsences(std::span<const FirstNoticed> now) {
    const std::lock_guard lock(mutex_);
    SeenState ahead = seen_;
    if (internal::SetAbsences(ahead, now)) {
      Update([&](SeenState& state) { return internal::SetAbsences(state, now); });
    }
    return seen_.absences;
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return {notes_.begin(), notes_.end()};
  }

 private:
  [[nodiscard]] std::string TurnLock() const { return JoinPath(options_.directory, "turn.lock"); }

  Result<std::unique_ptr<WriterFile>> OpenWriter(os::Access access) {
    return WriterFile::Open(file_system_, JoinPath(options_.directory, kWriterName), access);
  }

  [[nodiscard]] Place PlaceOf(const WriterFile& file) const {
    Place place = place_;
    place.file = file.inode();
    return place;
  }

  // Adopts the writer of the file, if it is whole and was written here.
  Result<bool> Adopt() {
    const auto file = OpenWriter(os::Access::kRead);
    if (!file.ok()) {
      const ErrorCode code = file.error().code();
      if (code == ErrorCode::kNotFound) return false;
      if (code != ErrorCode::kDamaged) return file.error();
      why_new_ = "the files in " + Quote(options_.directory) +
                 " are damaged: this machine adds to the vault under a new writer number";
      return false;
    }
    const Slot& slot = (*file)->current();
    writer_ = slot.writer;
    has_writer_ = true;
    published_ = CommitOf(slot.writer, slot.last_seq, slot.last_id);
    if (slot.place == PlaceOf(**file)) return true;
    why_new_ = "the files in " + Quote(options_.directory) +
               " were copied or restored: this machine adds to the vault under a new writer number";
    return false;
  }

  Status FindWriter() {
    COFFER_ASSIGN_OR_RETURN(place_.machine, MachineOf(file_system_, options_.machine_id_path));
    COFFER_TRY(MakeDirectories(file_system_, options_.directory));
    COFFER_ASSIGN_OR_RETURN(const FileStat stat, file_system_.Stat(options_.directory));
    place_.device = stat.device;
    place_.directory = stat.inode;
    COFFER_ASSIGN_OR_RETURN(bool adopted, Adopt());
    if (adopted) return OkStatus();
    COFFER_ASSIGN_OR_RETURN(const auto lock, LockFile(file_system_, TurnLock()));
    // Another process may have been faster.
    why_new_.clear();
    COFFER_ASSIGN_OR_RETURN(adopted, Adopt());
    if (adopted) return OkStatus();
    Slot first;
    options_.random.Fill(first.writer);
    first.place = place_;
    COFFER_TRY(WriterFile::Create(file_system_, options_.directory, kWriterName, first));
    writer_ = first.writer;
    if (!why_new_.empty()) notes_.insert(why_new_);
    return OkStatus();
  }

  // Applies `change` to what is in the files, so that what other processes saw is not lost. Where
  // that cannot be, it holds as long as this object.
  template <class Change>
  void Update(Change change) {
    const Status kept = Store(change);
    if (kept.ok()) return;
    NoteCannotRemember(kept.error());
    change(seen_);
  }

  template <class Change>
  Status Store(Change change) {
    if (cannot_) return *cannot_;
    COFFER_ASSIGN_OR_RETURN(const auto lock,
                            LockFile(file_system_, JoinPath(options_.directory, "seen.lock")));
    COFFER_ASSIGN_OR_RETURN(internal::LoadedSeen loaded,
                            internal::LoadSeen(file_system_, options_.directory));
    SeenState& state = loaded.state;
    (void)internal::MergeCommits(state, seen_.commits);
    change(state);
    COFFER_TRY(internal::StoreSeen(file_system_, options_.directory, state));
    seen_ = std::move(state);
    return OkStatus();
  }

  void NoteCannotRemember(const Error& error) {
    notes_.insert("cannot remember what was seen of this vault: " + error.message());
  }

  FileSystem& file_system_;
  Options options_;
  Place place_;
  WriterId writer_{};
  bool has_writer_ = false;
  std::optional<SeenCommit> published_;  // the last one that its file has
  std::optional<Error> cannot_;          // why there are no turns
  std::string why_new_;

  mutable std::mutex mutex_;  // for what follows
  SeenState seen_;
  std::set<std::string> notes_;
};

FileInstallation::FileInstallation(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileInstallation::~FileInstallation() = default;

Result<std::unique_ptr<FileInstallation>> FileInstallation::Open(FileSystem& file_system,
                                                                 const Options& options) {
  auto state = std::make_unique<State>(file_system, options);
  COFFER_TRY(state->Load());
  return std::unique_ptr<FileInstallation>(new FileInstallation(std::move(state)));
}

const WriterId& FileInstallation::writer() const { return state_->writer(); }

Result<std::unique_ptr<vault::Turn>> FileInstallation::TakeTurn() { return state_->TakeTurn(); }

std::vector<SeenCommit> FileInstallation::Seen() const { return state_->Seen(); }

Result<std::vector<FirstNoticed>> FileInstallation::NoteAbsences(
    std::span<const FirstNoticed> now) {
  return state_->NoteAbsences(now);
}

Status FileInstallation::Remember(std::span<const SeenCommit> newest) {
  return state_->Remember(newest);
}

std::vector<std::string> FileInstallation::notes() const { return state_->notes(); }

}  // namespace coffer::local
