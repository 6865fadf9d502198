// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/clock.h"

#include <stdlib.h>
#include <time.h>

#include <gtest/gtest.h>

namespace coffer::os {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(Clock, GoesForward) {
  const int64_t first = SystemClock().MonotonicNanoseconds();
  const int64_t second = SystemClock().MonotonicNanoseconds();
  EXPECT_GE(second, first);
  // After 2023, before 2200: seconds were not taken for nanoseconds.
  EXPECT_GT(SystemClock().WallNanoseconds(), 1'672'531'200 * kSecond);
  EXPECT_LT(SystemClock().WallNanoseconds(), 7'258'118'400 * kSecond);
}

TEST(Clock, LocalTimeIsRfc3339) {
  const auto text = [](const char* zone, int64_t time_ns) {
    setenv("TZ", zone, 1);
    tzset();
    return LocalTimeText(time_ns);
  };
  const int64_t time_ns = 1'700'000'000 * kSecond + 999'999'999;
  EXPECT_EQ(text("UTC0", time_ns), "2023-11-14T22:13:20Z");
  EXPECT_EQ(text("ABC-5:30", time_ns), "2023-11-15T03:43:20+05:30");
  EXPECT_EQ(text("ABC3", time_ns), "2023-11-14T19:13:20-03:00");
  EXPECT_EQ(text("UTC0", -1), "1969-12-31T23:59:59Z");
  unsetenv("TZ");
  tzset();
}

}  // namespace
}  // namespace coffer::os
