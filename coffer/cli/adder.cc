// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/adder.h"

#include <algorithm>
#include <utility>

#include "coffer/cli/console.h"
#include "coffer/local/scan.h"
#include "coffer/os/clock.h"
#include "coffer/os/random.h"
#include "coffer/vault/adoption.h"

namespace coffer::cli {
namespace {

// What a long run does not lose when it is stopped.
constexpr uint64_t kCommitSize = uint64_t{4} << 30;
constexpr int64_t kCommitInterval_ns = int64_t{5} * 60 * 1'000'000'000;

// Data of a whole commit that travels in it: one note is one object.
constexpr size_t kMaxInlineSize = 4096;

// A source whose first bytes were read already.
class ResumedSource final : public ByteSource {
 public:
  ResumedSource(ByteSpan first, ByteSource* rest) : first_(first), rest_(rest) {}

  Result<size_t> Read(MutableByteSpan out) override {
    if (!first_.empty()) {
      const size_t size = std::min(first_.size(), out.size());
      std::copy_n(first_.begin(), size, out.begin());
      first_ = first_.subspan(size);
      return size;
    }
    if (rest_ == nullptr) return size_t{0};
    return rest_->Read(out);
  }

 private:
  ByteSpan first_;
  ByteSource* rest_;
};

// Counts what passes, for the progress line.
class CountedSource final : public ByteSource {
 public:
  CountedSource(ByteSource& source, Progress& progress, uint64_t& count)
      : source_(source), progress_(progress), count_(count) {}

  Result<size_t> Read(MutableByteSpan out) override {
    COFFER_ASSIGN_OR_RETURN(const size_t size, source_.Read(out));
    progress_.Add(size);
    count_ += size;
    return size;
  }

