// SPDX-License-Identifier: Apache-2.0
// Changing a vault: commits and checkpoints.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"
#include "coffer/vault/vault.h"

namespace coffer::vault {
namespace {

// The versions that entries and removals replace, as references into a record's table of commits.
class References {
 public:
  explicit References(const State& state) : state_(state) {}

  // To be called for every path first, then Finish once, then Of.
  void Mention(std::string_view path) {
    for (const Version& version : state_.Find(path)) mentioned_.insert(state_.IdOf(version).commit);
  }

  std::vector<Id> Finish() {
    uint32_t number = 0;
    for (const Id& id : mentioned_) numbers_.emplace(id, number++);
    return {mentioned_.begin(), mentioned_.end()};
  }

  [[nodiscard]] std::vector<VersionRef> Of(std::string_view path) const {
    std::vector<VersionRef> refs;
    for (const Version& version : state_.Find(path)) {
      const VersionId id = state_.IdOf(version);
      refs.push_back({numbers_.at(id.commit), id.index});
    }
    std::ranges::sort(refs);
    return refs;
  }

 private:
  const State& state_;
  std::set<Id> mentioned_;
  std::map<Id, uint32_t> numbers_;
};

// Gives a commit the table of the segments that its entries use, and their numbers in it.
void UseOwnSegmentTable(vault::Commit& commit, const SegmentTable& segments) {
  struct Use {
    const KnownSegment* known;
    uint32_t number;
  };
  std::map<Id, Use> uses;  // from id, since the record's table ascends by it
  for (const Entry& entry : commit.entries) {
    for (const Blob& blob : entry.blobs) {
      const KnownSegment& known = segments.at(blob.segment);
      uses.try_emplace(known.id, Use{&known, 0});
    }
  }
  uint32_t next = 0;
  for (auto& [id, use] : uses) {
    use.number = next++;
    commit.segments.push_back(
        {id, use.known->object_size, use.known->header_size, use.known->file_key.Duplicate()});
  }
  for (Entry& entry : commit.entries) {
    for (Blob& blob : entry.blobs) blob.segment = uses.at(segments.at(blob.segment).id).number;
  }
}

Status CheckPaths(const Draft& draft) {
  for (size_t i = 1; i < draft.entries.size(); ++i) {
    if (draft.entries[i - 1].path != draft.entries[i].path) continue;
    return Error(ErrorCode::kInvalidArgument,
                 Quote(draft.entries[i].path) + " would be added twice");
  }
  return OkStatus();
}

Status PublishOne(store::Store& store, SealedObject object) {
  std::vector<std::unique_ptr<store::Upload>> uploads;
  uploads.push_back(std::move(object.upload));
  return store.Publish(std::move(uploads));
}

}  // namespace

Result<uint64_t> Vault::NextSeq(Turn& turn) {
  if (const std::optional<SeenCommit> intended = turn.intended()) {
    // Whether the last holder of the turn came to publish it shows in the store.
    const std::string key = ObjectKey(ObjectClass::kCommit, intended->id);
    const Status settled = context_.store.Settle({&key, 1});
    if (settled.ok()) {
      COFFER_TRY(turn.Confirm());
    } else if (settled.error().code() != ErrorCode::kNotFound) {
      return settled.error();
    }
  }
  const std::optional<SeenCommit> last_commit = turn.last();
  const uint64_t last = last_commit ? last_commit->seq : 0;
  const WriterId& writer = context_.installation.writer();
  for (const WriterSeq& newest : state_->newest()) {
    if (newest.writer != writer || newest.seq <= last) continue;
    return Error(ErrorCode::kInvalidArgument,
                 "the vault has commit " + std::to_string(newest.seq) +
                     " of this machine, which remembers " + std::to_string(last) +
                     ": its state is an older copy. Remove the directory of this vault's state, "
                     "so that the machine becomes a new writer");
  }
  return last + 1;
}

Result<vault::Commit> Vault::MakeCommit(Draft& draft, uint64_t seq,
                                        const std::optional<SeenCommit>& last) const {
  std::ranges::sort(draft.entries, {}, &Entry::path);
  std::ranges::sort(draft.removals);
  COFFER_TRY(CheckPaths(draft));
  vault::Commit commit;
  commit.vault = id_;
  commit.writer = context_.installation.writer();
  commit.seq = seq;
  if (last) commit.previous = last->id;
  commit.time = os::WallTime(context_.clock);
  commit.scan_started = draft.scan_started;
  for (const WriterSeq& newest : state_->newest()) {
    if (newest.writer != commit.writer) commit.vector.push_back(newest);
  }
  for (const CommitInfo& info : state_->commits()) {
    if (!info.covered)
      commit.known.push_back({info.id, info.header_size, info.file_key.Duplicate()});
  }

  References references(*state_);
  for (const Entry& entry : draft.entries) references.Mention(entry.path);
  for (const std::string& path : draft.removals) references.Mention(path);
  commit.referred_commits = references.Finish();
  commit.removals.reserve(draft.removals.size());
  for (std::string& path : draft.removals) {
    std::vector<VersionRef> versions = references.Of(path);
    if (!versions.empty()) commit.removals.push_back({std::move(path), std::move(versions)});
  }
  draft.removals = {};
  commit.entries = std::move(draft.entries);
  for (Entry& entry : commit.entries) entry.replaces = references.Of(entry.path);
  UseOwnSegmentTable(commit, state_->segments());
  commit.pins = std::move(draft.pins);
  std::ranges::sort(commit.pins, {}, &Pin::commit);
  commit.remark = std::move(draft.remark);
  return commit;
}

Result<Vault::Committed> Vault::Commit(Draft draft, bool padding) {
  COFFER_TRY(CheckWritable());
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<Turn> turn, context_.installation.TakeTurn());
  COFFER_ASSIGN_OR_RETURN(const uint64_t seq, NextSeq(*turn));
  const std::vector<std::string> keys_to_settle = std::move(draft.keys_to_settle);
  COFFER_ASSIGN_OR_RETURN(const vault::Commit commit, MakeCommit(draft, seq, turn->last()));
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer record, EncodeCommit(commit, seed_));
  COFFER_ASSIGN_OR_RETURN(SealedObject sealed,
                          SealObject(context_.store, *recipient_, context_.random,
                                     ObjectClass::kCommit, record.Expose(), padding));
  if (!keys_to_settle.empty()) COFFER_TRY(context_.store.Settle(keys_to_settle));

  Committed committed;
  committed.id = sealed.id;
  committed.seq = seq;
  COFFER_TRY(turn->Record(seq, sealed.id));
  COFFER_TRY(PublishOne(context_.store, std::move(sealed)));
  // From here on it is done: what fails now costs the next command time, and no data.
  if (const Status confirmed = turn->Confirm(); !confirmed.ok()) {
    committed.warnings.push_back(confirmed.error().message());
  }
  if (state_->uncovered_count() + 1 < kCheckpointInterval) return committed;
  const Status loaded = Load();
  const Status written = loaded.ok() ? WriteCheckpoint(padding) : loaded;
  if (!written.ok()) {
    committed.warnings.push_back("no checkpoint was written: " + written.error().message());
  }
  return committed;
}

Status Vault::WriteCheckpoint(bool padding) {
  // What is missing now would be missing in every state that is built on this one.
  for (const Finding& finding : findings_) {
    if (IsDamage(finding.what) || IsPending(finding.what)) {
      return Error(ErrorCode::kDamaged, finding.key + ": " + finding.message);
    }
  }
  COFFER_TRY(CheckWritable());
  const Checkpoint checkpoint = state_->ToCheckpoint(id_, os::WallTime(context_.clock));
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer record, EncodeCheckpoint(checkpoint, seed_));
  COFFER_ASSIGN_OR_RETURN(SealedObject sealed,
                          SealObject(context_.store, *recipient_, context_.random,
                                     ObjectClass::kCheckpoint, record.Expose(), padding));
  // Commits of others may have been visible and not durable.
  std::vector<std::string> newly_covered;
  for (const CommitInfo& info : state_->commits()) {
    if (!info.covered) newly_covered.push_back(ObjectKey(ObjectClass::kCommit, info.id));
  }
  COFFER_TRY(context_.store.Settle(newly_covered));
  return PublishOne(context_.store, std::move(sealed));
}

}  // namespace coffer::vault
