// SPDX-License-Identifier: Apache-2.0
// What commits come to (docs/format/vault.md, "State" and "Sequence").
#include "coffer/vault/state.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "coffer/vault/testing/states.h"

namespace coffer::vault {
namespace {

using testing::CheckpointOf;
using testing::CommitSpec;
using testing::IdOf;
using testing::StateOf;
using testing::Text;
using testing::VersionsText;
using testing::WriterOf;

// Three writers; 1.0 to 1.2 are a, b and d/x. Writers 2 and 3 know of commit 1 only at first, and
// nobody has commit 99.
const std::array<CommitSpec, 6>& Commits() {
  static const std::array<CommitSpec, 6> commits = {
      CommitSpec{.id = 1, .writer = 1, .time = 10, .entries = {{"a", {}}, {"b", {}}, {"d/x", {}}}},
      CommitSpec{.id = 2,
                 .writer = 1,
                 .seq = 2,
                 .previous = 1,
                 .time = 20,
                 .entries = {{"a", {{1, 0}}}, {"e/y", {}}},
                 .horizon = 5},
      // Removes b, moves d/x.
      CommitSpec{.id = 3,
                 .writer = 2,
                 .time = 20,
                 .entries = {{"e/x", {}}, {"g", {}}},
                 .removals = {{"b", {{1, 1}}}, {"d/x", {{1, 2}}}},
                 .pins = {{.commit = 1}}},
      // In conflict with 2 over a, with 3 over e/x.
      CommitSpec{
          .id = 4, .writer = 3, .time = 20, .entries = {{"a", {{1, 0}}}, {"b", {}}, {"e/x", {}}}},
      CommitSpec{.id = 5,
                 .writer = 2,
                 .seq = 2,
                 .previous = 3,
                 .time = 30,
                 .entries = {{"g", {{3, 1}, {99, 3}}}},
                 .removals = {{"b", {{4, 1}}}},
                 .pins = {{.commit = 1, .pinned = false}, {.commit = 2}},
                 .horizon = 7},
      // Of a clock that is late: its pin of 1 is not the newest.
      CommitSpec{.id = 6,
                 .writer = 3,
                 .seq = 2,
                 .previous = 4,
                 .time = 15,
                 .entries = {{"e/y", {{2, 1}}}, {"g", {{99, 4}}}},
                 .pins = {{.commit = 1}}},
  };
  return commits;
}

constexpr std::string_view kState =
    "commit 1 of 1, 1, at 10\n"
    "commit 2 of 1, 2, at 20\n"
    "commit 3 of 2, 1, at 20\n"
    "commit 4 of 3, 1, at 20\n"
    "commit 5 of 2, 2, at 30\n"
    "commit 6 of 3, 2, at 15\n"
    "a 4.0 in 200 at 40\n"
    "a 2.0 in 200 at 20\n"
    "e/x 4.2 in 200 at 42\n"
    "e/x 3.0 in 200 at 30\n"
    "e/y 6.0 in 200 at 60\n"
    "g 5.0 in 200 at 50\n"
    "g 6.1 in 106 at 61\n"
    "commit 1 is not pinned\n"
    "commit 2 is pinned\n"
    "horizon 7\n"
    "without 99.3\n"
    "without 99.4\n";

TEST(StateTest, CommitsComeToOneState) {
  const State state = StateOf(Commits());
  EXPECT_EQ(Text(state), kState);
  EXPECT_EQ(state.uncovered_count(), 6U);
  EXPECT_EQ(state.commits()[1].header_size, 100U);
  EXPECT_EQ(state.commits()[1].file_key.Expose()[0], 2);
  const std::vector<WriterSeq> newest = {{.writer = WriterOf(1), .seq = 2},
                                         {.writer = WriterOf(2), .seq = 2},
                                         {.writer = WriterOf(3), .seq = 2}};
  EXPECT_EQ(state.newest(), newest);
  for (const Version& version : state.versions()) EXPECT_TRUE(version.entry.replaces.empty());
}

enum class Covered : uint8_t { kLeftOut, kAddedToo };

// The commits in `order`, and before the one at `place` a checkpoint of those of `mask`.
std::string TextWith(std::span<const size_t> order, size_t place, unsigned mask, Covered covered) {
  std::vector<CommitSpec> subset;
  for (size_t i = 0; i < Commits().size(); ++i) {
    if ((mask >> i & 1) != 0) subset.push_back(Commits()[i]);
  }
  StateBuilder builder(std::make_shared<SegmentTable>());
  for (size_t i = 0; i <= order.size(); ++i) {
    if (i == place) builder.AddCheckpoint(CheckpointOf(subset));
    if (i == order.size()) break;
    if (covered == Covered::kLeftOut && (mask >> order[i] & 1) != 0) continue;
    AddCommit(Commits()[order[i]], builder);
  }
  const State state = std::move(builder).Build();
  EXPECT_EQ(state.uncovered_count(), Commits().size() - subset.size());
  return Text(state);
}

TEST(StateTest, OrderAndCheckpointsMakeNoDifference) {
  std::array<size_t, 6> order{};
  std::iota(order.begin(), order.end(), size_t{0});
  unsigned turn = 0;
  do {
    std::vector<CommitSpec> commits;
    commits.reserve(order.size());
    for (const size_t i : order) commits.push_back(Commits()[i]);
    ASSERT_EQ(Text(StateOf(commits)), kState);
    // Every subset comes by at every place, both ways, and so does each number of first commits.
    const Covered covered = turn / 64 % 2 == 0 ? Covered::kLeftOut : Covered::kAddedToo;
    for (size_t place = 0; place <= order.size(); ++place) {
      unsigned prefix = 0;
      for (size_t i = 0; i < (turn + place) % 7; ++i) prefix |= 1U << order[i];
      for (const unsigned mask : {turn % 64, prefix}) {
        ASSERT_EQ(TextWith(order, place, mask, covered), kState)
            << ::testing::PrintToString(order) << place << " " << mask;
      }
    }
    ++turn;
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(turn, 720U);
}

TEST(StateTest, ACommitThatIsAddedTwiceCountsOnce) {
  std::vector<CommitSpec> commits(Commits().begin(), Commits().end());
  commits.push_back(Commits()[0]);
  commits.push_back(Commits()[4]);
  EXPECT_EQ(Text(StateOf(commits)), kState);
}

TEST(StateTest, CheckpointsThatOverlapAndThatBuildOnOthers) {
  const std::span<const CommitSpec> all = Commits();
  for (size_t i = 0; i <= 6; ++i) {
    for (size_t j = 0; j <= 6; ++j) {
      StateBuilder builder(std::make_shared<SegmentTable>());
      builder.AddCheckpoint(CheckpointOf(all.first(i)));
      builder.AddCheckpoint(CheckpointOf(all.subspan(std::min(i, j))));
      builder.AddCheckpoint(CheckpointOf(all.first(j)));
      EXPECT_EQ(Text(std::move(builder).Build()), kState) << i << " " << j;
    }
  }
}

TEST(StateTest, CheckpointsSurviveTheirEncoding) {
  crypto::CofferSeed seed;
  const VaultId vault = {7};
  for (size_t count = 0; count <= 6; ++count) {
    const std::span<const CommitSpec> covered = std::span(Commits()).first(count);
    const State state = StateOf(covered);
    const Checkpoint checkpoint = state.ToCheckpoint(vault, {.seconds = 77});
    EXPECT_EQ(checkpoint.vector, state.newest());
    const auto bytes = EncodeCheckpoint(checkpoint, seed);
    ASSERT_TRUE(bytes.ok());
    StateBuilder builder(std::make_shared<SegmentTable>());
    Result<Checkpoint> decoded = DecodeCheckpoint(bytes->Expose(), seed, vault);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->time.seconds, 77);
    builder.AddCheckpoint(std::move(*decoded));
    const State again = std::move(builder).Build();
    EXPECT_EQ(Text(again), Text(state)) << count;
    EXPECT_EQ(again.uncovered_count(), 0U);
  }
}

TEST(StateTest, CheckpointsNameTheSegmentsOfLiveVersionsOnly) {
  // A table whose numbers are not in the order of ids.
  auto segments = std::make_shared<SegmentTable>();
  segments->Reserve();
  const Checkpoint checkpoint = StateOf(Commits(), segments).ToCheckpoint({}, {});
  ASSERT_EQ(checkpoint.segments.size(), 2U);
  EXPECT_EQ(checkpoint.segments[0].id, IdOf(106));
  EXPECT_EQ(checkpoint.segments[0].file_key.Expose()[0], 106);
  EXPECT_EQ(checkpoint.segments[1].id, IdOf(200));
  EXPECT_EQ(checkpoint.entries.back().entry.path, "g");
  EXPECT_EQ(checkpoint.entries.back().entry.blobs[0].segment, 0U);
  EXPECT_EQ(checkpoint.entries.front().entry.blobs[0].segment, 1U);
}

TEST(StateTest, OfOneTimeTheLargerIdIsCurrent) {
  const CommitSpec commits[] = {{.id = 9, .writer = 1, .time = 5, .entries = {{"p", {}}}},
                                {.id = 4, .writer = 2, .time = 5, .entries = {{"p", {}}}},
                                {.id = 2, .writer = 3, .time = 6, .entries = {{"p", {}}}}};
  EXPECT_EQ(VersionsText(StateOf(commits)),
            "p 2.0 in 200 at 20\n"
            "p 9.0 in 200 at 90\n"
            "p 4.0 in 200 at 40\n");
}

std::string PathsOf(std::span<const Version> versions) {
  std::string paths;
  for (const Version& version : versions) paths += version.entry.path + " ";
  return paths;
}

TEST(StateTest, FindAndBelow) {
  const CommitSpec commits[] = {
      {.id = 1,
       .time = 2,
       .entries = {{"a", {}},
                   {"a-b", {}},
                   {"a-b/z", {}},
                   {"a.b", {}},
                   {"a/x", {}},
                   {"a/x-y", {}},
                   {"a/x/1", {}},
                   {"a\x01", {}},
                   {"a\xff", {}},
                   {"ab", {}}}},
      {.id = 2, .writer = 2, .time = 1, .entries = {{"a/x", {}}, {"A", {}}, {"b/c/d", {}}}}};
  const State state = StateOf(commits);
  EXPECT_EQ(PathsOf(state.versions()),
            "A a a/x a/x a/x/1 a/x-y a\x01 a-b a-b/z a.b ab a\xff b/c/d ");
  EXPECT_EQ(PathsOf(state.Below("")), PathsOf(state.versions()));
  EXPECT_EQ(PathsOf(state.Below("a")), "a a/x a/x a/x/1 a/x-y ");
  EXPECT_EQ(PathsOf(state.Below("a/x")), "a/x a/x a/x/1 ");
  EXPECT_EQ(PathsOf(state.Below("a-b")), "a-b a-b/z ");
  EXPECT_EQ(PathsOf(state.Below("b")), "b/c/d ");
  EXPECT_EQ(PathsOf(state.Below("b/c/d")), "b/c/d ");
  EXPECT_EQ(PathsOf(state.Below("a/")), "");
  EXPECT_EQ(PathsOf(state.Below("c")), "");
  EXPECT_EQ(PathsOf(state.Find("a")), "a ");
  EXPECT_EQ(PathsOf(state.Find("b")), "");
  EXPECT_EQ(PathsOf(state.Find("")), "");
  ASSERT_EQ(PathsOf(state.Find("a/x")), "a/x a/x ");
  EXPECT_EQ(state.IdOf(state.Find("a/x")[0]), (VersionId{.commit = IdOf(1), .index = 5}));
  EXPECT_EQ(state.CommitOf(state.Find("a/x")[1]).id, IdOf(2));
  EXPECT_EQ(PathsOf(StateOf({}).Below("a")), "");
}

std::string GapsText(const State& state, std::vector<SeenCommit> seen = {}) {
  std::string text;
  for (const State::Gap& gap : state.Gaps(seen)) {
    text += std::to_string(gap.writer[0]) + "/" + std::to_string(gap.seq) +
            (gap.id ? "=" + std::to_string((*gap.id)[0]) : "") + " ";
  }
  return text;
}

TEST(StateTest, Gaps) {
  EXPECT_EQ(GapsText(StateOf(Commits())), "");
  const CommitSpec commits[] = {
      // 2 and 3 of writer 1 are not there; 3 is commit 13.
      {.id = 11, .writer = 1, .seq = 1, .known = {13}},
      {.id = 14, .writer = 1, .seq = 4, .previous = 13, .known = {11, 13, 50}},
      {.id = 21,
       .writer = 2,
       .seq = 1,
       .vector = {{.writer = WriterOf(1), .seq = 5}, {.writer = WriterOf(3), .seq = 2}}}};
  const State state = StateOf(commits);
  EXPECT_EQ(GapsText(state), "0/0=50 1/2 1/3=13 1/5 3/1 3/2 ");
  EXPECT_EQ(GapsText(state, {{.writer = WriterOf(1), .seq = 2, .id = IdOf(12)},
                             {.writer = WriterOf(2), .seq = 1, .id = IdOf(21)},
                             {.writer = WriterOf(2), .seq = 3, .id = IdOf(50)},
                             {.writer = WriterOf(4), .seq = 1, .id = IdOf(41)}}),
            "1/2=12 1/3=13 1/5 2/2 2/3=50 3/1 3/2 4/1=41 ");
  // Another commit took the number of one that was seen.
  EXPECT_EQ(GapsText(StateOf(std::span(commits).first(1)),
                     {{.writer = WriterOf(1), .seq = 1, .id = IdOf(10)}}),
            "0/0=13 1/1=10 ");
}

TEST(StateTest, GapsThatCheckpointsTellOf) {
  Checkpoint checkpoint = CheckpointOf(Commits());
  EXPECT_EQ(checkpoint.covered.size(), 6U);
  checkpoint.vector[0].seq = 3;
  checkpoint.covered[4].seq = 4;  // commit 5, of writer 2
  StateBuilder builder(std::make_shared<SegmentTable>());
  builder.AddCheckpoint(std::move(checkpoint));
  EXPECT_EQ(GapsText(std::move(builder).Build()), "1/3 2/2 2/3 ");
}

TEST(StateTest, GapsAreBounded) {
  const CommitSpec commits[] = {
      {.id = 1, .vector = {{.writer = WriterOf(2), .seq = std::numeric_limits<uint64_t>::max()}}}};
  const std::vector<State::Gap> gaps = StateOf(commits).Gaps({});
  ASSERT_EQ(gaps.size(), kMaxGapsOfWriter);
  EXPECT_EQ(gaps.back().seq, kMaxGapsOfWriter);
}

TEST(StateTest, Forks) {
  EXPECT_TRUE(StateOf(Commits()).Forks().empty());
  const CommitSpec commits[] = {{.id = 1, .entries = {{"a", {}}}},
                                {.id = 3, .seq = 2, .previous = 1, .entries = {{"b", {}}}},
                                {.id = 2, .seq = 2, .previous = 1, .entries = {{"c", {}}}},
                                {.id = 4, .writer = 2, .seq = 2, .previous = 9}};
  const State state = StateOf(commits);
  const std::vector<State::Fork> forks = state.Forks();
  ASSERT_EQ(forks.size(), 1U);
  EXPECT_EQ(forks[0].writer, WriterOf(1));
  EXPECT_EQ(forks[0].seq, 2U);
  EXPECT_EQ(forks[0].ids, (std::vector<Id>{IdOf(2), IdOf(3)}));
  EXPECT_EQ(PathsOf(state.versions()), "a b c ");
}

TEST(StateTest, OutOfSequence) {
  EXPECT_TRUE(StateOf(Commits()).OutOfSequence().empty());
  const auto out = [](std::vector<CommitSpec> commits) { return StateOf(commits).OutOfSequence(); };
  const CommitSpec first = {.id = 1};
  const CommitSpec second = {.id = 2, .seq = 2, .previous = 1};
  const CommitSpec other = {.id = 3, .writer = 2};
  const std::vector<Id> only_four = {IdOf(4)};
  // The one before is another commit than the one there, and is not there itself.
  EXPECT_EQ(out({first, second, {.id = 4, .seq = 3, .previous = 9}}), only_four);
  // It is there, and is another writer's or of another number.
  EXPECT_EQ(out({first, other, {.id = 4, .seq = 2, .previous = 3}}), only_four);
  EXPECT_EQ(out({first, second, {.id = 4, .seq = 3, .previous = 1}}), only_four);
  EXPECT_EQ(out({other, {.id = 4, .seq = 2, .previous = 3}}), only_four);
  // A gap or a fork explains it.
  EXPECT_TRUE(out({first, {.id = 4, .seq = 3, .previous = 9}}).empty());
  EXPECT_TRUE(
      out({first, second, {.id = 5, .seq = 2, .previous = 1}, {.id = 4, .seq = 3, .previous = 9}})
          .empty());
  EXPECT_TRUE(out({first, second, {.id = 4, .seq = 3, .previous = 2}}).empty());
}

TEST(StateTest, CommitsAreFoundById) {
  const State state = StateOf(Commits());
  ASSERT_NE(state.FindCommit(IdOf(3)), nullptr);
  EXPECT_EQ(state.FindCommit(IdOf(3))->writer, WriterOf(2));
  EXPECT_EQ(state.FindCommit(IdOf(99)), nullptr);
}

}  // namespace
}  // namespace coffer::vault
