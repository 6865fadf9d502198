// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/testing/states.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace coffer::vault::testing {
namespace {

constexpr uint8_t kSharedSegment = 200;
constexpr uint8_t kOwnSegments = 100;

age::FileKey KeyOf(uint8_t n) {
  age::FileKey key;
  std::ranges::fill(key.ExposeMutable(), n);
  return key;
}

KnownSegment SegmentOf(uint8_t n) {
  return {.id = IdOf(n), .object_size = 1000, .header_size = 100, .file_key = KeyOf(n)};
}

std::vector<VersionRef> RefsOf(std::span<const Ref> refs, std::span<const Id> table) {
  std::vector<VersionRef> all;
  for (const Ref& ref : refs) {
    const auto place = std::ranges::lower_bound(table, IdOf(ref.commit));
    all.push_back(
        {.commit = static_cast<uint32_t>(std::distance(table.begin(), place)), .index = ref.index});
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::vector<PathSpec> Sorted(std::vector<PathSpec> specs) {
  std::ranges::sort(specs, {}, &PathSpec::path);
  return specs;
}

std::string Number(uint64_t n) { return std::to_string(n); }

std::string VersionLine(std::string_view path, uint8_t commit, uint32_t index, uint8_t segment,
                        uint64_t offset) {
  return std::string(path) + " " + Number(commit) + "." + Number(index) + " in " + Number(segment) +
         " at " + Number(offset) + "\n";
}

std::string CommitLine(uint8_t id, uint8_t writer, uint64_t seq, int64_t time) {
  return "commit " + Number(id) + " of " + Number(writer) + ", " + Number(seq) + ", at " +
         std::to_string(time) + "\n";
}

std::string PinLine(uint8_t commit, bool pinned) {
  return "commit " + Number(commit) + (pinned ? " is pinned\n" : " is not pinned\n");
}

std::string TombstoneLine(uint8_t commit, uint32_t index) {
  return "without " + Number(commit) + "." + Number(index) + "\n";
}

std::vector<std::string> Components(std::string_view path) {
  std::vector<std::string> all(1);
  for (const char c : path) {
    if (c == '/') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

std::set<Ref> ReplacedBy(std::span<const CommitSpec> specs) {
  std::set<Ref> replaced;
  for (const CommitSpec& commit : specs) {
    for (const PathSpec& entry : commit.entries) {
      replaced.insert(entry.refs.begin(), entry.refs.end());
    }
    for (const PathSpec& removal : commit.removals) {
      replaced.insert(removal.refs.begin(), removal.refs.end());
    }
  }
  return replaced;
}

std::string ExpectedVersions(std::span<const CommitSpec> specs, const std::set<Ref>& replaced) {
  // By components of the path, then the newest first.
  std::map<std::tuple<std::vector<std::string>, int64_t, int>, std::string> lines;
  for (const CommitSpec& commit : specs) {
    uint32_t index = 0;
    for (const PathSpec& entry : Sorted(commit.entries)) {
      const uint8_t segment =
          index % 2 == 0 ? kSharedSegment : static_cast<uint8_t>(kOwnSegments + commit.id);
      if (!replaced.contains({.commit = commit.id, .index = index})) {
        lines[{Components(entry.path), -commit.time, -commit.id}] =
            VersionLine(entry.path, commit.id, index, segment, commit.id * uint64_t{10} + index);
      }
      ++index;
    }
  }
  std::string text;
  for (const auto& [key, line] : lines) text += line;
  return text;
}

}  // namespace

Id IdOf(uint8_t n) {
  Id id{};
  id.fill(n);
  return id;
}

WriterId WriterOf(uint8_t n) {
  WriterId writer{};
  writer.fill(n);
  return writer;
}

Commit ToCommit(const CommitSpec& spec) {
  Commit commit;
  commit.writer = WriterOf(spec.writer);
  commit.seq = spec.seq;
  if (spec.previous) commit.previous = IdOf(*spec.previous);
  commit.time.seconds = spec.time;
  commit.vector = spec.vector;
  for (const uint8_t id : spec.known) {
    commit.known.push_back({.id = IdOf(id), .header_size = 100, .file_key = KeyOf(id)});
  }
  const CommitSpec specs[] = {spec};
  std::set<Id> referred;
  for (const Ref& ref : ReplacedBy(specs)) referred.insert(IdOf(ref.commit));
  commit.referred_commits.assign(referred.begin(), referred.end());
  commit.segments.push_back(SegmentOf(static_cast<uint8_t>(kOwnSegments + spec.id)));
  commit.segments.push_back(SegmentOf(kSharedSegment));
  uint32_t index = 0;
  for (const PathSpec& item : Sorted(spec.entries)) {
    Entry entry;
    entry.path = item.path;
    entry.size = 1;
    entry.blobs.push_back({.segment = index % 2 == 0 ? 1U : 0U,
                           .offset = spec.id * uint64_t{10} + index,
                           .stored_size = 1});
    entry.replaces = RefsOf(item.refs, commit.referred_commits);
    commit.entries.push_back(std::move(entry));
    ++index;
  }
  for (const PathSpec& item : Sorted(spec.removals)) {
    commit.removals.push_back(
        {.path = item.path, .versions = RefsOf(item.refs, commit.referred_commits)});
  }
  for (const PinSpec& pin : spec.pins) {
    commit.pins.push_back({.commit = IdOf(pin.commit), .pinned = pin.pinned});
  }
  if (spec.horizon) commit.horizon = FileTime{.seconds = *spec.horizon};
  return commit;
}

void AddCommit(const CommitSpec& spec, StateBuilder& builder) {
  builder.AddCommit(IdOf(spec.id), ToCommit(spec), 100, KeyOf(spec.id));
}

State StateOf(std::span<const CommitSpec> specs, std::shared_ptr<SegmentTable> segments) {
  StateBuilder builder(std::move(segments));
  for (const CommitSpec& spec : specs) AddCommit(spec, builder);
  return std::move(builder).Build();
}

Checkpoint CheckpointOf(std::span<const CommitSpec> specs) {
  return StateOf(specs).ToCheckpoint({}, {.seconds = 77});
}

std::string VersionsText(const State& state) {
  std::string text;
  for (const Version& version : state.versions()) {
    const Blob& blob = version.entry.blobs.at(0);
    text += VersionLine(version.entry.path, state.IdOf(version).commit[0], version.index,
                        state.segments().at(blob.segment).id[0], blob.offset);
  }
  return text;
}

std::string Text(const State& state) {
  std::string text;
  for (const CommitInfo& commit : state.commits()) {
    text += CommitLine(commit.id[0], commit.writer[0], commit.seq, commit.time.seconds);
  }
  text += VersionsText(state);
  for (const auto& [id, pinned] : state.pins()) text += PinLine(id[0], pinned);
  const std::optional<FileTime> horizon = state.horizon();
  if (horizon) text += "horizon " + std::to_string(horizon->seconds) + "\n";
  const Checkpoint checkpoint = state.ToCheckpoint({}, {});
  for (const VersionRef& ref : checkpoint.tombstones) {
    text += TombstoneLine(checkpoint.referred_commits.at(ref.commit)[0], ref.index);
  }
  return text;
}

std::string ExpectedText(std::span<const CommitSpec> specs) {
  std::map<uint8_t, const CommitSpec*> commits;
  for (const CommitSpec& commit : specs) commits[commit.id] = &commit;
  std::string text;
  for (const auto& [id, commit] : commits) {
    text += CommitLine(id, commit->writer, commit->seq, commit->time);
  }
  const std::set<Ref> replaced = ReplacedBy(specs);
  text += ExpectedVersions(specs, replaced);
  std::map<uint8_t, std::tuple<int64_t, uint8_t, bool>> pins;
  std::optional<int64_t> horizon;
  for (const auto& [id, commit] : commits) {
    horizon = std::max(horizon, commit->horizon);
    for (const PinSpec& pin : commit->pins) {
      const std::tuple<int64_t, uint8_t, bool> said(commit->time, id, pin.pinned);
      const auto [found, is_new] = pins.try_emplace(pin.commit, said);
      found->second = std::max(found->second, said);
    }
  }
  for (const auto& [commit, said] : pins) text += PinLine(commit, std::get<2>(said));
  if (horizon) text += "horizon " + std::to_string(*horizon) + "\n";
  for (const Ref& ref : replaced) {
    if (!commits.contains(ref.commit)) text += TombstoneLine(ref.commit, ref.index);
  }
  return text;
}

}  // namespace coffer::vault::testing
