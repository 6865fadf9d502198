// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/clock.h"

#include <stdlib.h>
#include <time.h>

#include <optional>
#include <string_view>

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

class TimeText : public testing::Test {
 protected:
  static void SetZone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  void TearDown() override {
    unsetenv("TZ");
    tzset();
  }
};

TEST_F(TimeText, IsRfc3339) {
  const auto text = [](const char* zone, int64_t seconds) {
    SetZone(zone);
    return LocalTimeText({seconds, 999'999'999});
  };
  EXPECT_EQ(text("UTC0", 1'700'000'000), "2023-11-14T22:13:20Z");
  EXPECT_EQ(text("ABC-5:30", 1'700'000'000), "2023-11-15T03:43:20+05:30");
  EXPECT_EQ(text("ABC3", 1'700'000'000), "2023-11-14T19:13:20-03:00");
  EXPECT_EQ(text("UTC0", -1), "1969-12-31T23:59:59Z");
  EXPECT_EQ(text("UTC0", 253'402'300'800), "10000-01-01T00:00:00Z");
  EXPECT_EQ(text("UTC0", INT64_MAX), "@9223372036854775807");
}

TEST_F(TimeText, IsParsed) {
  SetZone("ABC-5:30");
  const auto parse = [](std::string_view text) {
    const auto time = ParseTimeText(text);
    EXPECT_TRUE(!time || time->nanoseconds == 0);
    return time ? std::optional(time->seconds) : std::nullopt;
  };
  EXPECT_EQ(parse("2023-11-14T22:13:20Z"), 1'700'000'000);
  EXPECT_EQ(parse("2023-11-15T03:43:20+05:30"), 1'700'000'000);
  EXPECT_EQ(parse("2023-11-14T19:13:20-03:00"), 1'700'000'000);
  EXPECT_EQ(parse("2023-11-15 03:43:20"), 1'700'000'000);
  EXPECT_EQ(parse("2023-11-15t03:43"), 1'700'000'000 - 20);
  EXPECT_EQ(parse("1970-01-01"), -19'800);
  EXPECT_EQ(parse("2024-02-29T00:00Z"), 1'709'164'800);
  EXPECT_EQ(parse("1900-01-01T00:00:00Z"), -2'208'988'800);
}

TEST_F(TimeText, ThatIsNoneIsRefused) {
  for (const char* text : {"",
                           "2023",
                           "2023-11",
                           "2023-13-01",
                           "2023-00-01",
                           "2023-02-30",
                           "2023-02-29",
                           "2023-01-32",
                           "2023-01-00",
                           "2023-1-01",
                           "2023-01-01T",
                           "2023-01-01T24:00",
                           "2023-01-01T10",
                           "x",
                           "2023-01-01T10:60",
                           "2023-01-01T10:00:60",
                           "2023-01-01T10:00:00+1",
                           "2023-01-01T10:00Zx",
                           "2023-01-01Z",
                           "2023-01-01T10:00:00+01:60",
                           "20230101",
                           "2023-01-01T10:00:00.5Z"}) {
    EXPECT_FALSE(ParseTimeText(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace coffer::os