 private:
  ByteSource& source_;
  Progress& progress_;
  uint64_t& count_;
};

// Whether two versions of a path are the same but for what says where and when they were scanned.
bool IsSameContent(const vault::Entry& a, const vault::Entry& b) {
  return a.kind == b.kind && a.mode == b.mode && a.user == b.user && a.group == b.group &&
         a.user_name == b.user_name && a.group_name == b.group_name && a.modified == b.modified &&
         a.flags == b.flags && a.size == b.size && a.content_hash == b.content_hash &&
         a.holes == b.holes && a.link_target == b.link_target && a.attributes == b.attributes &&
         a.device == b.device && a.link_group.has_value() == b.link_group.has_value();
}

// Tells a source's failure from the vault's.
class FailureWatch final : public ByteSource {
 public:
  explicit FailureWatch(ByteSource& source) : source_(source) {}
  Result<size_t> Read(MutableByteSpan out) override {
    Result<size_t> size = source_.Read(out);
    if (!size.ok()) failure_ = size.error();
    return size;
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  ByteSource& source_;
  std::optional<Error> failure_;
};

}  // namespace

Adder::Adder(VaultSession& session, const AddOptions& options, Progress& progress)
    : session_(session), options_(options), progress_(progress) {
  StartDraft();
}

Status Adder::Add(vault::Entry entry) {
  const vault::Version* current = Current(entry.path);
  if (current != nullptr && IsSameContent(entry, current->entry)) {
    ++counts_.unchanged;
    return OkStatus();
  }
  ++counts_.added;
  if (!options_.dry_run) draft_.entries.push_back(std::move(entry));
  return CommitIfDue();
}

Status Adder::Start() {
  COFFER_ASSIGN_OR_RETURN(listed_, session_.store->List("segments"));
  const vault::SegmentTable& segments = session_.state().segments();
  is_stored_.resize(segments.size());
  for (const store::ObjectInfo& info : listed_) {
    const auto id = vault::IdOfKey(vault::ObjectClass::kSegment, info.key);
    const std::optional<uint32_t> number = id ? segments.Find(*id) : std::nullopt;
    if (number) is_stored_[*number] = segments.at(*number).object_size == info.size;
  }
  return OkStatus();
}

bool Adder::IsUnchanged(const vault::Entry& scanned) {
  const vault::Version* current = Current(scanned.path);
  if (current == nullptr) return false;
  const vault::CommitInfo& commit = session_.state().CommitOf(*current);
  const bool same = commit.writer == session_.installation->writer() &&
                    local::IsUnchanged(scanned, current->entry, commit.scan_started) &&
                    IsStored(current->entry);
  if (same) ++counts_.unchanged;
  return same;
}

Result<Adder::FileResult> Adder::AddFile(vault::Entry entry, ByteSource& source,
                                         const Finish& finish) {
  CountedSource counted(source, progress_, counts_.read_size);
  Held held;
  Status first = Hold(counted, held);
  if (!first.ok()) return FileResult{std::move(first).error()};
  std::optional<size_t> ticket;
  if (!held.whole) {
    COFFER_TRY(SpillHeld());
    Result<std::optional<size_t>> stored = Store(held, &counted);
    if (!stored.ok()) return std::move(stored).error();
    if (!*stored) return FileResult{std::move(source_problem_)};
    ticket = *stored;
  }
  Status finished = finish(entry);
  if (!finished.ok()) return FileResult{std::move(finished).error()};
  if (options_.dry_run) {
    ++counts_.added;
    return FileResult{};
  }
  pending_.push_back({draft_.entries.size(), ticket, std::move(held.bytes)});
  draft_.entries.push_back(std::move(entry));
  COFFER_TRY(CommitIfDue());
  return FileResult{};
}

Status Adder::Commit() {
  if (options_.dry_run) return OkStatus();
  COFFER_TRY(TakeContents());
  if (draft_.entries.empty()) return OkStatus();
  COFFER_TRY(EnsurePrepared());
  draft_.remark = options_.remark;
  draft_.keys_to_settle = std::exchange(adopted_keys_, {});
  COFFER_ASSIGN_OR_RETURN(const vault::Vault::Committed committed,
                          session_.vault->Commit(std::move(draft_), !options_.no_padding));
  for (const std::string& warning : committed.warnings) PrintWarning(warning);
  commits_.push_back(committed.id);
  StartDraft();
  return OkStatus();
}

bool Adder::IsStored(const vault::Entry& entry) const {
  return std::ranges::all_of(entry.blobs, [&](const vault::Blob& blob) { return IsStored(blob); });
}

bool Adder::IsStored(const vault::Blob& blob) const {
  // Those of later numbers this process has published.
  return blob.segment >= is_stored_.size() || is_stored_[blob.segment];
}

const vault::Version* Adder::Current(const std::string& path) {
  const auto found = session_.state().Find(path);
  return found.empty() ? nullptr : &found.front();
}

void Adder::StartDraft() {
  draft_ = vault::Draft();
  draft_.scan_started = os::WallTime(os::SystemClock());
  draft_start_ns_ = os::SystemClock().MonotonicNanoseconds();
  draft_read_size_ = counts_.read_size;
}

Status Adder::CommitIfDue() {
  if (options_.atomic || options_.dry_run) return OkStatus();
  const int64_t age_ns = os::SystemClock().MonotonicNanoseconds() - draft_start_ns_;
  if (counts_.read_size - draft_read_size_ < kCommitSize && age_ns < kCommitInterval_ns) {
    return OkStatus();
  }
  return Commit();
}

Status Adder::Hold(ByteSource& source, Held& held) {
  if (options_.dry_run) return Skip(source, held);
  const size_t room = writer_ != nullptr ? 0 : kMaxInlineSize - held_size_;
  held.bytes = SecretBuffer(room + 1);
  COFFER_ASSIGN_OR_RETURN(const size_t size, ReadFull(source, held.bytes.ExposeMutable()));
  held.bytes.Truncate(size);
  held.whole = size <= room;
  if (held.whole) held_size_ += size;
  return OkStatus();
}

Status Adder::Skip(ByteSource& source, Held& held) {
  SecretBuffer buffer(size_t{1} << 20);
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const size_t size, source.Read(buffer.ExposeMutable()));
    if (size == 0) break;
  }
  held.whole = true;
  return OkStatus();
}

Status Adder::SpillHeld() {
  COFFER_TRY(EnsureWriter());
  for (; first_held_ < pending_.size(); ++first_held_) {
    PendingFile& file = pending_[first_held_];
    if (file.ticket) continue;
    ResumedSource source(file.held.Expose(), nullptr);
    COFFER_ASSIGN_OR_RETURN(file.ticket, writer_->Add(source));
    file.held.Clear();
  }
  held_size_ = 0;
  return OkStatus();
}

