// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/parallel.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"

namespace coffer {
namespace {

TEST(RunInParallel, DoesEachPieceOnce) {
  for (const size_t count : std::initializer_list<size_t>{0, 1, 2, 7, 8, 9, 1000}) {
    std::vector<std::atomic<int>> done(count);
    ASSERT_TRUE(IsOk(RunInParallel(count, [&](size_t i) {
      ++done[i];
      return OkStatus();
    })));
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(RunInParallel, OnePieceTakesNoOtherThread) {
  std::thread::id id;
  ASSERT_TRUE(IsOk(RunInParallel(1, [&](size_t) {
    id = std::this_thread::get_id();
    return OkStatus();
  })));
  EXPECT_EQ(id, std::this_thread::get_id());
}

// Eight pieces that wait for each other end only if all of them run at once.
TEST(RunInParallel, PiecesRunAtOnce) {
  std::atomic<int> waiting = 0;
  ASSERT_TRUE(IsOk(RunInParallel(8, [&](size_t) {
    ++waiting;
    while (waiting < 8) std::this_thread::yield();
    return OkStatus();
  })));
}

TEST(RunInParallel, BeginsNothingAfterAFailure) {
  std::atomic<size_t> begun = 0;
  const Status status = RunInParallel(100'000, [&](size_t i) {
    ++begun;
    return i == 10 ? Status(Error(ErrorCode::kIo, "piece 10")) : OkStatus();
  });
  EXPECT_EQ(MessageOf(status), "piece 10");
  EXPECT_GT(begun, 10u);
  EXPECT_LT(begun, 100'000u);
}

}  // namespace
}  // namespace coffer
