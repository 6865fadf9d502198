// SPDX-License-Identifier: Apache-2.0
// What a state answers.
#include "coffer/vault/state.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "coffer/base/check.h"

namespace coffer::vault {
namespace {

bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// The segments that entries refer to, as a table ascending by id.
struct SegmentsOfEntries {
  std::vector<KnownSegment> table;
  std::map<uint32_t, uint32_t> places;  // in the table, by the number in a SegmentTable
};

SegmentsOfEntries CollectSegments(const std::vector<Version>& versions,
                                  const SegmentTable& segments) {
  std::map<Id, uint32_t> used;
  for (const Version& version : versions) {
    for (const Blob& blob : version.entry.blobs) {
      used.emplace(segments.at(blob.segment).id, blob.segment);
    }
  }
  SegmentsOfEntries collected;
  for (const auto& [id, number] : used) {
    const KnownSegment& segment = segments.at(number);
    collected.places.emplace(number, static_cast<uint32_t>(collected.table.size()));
    collected.table.push_back({.id = id,
                               .object_size = segment.object_size,
                               .header_size = segment.header_size,
                               .file_key = segment.file_key.Duplicate()});
  }
  return collected;
}

std::vector<CheckpointEntry> CopyEntries(const std::vector<Version>& versions,
                                         const std::map<uint32_t, uint32_t>& segment_places) {
  std::vector<CheckpointEntry> entries;
  entries.reserve(versions.size());
  for (const Version& version : versions) {
    CheckpointEntry& copy = entries.emplace_back(CheckpointEntry{
        .version = {.commit = version.commit, .index = version.index}, .entry = version.entry});
    for (Blob& blob : copy.entry.blobs) blob.segment = segment_places.at(blob.segment);
  }
  std::ranges::sort(entries, {}, [](const CheckpointEntry& item) {
    return std::tuple(std::string_view(item.entry.path), item.version);
  });
  return entries;
}

void SetTombstones(std::span<const VersionId> tombstones, Checkpoint& checkpoint) {
  for (const VersionId& version : tombstones) {
    std::vector<Id>& commits = checkpoint.referred_commits;
    if (commits.empty() || commits.back() != version.commit) commits.push_back(version.commit);
    checkpoint.tombstones.push_back(
        {.commit = static_cast<uint32_t>(commits.size() - 1), .index = version.index});
  }
}

}  // namespace

std::strong_ordering ComparePaths(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  if (in_a == a.end() || in_b == b.end()) return a.size() <=> b.size();
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return rank(*in_a) <=> rank(*in_b);
}

const CommitInfo* State::FindCommit(const Id& id) const {
  const auto found = std::ranges::lower_bound(commits_, id, {}, &CommitInfo::id);
  return found != commits_.end() && found->id == id ? &*found : nullptr;
}

std::span<const Version> State::Find(std::string_view path) const {
  const auto first = std::ranges::partition_point(versions_, [&](const Version& version) {
    return ComparePaths(version.entry.path, path) < 0;
  });
  const auto last = std::partition_point(
      first, versions_.end(), [&](const Version& version) { return version.entry.path == path; });
  return {first, last};
}

std::span<const Version> State::Below(std::string_view path) const {
  if (path.empty()) return versions_;
  const auto first = std::ranges::partition_point(versions_, [&](const Version& version) {
    return ComparePaths(version.entry.path, path) < 0;
  });
  const auto last = std::partition_point(first, versions_.end(), [&](const Version& version) {
    return IsAtOrBelow(version.entry.path, path);
  });
  return {first, last};
}

VersionId State::IdOf(const Version& version) const {
  return {.commit = CommitOf(version).id, .index = version.index};
}

const CommitInfo& State::CommitOf(const Version& version) const {
  COFFER_CHECK(version.commit < commits_.size());
  return commits_[version.commit];
}

std::vector<WriterSeq> State::newest() const {
  std::map<WriterId, uint64_t> highest;
  for (const CommitInfo& commit : commits_) {
    uint64_t& seq = highest[commit.writer];
    seq = std::max(seq, commit.seq);
  }
  std::vector<WriterSeq> all;
  all.reserve(highest.size());
  for (const auto& [writer, seq] : highest) all.push_back({.writer = writer, .seq = seq});
  return all;
}

size_t State::uncovered_count() const {
  return static_cast<size_t>(
      std::ranges::count_if(commits_, [](const CommitInfo& commit) { return !commit.covered; }));
}

Checkpoint State::ToCheckpoint(const VaultId& vault, FileTime time) const {
  SegmentsOfEntries segments = CollectSegments(versions_, *segments_);
  Checkpoint checkpoint;
  checkpoint.vault = vault;
  checkpoint.time = time;
  checkpoint.vector = newest();
  checkpoint.covered.reserve(commits_.size());
  for (const CommitInfo& commit : commits_) {
    checkpoint.covered.push_back({.id = commit.id,
                                  .writer = commit.writer,
                                  .seq = commit.seq,
                                  .time = commit.time,
                                  .scan_started = commit.scan_started,
                                  .header_size = commit.header_size,
                                  .file_key = commit.file_key.Duplicate()});
  }
  checkpoint.entries = CopyEntries(versions_, segments.places);
  checkpoint.segments = std::move(segments.table);
  SetTombstones(tombstones_, checkpoint);
  checkpoint.pins.reserve(pin_states_.size());
  for (const auto& [id, pin] : pin_states_) checkpoint.pins.push_back(pin);
  checkpoint.horizon = horizon_;
  return checkpoint;
}

std::vector<State::Gap> State::Gaps(std::span<const SeenCommit> seen) const {
  std::map<WriterId, uint64_t> highest = highest_named_;
  std::map<Id, WriterSeq> absent = absent_;
  for (const SeenCommit& commit : seen) {
    uint64_t& seq = highest[commit.writer];
    seq = std::max(seq, commit.seq);
    if (FindCommit(commit.id) == nullptr) {
      absent[commit.id] = {.writer = commit.writer, .seq = commit.seq};
    }
  }
  std::vector<Gap> gaps;
  std::set<WriterSeq> explained;
  for (const CommitInfo& commit : commits_) {
    explained.insert({.writer = commit.writer, .seq = commit.seq});
  }
  for (const auto& [id, place] : absent) {
    gaps.push_back({.writer = place.writer, .seq = place.seq, .id = id});
    explained.insert(place);
  }
  for (const auto& [writer, last] : highest) {
    size_t count = 0;
    for (uint64_t seq = 0; seq < last && count < kMaxGapsOfWriter; ++seq) {
      if (explained.contains({.writer = writer, .seq = seq + 1})) continue;
      gaps.push_back({.writer = writer, .seq = seq + 1, .id = std::nullopt});
      ++count;
    }
  }
  std::ranges::sort(gaps);
  return gaps;
}

std::vector<State::Fork> State::Forks() const {
  std::map<WriterSeq, std::vector<Id>> places;
  for (const CommitInfo& commit : commits_) {
    places[{.writer = commit.writer, .seq = commit.seq}].push_back(commit.id);
  }
  std::vector<Fork> forks;
  for (auto& [place, ids] : places) {
    if (ids.size() < 2) continue;
    forks.push_back({.writer = place.writer, .seq = place.seq, .ids = std::move(ids)});
  }
  return forks;
}

std::vector<Id> State::OutOfSequence() const {
  std::map<WriterSeq, size_t> counts;
  for (const CommitInfo& commit : commits_) {
    ++counts[{.writer = commit.writer, .seq = commit.seq}];
  }
  std::vector<Id> out;
  for (size_t i = 0; i < commits_.size(); ++i) {
    const std::optional<Id>& named = previous_[i];
    if (!named) continue;
    const WriterSeq before = {.writer = commits_[i].writer, .seq = commits_[i].seq - 1};
    const CommitInfo* previous = FindCommit(*named);
    const bool wrong = previous == nullptr
                           ? counts.contains(before) && counts.at(before) == 1
                           : previous->writer != before.writer || previous->seq != before.seq;
    if (wrong) out.push_back(commits_[i].id);
  }
  return out;
}

}  // namespace coffer::vault
