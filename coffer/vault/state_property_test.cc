// SPDX-License-Identifier: Apache-2.0
// States against a model, over random commits that refer to each other at will. A failure prints
// the seed that repeats it.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "coffer/vault/testing/states.h"

namespace coffer::vault {
namespace {

using testing::CheckpointOf;
using testing::CommitSpec;
using testing::ExpectedText;
using testing::PathSpec;
using testing::Ref;
using testing::Text;

// Ids from `last` + 1 on are nobody's.
std::vector<Ref> RandomRefs(uint8_t last) {
  const auto count = *rc::gen::inRange<size_t>(0, 3);
  std::set<Ref> refs;
  for (size_t i = 0; i < count; ++i) {
    refs.insert({.commit = *rc::gen::inRange<uint8_t>(1, static_cast<uint8_t>(last + 3)),
                 .index = *rc::gen::inRange<uint32_t>(0, 4)});
  }
  return {refs.begin(), refs.end()};
}

CommitSpec RandomCommit(uint8_t id, uint8_t last) {
  CommitSpec commit;
  commit.id = id;
  commit.writer = *rc::gen::inRange<uint8_t>(1, 4);
  commit.seq = *rc::gen::inRange<uint64_t>(1, 4);
  if (commit.seq > 1) commit.previous = *rc::gen::inRange<uint8_t>(1, 20);
  commit.time = *rc::gen::inRange(-2, 2);
  for (const char* path : {"a", "a/b", "a-b", "a-b/c", "b"}) {
    const int choice = *rc::gen::inRange(0, 4);
    if (choice == 0) commit.entries.push_back({.path = path, .refs = RandomRefs(last)});
    if (choice != 1) continue;
    PathSpec removal = {.path = path, .refs = RandomRefs(last)};
    if (!removal.refs.empty()) commit.removals.push_back(std::move(removal));
  }
  for (uint8_t pinned = 1; pinned < 4; ++pinned) {
    if (*rc::gen::inRange(0, 3) != 0) continue;
    commit.pins.push_back({.commit = pinned, .pinned = *rc::gen::arbitrary<bool>()});
  }
  if (*rc::gen::inRange(0, 3) == 0) commit.horizon = *rc::gen::inRange(-9, 9);
  return commit;
}

RC_GTEST_PROP(StateProperty, IsThatOfTheModel, ()) {
  const auto count = *rc::gen::inRange<uint8_t>(0, 9);
  std::vector<CommitSpec> commits;
  commits.reserve(count);
  for (uint8_t id = 1; id <= count; ++id) commits.push_back(RandomCommit(id, count));

  // Any order; at each place perhaps a checkpoint of some; what is covered may be left out.
  StateBuilder builder(std::make_shared<SegmentTable>());
  std::set<uint8_t> covered;
  std::vector<std::pair<int, size_t>> order;
  order.reserve(commits.size());
  for (size_t i = 0; i < commits.size(); ++i) order.emplace_back(*rc::gen::inRange(0, 1000), i);
  std::ranges::sort(order);
  for (const auto& [rank, i] : order) {
    if (*rc::gen::inRange(0, 4) == 0) {
      std::vector<CommitSpec> some;
      for (const CommitSpec& commit : commits) {
        if (*rc::gen::arbitrary<bool>()) some.push_back(commit);
      }
      for (const CommitSpec& commit : some) covered.insert(commit.id);
      builder.AddCheckpoint(CheckpointOf(some));
    }
    if (covered.contains(commits[i].id) && *rc::gen::arbitrary<bool>()) continue;
    AddCommit(commits[i], builder);
  }
  const State state = std::move(builder).Build();
  RC_ASSERT(Text(state) == ExpectedText(commits));
  RC_ASSERT(state.uncovered_count() == commits.size() - covered.size());
}

}  // namespace
}  // namespace coffer::vault
