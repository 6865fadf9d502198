// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/vault.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"

namespace coffer::vault {
namespace {

// A record may be as large as its body may be, and padded by an eighth.
constexpr uint64_t kMaxRecordSize = kMaxRecordBodySize + kMaxRecordBodySize / 4;

// How long something may be on its way (docs/format/vault.md, "Sequence").
constexpr int64_t kGraceSeconds = int64_t{24} * 60 * 60;

// How deep checkpoints build on each other. Levels of factor 8 reach 2^48 commits at 16.
constexpr int kMaxCheckpointDepth = 16;

FindingClass ClassOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kForged:
      return FindingClass::kForged;
    case ErrorCode::kNeedsNewer:
      return FindingClass::kNeedsNewer;
    case ErrorCode::kNotFound:
      return FindingClass::kMissing;
    default:
      return FindingClass::kDamaged;
  }
}

// Whether an error is about an object, and not about the machine or the storage as a whole.
bool IsAboutObject(ErrorCode code) {
  switch (code) {
    case ErrorCode::kDamaged:
    case ErrorCode::kForged:
    case ErrorCode::kNeedsNewer:
    case ErrorCode::kNotFound:
    case ErrorCode::kTooLarge:
      return true;
    default:
      return false;
  }
}

ObjectKeys CopyOf(uint64_t header_size, const age::FileKey& file_key) {
  return ObjectKeys{header_size, file_key.Duplicate()};
}

// Newest first, as far as the store knows; else by key, so that two runs do the same.
void SortNewestFirst(std::vector<store::ObjectInfo>& objects) {
  std::ranges::sort(objects, [](const store::ObjectInfo& a, const store::ObjectInfo& b) {
    return std::tie(b.modified, a.key) < std::tie(a.modified, b.key);
  });
}

}  // namespace

struct Vault::Loading {
  explicit Loading(std::shared_ptr<SegmentTable> segments) : builder(std::move(segments)) {}

  StateBuilder builder;
  std::map<Id, ObjectKeys> known;  // of commits
  std::set<Id> listed;             // commits that are there, readable or not
  std::set<Id> covered;
  std::set<Id> checkpoints;  // that were read
};

Vault::Vault(const VaultContext& context, crypto::CofferSeed seed, const VaultId& id,
             age::CofferIdentity identity)
    : context_(context), seed_(std::move(seed)), id_(id), identity_(std::move(identity)) {}

Result<std::unique_ptr<Vault>> Vault::Open(const VaultContext& context,
                                           const crypto::CofferSeed& seed, const VaultId& id) {
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, ReadVaultFile(context.store));
  COFFER_ASSIGN_OR_RETURN(const VaultFile file, VerifyVaultFile(bytes, seed, id));
  COFFER_ASSIGN_OR_RETURN(crypto::CofferEncapsulationKey key,
                          crypto::CofferEncapsulationKey::Parse(file.ek));
  std::unique_ptr<Vault> vault(
      new Vault(context, seed.Duplicate(), id, age::CofferIdentity(seed.Duplicate())));
  vault->recipient_ = std::make_unique<age::CofferRecipient>(std::move(key));
  return vault;
}

// --- Loading.

Status Vault::Load() {
  findings_.clear();
  Loading loading(segments_);
  // Checkpoints first: a commit that is published in between is then listed, and never covered by a
  // checkpoint that is newer than the list.
  COFFER_ASSIGN_OR_RETURN(auto checkpoints, context_.store.List("checkpoints"));
  COFFER_ASSIGN_OR_RETURN(auto commits, context_.store.List("commits"));
  LoadCheckpoints(loading, std::move(checkpoints));
  COFFER_TRY(LoadCommits(loading, std::move(commits)));
  state_ = std::make_unique<State>(std::move(loading.builder).Build());
  COFFER_TRY(FindAbsences(loading));
  return Remember();
}

Result<SecretBuffer> Vault::ReadRecord(ObjectClass object_class, const Id& id,
                                       const ObjectKeys* known, ObjectKeys* keys) {
  std::unique_ptr<ObjectReader> reader;
  if (known != nullptr) {
    const KnownObject object{id, known->header_size, known->file_key.Duplicate()};
    COFFER_ASSIGN_OR_RETURN(reader, ObjectReader::OpenKnown(context_.store, object_class, object));
  } else {
    ++decapsulation_count_;
    COFFER_ASSIGN_OR_RETURN(reader,
                            ObjectReader::Open(context_.store, object_class, id, identity_));
  }
  if (keys != nullptr) *keys = reader->keys();
  return reader->ReadAll(kMaxRecordSize);
}