Result<std::optional<size_t>> Adder::Store(const Held& held, ByteSource* rest) {
  FailureWatch watched(*rest);
  ResumedSource source(held.bytes.Expose(), &watched);
  Result<size_t> ticket = writer_->Add(source);
  if (ticket.ok()) return std::optional<size_t>(*ticket);
  if (!watched.failure()) return std::move(ticket).error();
  source_problem_ = watched.failure();
  return std::optional<size_t>();
}

Status Adder::EnsurePrepared() {
  if (!prepared_) COFFER_TRY(session_.store->Prepare({}));
  prepared_ = true;
  return OkStatus();
}

Status Adder::EnsureWriter() {
  if (writer_ != nullptr) return OkStatus();
  vault::Vault& vault = *session_.vault;
  const vault::State& state = vault.state();
  for (const vault::Version& version : state.versions()) {
    const vault::Entry& entry = version.entry;
    for (size_t i = 0; i < entry.blobs.size(); ++i) {
      if (!IsStored(entry.blobs[i])) continue;
      const bool is_last = i + 1 == entry.blobs.size();
      const uint64_t size = is_last ? entry.data_size() - i * vault::kPieceSize : vault::kPieceSize;
      catalogue_.Add(entry.piece_hashes.empty() ? entry.content_hash : entry.piece_hashes[i], size,
                     entry.blobs[i]);
    }
  }
  const vault::SegmentAuthor author{vault.id(), session_.installation->writer(),
                                    vault::kOwnerCapability, &vault.seed()};
  COFFER_TRY(Adopt(author));
  COFFER_TRY(EnsurePrepared());
  COFFER_ASSIGN_OR_RETURN(
      writer_,
      vault::ContentWriter::Create(
          *session_.store, vault.recipient(), os::SystemRandom(), author, state.segments(),
          catalogue_, {.segment_size = options_.segment_size, .padding = !options_.no_padding}));
  return OkStatus();
}

Status Adder::Adopt(const vault::SegmentAuthor& author) {
  const vault::State& state = session_.state();
  os::FileTime last{INT64_MIN, 0};
  for (const vault::CommitInfo& info : state.commits()) {
    if (info.writer == author.writer) last = std::max(last, info.time);
  }
  std::vector<vault::Id> unreferenced;
  for (const store::ObjectInfo& info : listed_) {
    const auto id = vault::IdOfKey(vault::ObjectClass::kSegment, info.key);
    if (id && info.modified > last && !state.segments().Find(*id)) unreferenced.push_back(*id);
  }
  if (unreferenced.empty()) return OkStatus();
  const Result<size_t> adopted =
      vault::AdoptSegments(*session_.store, unreferenced, session_.vault->identity(), author,
                           state.segments(), catalogue_, &adopted_keys_);
  return adopted.ok() ? OkStatus() : Status(adopted.error());
}

Status Adder::TakeContents() {
  if (writer_ != nullptr) {
    COFFER_TRY(SpillHeld());
    COFFER_TRY(writer_->Flush());
    counts_.new_size = writer_->new_size();
  }
  for (const PendingFile& file : pending_) {
    vault::Entry& entry = draft_.entries[file.entry];
    if (file.ticket) {
      vault::StoredContent content = writer_->Take(*file.ticket);
      entry.content_hash = content.content_hash;
      entry.blobs = std::move(content.blobs);
      entry.piece_hashes = std::move(content.piece_hashes);
    } else {
      const ByteSpan data = file.held.Expose();
      entry.content_hash = vault::HashPiece(data);
      entry.inline_data.assign(data.begin(), data.end());
      counts_.new_size += data.size();
    }
    if (IsNew(entry)) {
      ++counts_.added;
    } else {
      ++counts_.unchanged;
      entry.path.clear();
    }
  }
  std::erase_if(draft_.entries, [](const vault::Entry& entry) { return entry.path.empty(); });
  pending_.clear();
  first_held_ = 0;
  held_size_ = 0;
  return OkStatus();
}

bool Adder::IsNew(const vault::Entry& entry) {
  const vault::Version* current = Current(entry.path);
  // A version of this machine is renewed, so that the file is not read next time.
  return current == nullptr || !IsSameContent(entry, current->entry) ||
         session_.state().CommitOf(*current).writer == session_.installation->writer() ||
         !IsStored(current->entry);
}

}  // namespace coffer::cli
