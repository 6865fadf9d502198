// SPDX-License-Identifier: Apache-2.0
// The state of a vault: what its commits come to, whatever order they and checkpoints of them
// arrive in (docs/format/vault.md, "State", "Sequence"). A State does not change.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "coffer/age/keys.h"
#include "coffer/vault/entry.h"
#include "coffer/vault/installation.h"
#include "coffer/vault/records.h"
#include "coffer/vault/segment_table.h"

namespace coffer::vault {

// A version by itself.
struct VersionId {
  Id commit{};
  uint32_t index = 0;

  auto operator<=>(const VersionId&) const = default;
};

// Of a commit that is part of the state.
struct CommitInfo {
  Id id{};
  WriterId writer{};
  uint64_t seq = 0;
  FileTime time;
  FileTime scan_started;
  uint64_t header_size = 0;
  age::FileKey file_key;
  bool covered = false;  // by a checkpoint that was loaded
};

struct Version {
  uint32_t commit = 0;  // an index into State::commits()
  uint32_t index = 0;   // among that commit's entries
  const Entry& entry;   // the state's; blobs refer to State::segments(), and replaces is empty
};

// The order of paths in a state: by bytes, with '/' as the smallest. It is that of their lists of
// components, so that what is below a directory follows it at once: a, a/x, a-b. Records have the
// plain order of bytes, in which a-b is before a/x.
std::strong_ordering ComparePaths(std::string_view a, std::string_view b);

// At most this many absent numbers are named of one writer, the lowest: a record may name any.
inline constexpr size_t kMaxGapsOfWriter = 10'000;

class State {
 public:
  struct Gap {
    WriterId writer{};  // zeros, and seq 0, where only the id is known
    uint64_t seq = 0;
    std::optional<Id> id;  // nothing where only the number is known

    auto operator<=>(const Gap&) const = default;
  };
  struct Fork {
    WriterId writer{};
    uint64_t seq = 0;
    std::vector<Id> ids;  // ascending, two or more
  };

  // Ascending by id.
  [[nodiscard]] const std::vector<CommitInfo>& commits() const { return commits_; }
  [[nodiscard]] const CommitInfo* FindCommit(const Id& id) const;

  // The live versions, ascending by path as ComparePaths has it, the current one of each path
  // first: that of the largest (time of the commit, commit id). Then by index.
  [[nodiscard]] const std::vector<Version>& versions() const { return versions_; }
  // Those of one path.
  [[nodiscard]] std::span<const Version> Find(std::string_view path) const;
  // Those of the path itself and of all that is under it; all if `path` is empty.
  [[nodiscard]] std::span<const Version> Below(std::string_view path) const;
  [[nodiscard]] VersionId IdOf(const Version& version) const;
  [[nodiscard]] const CommitInfo& CommitOf(const Version& version) const;

  // Shared with whoever writes.
  [[nodiscard]] SegmentTable& segments() const { return *segments_; }

  // The highest number that is there of each writer, ascending by writer.
  [[nodiscard]] std::vector<WriterSeq> newest() const;
  [[nodiscard]] const std::map<Id, bool>& pins() const { return pins_; }
  [[nodiscard]] std::optional<FileTime> horizon() const { return horizon_; }
  [[nodiscard]] size_t uncovered_count() const;

  // A checkpoint of level 0 that covers all commits of this state and builds on none.
  [[nodiscard]] Checkpoint ToCheckpoint(const VaultId& vault, FileTime time) const;

  // What is named and not there, ascending: numbers from 1 to the highest that a vector, a covered
  // list, a commit or `seen` names, and ids that commits name as the one before or as known, or
  // that `seen` has. Where a number's id is known they are one gap. A commit that is there only as
  // covered by a checkpoint names nothing but itself.
  [[nodiscard]] std::vector<Gap> Gaps(std::span<const SeenCommit> seen) const;
  // Ascending by writer and number.
  [[nodiscard]] std::vector<Fork> Forks() const;
  // The commits that name another one before them than the only one there of their writer and that
  // number, or one that is there and is of another writer or number. Ascending.
  [[nodiscard]] std::vector<Id> OutOfSequence() const;

 private:
  friend class StateBuilder;

  State() = default;

  std::shared_ptr<SegmentTable> segments_;
  std::vector<CommitInfo> commits_;
  std::vector<Version> versions_;
  // What versions_ refers to, as it was decoded: entries are large, and not held twice.
  std::deque<std::vector<Entry>> commit_entries_;
  std::deque<std::vector<CheckpointEntry>> checkpoint_entries_;
  std::vector<VersionId> tombstones_;  // replaced, of commits that are not there; ascending
  std::map<Id, bool> pins_;
  std::map<Id, PinState> pin_states_;
  std::optional<FileTime> horizon_;

  // What Gaps and OutOfSequence go by.
  std::map<WriterId, uint64_t> highest_named_;
  std::map<Id, WriterSeq> absent_;           // named by commits; zeros where only the id is known
  std::vector<std::optional<Id>> previous_;  // of each commit, if it was loaded as itself
};

// Puts a state together. Records are as Decode* gave them, their MACs right, of one vault.
class StateBuilder {
 public:
  // Blobs are made to refer to `segments`.
  explicit StateBuilder(std::shared_ptr<SegmentTable> segments);

  // A commit that is added twice, or that a checkpoint covers before or later, counts once.
  void AddCommit(const Id& id, Commit commit, uint64_t header_size, const age::FileKey& file_key);
  // The checkpoints that it builds on are to be added as well.
  void AddCheckpoint(Checkpoint checkpoint);

  State Build() &&;

 private:
  // A commit that was named in any way.
  struct Slot {
    CommitInfo info;
    std::optional<Id> previous;
    bool added = false;      // as itself
    uint32_t coverings = 0;  // how many checkpoints cover it
  };
  // An entry that is live if nothing replaces it.
  struct Candidate {
    VersionRef version;  // commit is a slot's number
    bool by_checkpoint = false;
    const Entry* entry = nullptr;  // the state's
  };

  uint32_t SlotOf(const Id& id);
  void AddCovered(CoveredCommit covered, uint32_t slot);
  void AddNames(const Commit& commit);
  void AddVector(std::span<const WriterSeq> vector);
  void AddPin(const PinState& pin);
  void AddHorizon(const std::optional<FileTime>& horizon);
  void AddReplaced(std::span<const VersionRef> refs, std::span<const uint32_t> slots);
  std::vector<uint32_t> SlotsOf(std::span<const Id> ids);
  std::vector<uint32_t> AddSegments(std::vector<KnownSegment> segments);

  [[nodiscard]] bool IsThere(const Slot& slot) const { return slot.added || slot.coverings != 0; }
  void KeepLive();
  std::vector<uint32_t> MoveCommits(State& state);
  void MoveVersions(std::span<const uint32_t> numbers, State& state);

  std::map<Id, uint32_t> numbers_;
  std::vector<Slot> slots_;
  std::vector<VersionRef> replaced_;  // commits are numbers of slots
  std::vector<Candidate> candidates_;
  State state_;
};

}  // namespace coffer::vault