void Vault::LoadCheckpoints(Loading& loading, std::vector<store::ObjectInfo> listed) {
  SortNewestFirst(listed);
  for (const store::ObjectInfo& info : listed) {
    const std::optional<Id> id = IdOfKey(ObjectClass::kCheckpoint, info.key);
    if (!id || info.kind != store::EntryKind::kObject) {
      findings_.push_back({FindingClass::kStranger, info.key, "not part of a vault", {}});
      continue;
    }
    // Any one that is right will do: what it does not cover is read from the commits.
    if (!loading.checkpoints.empty()) continue;
    const Status added = [&]() -> Status {
      COFFER_ASSIGN_OR_RETURN(const SecretBuffer plaintext,
                              ReadRecord(ObjectClass::kCheckpoint, *id, nullptr, nullptr));
      COFFER_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                              DecodeCheckpoint(plaintext.Expose(), seed_, id_));
      return AddCheckpoint(loading, std::move(checkpoint), 0);
    }();
    if (added.ok()) {
      loading.checkpoints.insert(*id);
    } else {
      findings_.push_back({ClassOf(added.error().code()),
                           info.key,
                           "this checkpoint is ignored: " + added.error().message(),
                           {}});
    }
  }
}

Status Vault::AddCheckpoint(Loading& loading, Checkpoint checkpoint, int depth) {
  if (depth > kMaxCheckpointDepth) {
    return Error(ErrorCode::kDamaged, "checkpoints build on each other without an end");
  }
  for (const KnownObject& base : checkpoint.bases) {
    const ObjectKeys keys = CopyOf(base.header_size, base.file_key);
    COFFER_ASSIGN_OR_RETURN(const SecretBuffer plaintext,
                            ReadRecord(ObjectClass::kCheckpoint, base.id, &keys, nullptr));
    COFFER_ASSIGN_OR_RETURN(Checkpoint below, DecodeCheckpoint(plaintext.Expose(), seed_, id_));
    COFFER_TRY(AddCheckpoint(loading, std::move(below), depth + 1));
  }
  for (const CoveredCommit& covered : checkpoint.covered) {
    loading.covered.insert(covered.id);
    loading.known.insert_or_assign(covered.id, CopyOf(covered.header_size, covered.file_key));
  }
  loading.builder.AddCheckpoint(std::move(checkpoint));
  return OkStatus();
}

Status Vault::LoadCommits(Loading& loading, std::vector<store::ObjectInfo> listed) {
  SortNewestFirst(listed);
  std::vector<Id> wanted;
  for (const store::ObjectInfo& info : listed) {
    const std::optional<Id> id = IdOfKey(ObjectClass::kCommit, info.key);
    if (!id || info.kind != store::EntryKind::kObject) {
      findings_.push_back({FindingClass::kStranger, info.key, "not part of a vault", {}});
      continue;
    }
    loading.listed.insert(*id);
    if (!loading.covered.contains(*id)) wanted.push_back(*id);
  }
  for (const Id& id : wanted) {
    const Status loaded = LoadCommit(loading, id);
    if (loaded.ok()) continue;
    if (!IsAboutObject(loaded.error().code())) return loaded;
    findings_.push_back({ClassOf(loaded.error().code()),
                         ObjectKey(ObjectClass::kCommit, id),
                         loaded.error().message(),
                         {}});
  }
  return OkStatus();
}

Status Vault::LoadCommit(Loading& loading, const Id& id) {
  const auto known = loading.known.find(id);
  ObjectKeys keys;
  COFFER_ASSIGN_OR_RETURN(
      const SecretBuffer plaintext,
      ReadRecord(ObjectClass::kCommit, id, known == loading.known.end() ? nullptr : &known->second,
                 &keys));
  COFFER_ASSIGN_OR_RETURN(vault::Commit commit, DecodeCommit(plaintext.Expose(), seed_, id_));
  for (const KnownObject& other : commit.known) {
    loading.known.try_emplace(other.id, CopyOf(other.header_size, other.file_key));
  }
  loading.builder.AddCommit(id, std::move(commit), keys.header_size, keys.file_key);
  return OkStatus();
}

