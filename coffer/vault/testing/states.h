// SPDX-License-Identifier: Apache-2.0
// Commits in a few words, and states as text, for tests of what commits come to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coffer/vault/state.h"

namespace coffer::vault::testing {

// An id, or a writer, of bytes `n`.
Id IdOf(uint8_t n);
WriterId WriterOf(uint8_t n);

// Members have initializers so that those that are designated may leave them out.
// NOLINTBEGIN(readability-redundant-member-init)
struct Ref {
  uint8_t commit = 0;
  uint32_t index = 0;

  auto operator<=>(const Ref&) const = default;
};

// A path, and the versions that are replaced there.
struct PathSpec {
  std::string path;
  std::vector<Ref> refs{};
};

struct PinSpec {
  uint8_t commit = 0;
  bool pinned = true;
};

struct CommitSpec {
  uint8_t id = 1;  // below 100
  uint8_t writer = 1;
  uint64_t seq = 1;
  std::optional<uint8_t> previous{};
  int64_t time = 0;
  std::vector<PathSpec> entries{};
  std::vector<PathSpec> removals{};
  std::vector<PinSpec> pins{};
  std::optional<int64_t> horizon{};
  std::vector<WriterSeq> vector{};
  std::vector<uint8_t> known{};
};
// NOLINTEND(readability-redundant-member-init)

// Fills in a byte of data for each entry, in one of two segments. Sorts what a record has sorted;
// indexes are those of the order by path.
Commit ToCommit(const CommitSpec& spec);
void AddCommit(const CommitSpec& spec, StateBuilder& builder);
State StateOf(std::span<const CommitSpec> specs,
              std::shared_ptr<SegmentTable> segments = std::make_shared<SegmentTable>());
Checkpoint CheckpointOf(std::span<const CommitSpec> specs);

// A line for each version: the path, commit.index, and the segment and offset of the data.
std::string VersionsText(const State& state);
// All that is a function of the commits, one thing a line.
std::string Text(const State& state);

// The same from commits alone, as the document says it and without thought for cost.
std::string ExpectedText(std::span<const CommitSpec> specs);

}  // namespace coffer::vault::testing
