// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/file_time.h"

#include <limits>

#include <gtest/gtest.h>

namespace coffer::os {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(FileTime, SecondsAreRoundedDown) {
  EXPECT_EQ(MakeFileTime(0, 0), (FileTime{0, 0}));
  EXPECT_EQ(MakeFileTime(7, 999'999'999), (FileTime{7, 999'999'999}));
  EXPECT_EQ(MakeFileTime(7, 1'000'000'000), (FileTime{8, 0}));
  EXPECT_EQ(MakeFileTime(-1, -500'000'000), (FileTime{-2, 500'000'000}));
  EXPECT_EQ(MakeFileTime(0, -1), (FileTime{-1, 999'999'999}));
  EXPECT_EQ(MakeFileTime(0, -1'000'000'000), (FileTime{-1, 0}));
  EXPECT_EQ(MakeFileTime(0, kMin), (FileTime{-9'223'372'037, 145'224'192}));
  EXPECT_EQ(MakeFileTime(0, kMax), (FileTime{9'223'372'036, 854'775'807}));
}

TEST(FileTime, StopsAtTheEndsOfItsRange) {
  EXPECT_EQ(MakeFileTime(kMax, 5), (FileTime{kMax, 5}));
  EXPECT_EQ(MakeFileTime(kMax, 1'000'000'000), (FileTime{kMax, 999'999'999}));
  EXPECT_EQ(MakeFileTime(kMin, 5), (FileTime{kMin, 5}));
  EXPECT_EQ(MakeFileTime(kMin, -1), (FileTime{kMin, 0}));
}

TEST(FileTime, IsOrdered) {
  EXPECT_LT(MakeFileTime(-1, -500'000'000), MakeFileTime(-1, 0));
  EXPECT_LT((FileTime{1, 999'999'999}), (FileTime{2, 0}));
  EXPECT_LT((FileTime{2, 1}), (FileTime{2, 2}));
  EXPECT_GT((FileTime{13'569'465'600, 0}), MakeFileTime(0, kMax));
}

}  // namespace
}  // namespace coffer::os