Status Vault::FindAbsences(const Loading& loading) {
  const std::vector<SeenCommit> seen = context_.installation.Seen();
  std::vector<Absence> absences;
  for (const State::Gap& gap : state_->Gaps(seen)) {
    // One that is there and cannot be read has its own finding.
    if (gap.id && loading.listed.contains(*gap.id)) continue;
    absences.push_back({gap.id.value_or(Id{}), gap.writer, gap.seq});
  }
  for (const Id& id : loading.covered) {
    if (loading.listed.contains(id)) continue;
    const CommitInfo* const info = state_->FindCommit(id);
    absences.push_back({id, info ? info->writer : WriterId{}, info ? info->seq : 0});
  }
  std::ranges::sort(absences);
  const auto repeated = std::ranges::unique(absences);
  absences.erase(repeated.begin(), repeated.end());

  const FileTime now = os::WallTime(context_.clock);
  std::vector<FirstNoticed> current;
  for (const Absence& absence : absences) {
    // What is newly absent and was here before has nothing to wait for. What was late when its
    // successors were seen stays so.
    const bool was_seen =
        absence.seq != 0 && std::ranges::any_of(seen, [&](const SeenCommit& commit) {
          return commit.writer == absence.writer && commit.seq >= absence.seq;
        });
    current.push_back({absence, was_seen ? FileTime{} : now});
  }
  COFFER_ASSIGN_OR_RETURN(const std::vector<FirstNoticed> noticed,
                          context_.installation.NoteAbsences(current));
  for (const FirstNoticed& one : noticed) {
    const bool late = now.seconds - one.when.seconds < kGraceSeconds;
    const std::string which = one.absence.id == Id{}
                                  ? "commit " + std::to_string(one.absence.seq) + " of writer " +
                                        hex::Encode(one.absence.writer)
                                  : ObjectKey(ObjectClass::kCommit, one.absence.id);
    findings_.push_back({late ? FindingClass::kPending : FindingClass::kMissing,
                         which,
                         late ? "referred to and not there yet" : "referred to and not there",
                         {}});
  }
  for (const State::Fork& fork : state_->Forks()) {
    findings_.push_back({FindingClass::kFork,
                         ObjectKey(ObjectClass::kCommit, fork.ids.front()),
                         std::to_string(fork.ids.size()) + " commits have number " +
                             std::to_string(fork.seq) + " of writer " + hex::Encode(fork.writer) +
                             ": its state was copied or restored",
                         {}});
  }
  for (const Id& id : state_->OutOfSequence()) {
    findings_.push_back({FindingClass::kOutOfSequence,
                         ObjectKey(ObjectClass::kCommit, id),
                         "does not follow the commit before it",
                         {}});
  }
  return OkStatus();
}

Status Vault::Remember() {
  std::vector<SeenCommit> newest;
  const std::vector<WriterSeq> highest = state_->newest();
  for (const CommitInfo& info : state_->commits()) {
    const WriterSeq here{info.writer, info.seq};
    if (std::ranges::binary_search(highest, here))
      newest.push_back({info.writer, info.seq, info.id});
  }
  std::ranges::sort(newest);
  // Of a fork, one.
  const auto repeated = std::ranges::unique(newest, {}, &SeenCommit::writer);
  newest.erase(repeated.begin(), repeated.end());
  return context_.installation.Remember(newest);
}

Status Vault::CheckWritable() const {
  for (const Finding& finding : findings_) {
    if (finding.what != FindingClass::kNeedsNewer) continue;
    return Error(ErrorCode::kNeedsNewer, "a newer coffer has written to this vault (" +
                                             finding.key + "); nothing was written");
  }
  return OkStatus();
}

// --- Other states.

Result<State> Vault::StateAt(const Moment& moment) {
  StateBuilder builder(segments_);
  for (const CommitInfo& info : state_->commits()) {
    const bool later = moment.commit
                           ? std::tie(info.time, info.id) > std::tie(moment.time, *moment.commit)
                           : info.time > moment.time;
    if (later) continue;
    COFFER_ASSIGN_OR_RETURN(vault::Commit commit, ReadCommit(info));
    builder.AddCommit(info.id, std::move(commit), info.header_size, info.file_key);
  }
  return std::move(builder).Build();
}

Result<vault::Commit> Vault::ReadCommit(const CommitInfo& info) {
  const ObjectKeys keys = CopyOf(info.header_size, info.file_key);
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer plaintext,
                          ReadRecord(ObjectClass::kCommit, info.id, &keys, nullptr));
  return DecodeCommit(plaintext.Expose(), seed_, id_);
}

Status Vault::VisitCommits(const CommitVisitor& visit) {
  for (const CommitInfo& info : state_->commits()) {
    const Result<vault::Commit> commit = ReadCommit(info);
    if (commit.ok()) {
      visit(info, *commit);
      continue;
    }
    if (!IsAboutObject(commit.error().code())) return commit.error();
    AddFinding(ClassOf(commit.error().code()), ObjectKey(ObjectClass::kCommit, info.id),
               commit.error().message());
  }
  return OkStatus();
}

// The first finding about an object says enough.
void Vault::AddFinding(FindingClass what, std::string key, std::string message) {
  const bool is_known =
      std::ranges::any_of(findings_, [&key](const Finding& finding) { return finding.key == key; });
  if (!is_known) findings_.push_back({what, std::move(key), std::move(message), {}});
}

}  // namespace coffer::vault
