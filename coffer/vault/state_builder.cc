// SPDX-License-Identifier: Apache-2.0
// How commits and checkpoints become a State.
#include <algorithm>
#include <tuple>
#include <utility>

#include "coffer/base/check.h"
#include "coffer/vault/state.h"

namespace coffer::vault {

StateBuilder::StateBuilder(std::shared_ptr<SegmentTable> segments) {
  state_.segments_ = std::move(segments);
}

void StateBuilder::AddCommit(const Id& id, Commit commit, uint64_t header_size,
                             const age::FileKey& file_key) {
  const uint32_t number = SlotOf(id);
  if (slots_[number].added) return;
  slots_[number].added = true;
  slots_[number].previous = commit.previous;
  slots_[number].info = {.id = id,
                         .writer = commit.writer,
                         .seq = commit.seq,
                         .time = commit.time,
                         .scan_started = commit.scan_started,
                         .header_size = header_size,
                         .file_key = file_key.Duplicate()};
  AddNames(commit);
  // What a covered commit says is in the checkpoint.
  if (slots_[number].coverings != 0) return;
  for (const Pin& pin : commit.pins) AddPin({.pin = pin, .time = commit.time, .by = id});
  AddHorizon(commit.horizon);
  const std::vector<uint32_t> referred = SlotsOf(commit.referred_commits);
  for (const Removal& removal : commit.removals) AddReplaced(removal.versions, referred);

  const std::vector<uint32_t> segments = AddSegments(std::move(commit.segments));
  std::vector<Entry>& entries = state_.commit_entries_.emplace_back(std::move(commit.entries));
  for (uint32_t i = 0; i < entries.size(); ++i) {
    AddReplaced(entries[i].replaces, referred);
    entries[i].replaces = {};
    for (Blob& blob : entries[i].blobs) blob.segment = segments.at(blob.segment);
    candidates_.push_back({.version = {.commit = number, .index = i}, .entry = &entries[i]});
  }
}

void StateBuilder::AddCheckpoint(Checkpoint checkpoint) {
  std::vector<uint32_t> covered;
  for (CoveredCommit& commit : checkpoint.covered) {
    covered.push_back(SlotOf(commit.id));
    AddCovered(std::move(commit), covered.back());
  }
  AddVector(checkpoint.vector);
  for (const PinState& pin : checkpoint.pins) AddPin(pin);
  AddHorizon(checkpoint.horizon);
  AddReplaced(checkpoint.tombstones, SlotsOf(checkpoint.referred_commits));

  const std::vector<uint32_t> segments = AddSegments(std::move(checkpoint.segments));
  auto& entries = state_.checkpoint_entries_.emplace_back(std::move(checkpoint.entries));
  for (CheckpointEntry& item : entries) {
    for (Blob& blob : item.entry.blobs) blob.segment = segments.at(blob.segment);
    candidates_.push_back(
        {.version = {.commit = covered.at(item.version.commit), .index = item.version.index},
         .by_checkpoint = true,
         .entry = &item.entry});
  }
}

State StateBuilder::Build() && {
  KeepLive();
  const std::vector<uint32_t> numbers = MoveCommits(state_);
  MoveVersions(numbers, state_);
  candidates_ = {};
  std::erase_if(state_.absent_,
                [&](const auto& item) { return state_.FindCommit(item.first) != nullptr; });
  for (const auto& [id, pin] : state_.pin_states_) state_.pins_.emplace(id, pin.pin.pinned);
  return std::move(state_);
}

uint32_t StateBuilder::SlotOf(const Id& id) {
  const auto [place, is_new] = numbers_.try_emplace(id, static_cast<uint32_t>(slots_.size()));
  if (is_new) slots_.emplace_back().info.id = id;
  return place->second;
}

std::vector<uint32_t> StateBuilder::SlotsOf(std::span<const Id> ids) {
  std::vector<uint32_t> slots;
  slots.reserve(ids.size());
  for (const Id& id : ids) slots.push_back(SlotOf(id));
  return slots;
}

void StateBuilder::AddCovered(CoveredCommit covered, uint32_t slot) {
  const WriterSeq place = {.writer = covered.writer, .seq = covered.seq};
  AddVector({&place, 1});
  ++slots_[slot].coverings;
  if (slots_[slot].added) return;
  slots_[slot].info = {.id = covered.id,
                       .writer = covered.writer,
                       .seq = covered.seq,
                       .time = covered.time,
                       .scan_started = covered.scan_started,
                       .header_size = covered.header_size,
                       .file_key = std::move(covered.file_key)};
}

void StateBuilder::AddNames(const Commit& commit) {
  const WriterSeq itself = {.writer = commit.writer, .seq = commit.seq};
  AddVector({&itself, 1});
  AddVector(commit.vector);
  // An id alone is the least of names.
  const auto name = [&](const Id& id, const WriterSeq& where) {
    WriterSeq& place = state_.absent_[id];
    place = std::max(place, where);
  };
  if (commit.previous) name(*commit.previous, {.writer = commit.writer, .seq = commit.seq - 1});
  for (const KnownObject& known : commit.known) name(known.id, {});
}

void StateBuilder::AddVector(std::span<const WriterSeq> vector) {
  for (const WriterSeq& item : vector) {
    uint64_t& seq = state_.highest_named_[item.writer];
    seq = std::max(seq, item.seq);
  }
}

void StateBuilder::AddPin(const PinState& pin) {
  const auto [found, is_new] = state_.pin_states_.try_emplace(pin.pin.commit, pin);
  if (is_new) return;
  PinState& there = found->second;
  if (std::tie(there.time, there.by) < std::tie(pin.time, pin.by)) there = pin;
}

void StateBuilder::AddHorizon(const std::optional<FileTime>& horizon) {
  state_.horizon_ = std::max(state_.horizon_, horizon);
}

void StateBuilder::AddReplaced(std::span<const VersionRef> refs, std::span<const uint32_t> slots) {
  for (const VersionRef& ref : refs) {
    COFFER_CHECK(ref.commit < slots.size());
    replaced_.push_back({.commit = slots[ref.commit], .index = ref.index});
  }
}

std::vector<uint32_t> StateBuilder::AddSegments(std::vector<KnownSegment> segments) {
  std::vector<uint32_t> numbers;
  numbers.reserve(segments.size());
  for (KnownSegment& segment : segments) {
    numbers.push_back(state_.segments_->Add(std::move(segment)));
  }
  return numbers;
}

// Leaves one candidate of each live version. A version of a covered commit has to be in every
// checkpoint that covers it: the others know what replaced it.
void StateBuilder::KeepLive() {
  std::ranges::sort(replaced_);
  const auto repeated = std::ranges::unique(replaced_);
  replaced_.erase(repeated.begin(), repeated.end());
  std::ranges::sort(candidates_, {}, [](const Candidate& candidate) {
    return std::tuple(candidate.version, !candidate.by_checkpoint);
  });
  size_t kept = 0;
  for (size_t i = 0; i < candidates_.size();) {
    const VersionRef version = candidates_[i].version;
    uint32_t coverings = 0;
    size_t end = i;
    for (; end < candidates_.size() && candidates_[end].version == version; ++end) {
      if (candidates_[end].by_checkpoint) ++coverings;
    }
    if (coverings >= slots_[version.commit].coverings &&
        !std::ranges::binary_search(replaced_, version)) {
      candidates_[kept++] = candidates_[i];
    }
    i = end;
  }
  candidates_.resize(kept);
}

// The place of each slot among the state's commits.
std::vector<uint32_t> StateBuilder::MoveCommits(State& state) {
  std::vector<uint32_t> numbers(slots_.size());
  for (const auto& [id, slot] : numbers_) {
    if (!IsThere(slots_[slot])) continue;
    numbers[slot] = static_cast<uint32_t>(state.commits_.size());
    state.previous_.push_back(slots_[slot].previous);
    state.commits_.push_back(std::move(slots_[slot].info));
    state.commits_.back().covered = slots_[slot].coverings != 0;
  }
  for (const VersionRef& version : replaced_) {
    if (IsThere(slots_[version.commit])) continue;
    state.tombstones_.push_back({.commit = slots_[version.commit].info.id, .index = version.index});
  }
  std::ranges::sort(state.tombstones_);
  return numbers;
}

void StateBuilder::MoveVersions(std::span<const uint32_t> numbers, State& state) {
  for (Candidate& candidate : candidates_) {
    candidate.version.commit = numbers[candidate.version.commit];
  }
  std::ranges::sort(candidates_, [&](const Candidate& a, const Candidate& b) {
    const auto order = ComparePaths(a.entry->path, b.entry->path);
    if (order != 0) return order < 0;
    // Commits ascend by id, so that their numbers compare as their ids do.
    const FileTime& time_a = state.commits_[a.version.commit].time;
    const FileTime& time_b = state.commits_[b.version.commit].time;
    return std::tie(time_b, b.version.commit, a.version.index) <
           std::tie(time_a, a.version.commit, b.version.index);
  });
  state.versions_.reserve(candidates_.size());
  for (const Candidate& candidate : candidates_) {
    state.versions_.push_back({.commit = candidate.version.commit,
                               .index = candidate.version.index,
                               .entry = *candidate.entry});
  }
}

}  // namespace coffer::vault
