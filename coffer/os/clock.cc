// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/clock.h"

#include <time.h>

#include <string_view>

#include "coffer/base/check.h"

namespace coffer::os {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t Now(clockid_t clock) {
  timespec now;
  COFFER_CHECK(clock_gettime(clock, &now) == 0);
  return now.tv_sec * kSecond + now.tv_nsec;
}

class RealClock final : public Clock {
 public:
  int64_t MonotonicNanoseconds() override { return Now(CLOCK_MONOTONIC); }
  int64_t WallNanoseconds() override { return Now(CLOCK_REALTIME); }
};

}  // namespace

Clock& SystemClock() {
  static RealClock clock;
  return clock;
}

std::string LocalTimeText(int64_t wall_ns) {
  const time_t seconds = wall_ns / kSecond - (wall_ns % kSecond < 0 ? 1 : 0);
  tm local;
  COFFER_CHECK(localtime_r(&seconds, &local) != nullptr);
  char text[64];
  const size_t size = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &local);
  COFFER_CHECK(size > 5);
  // strftime has +0100 for RFC 3339's +01:00, and Z is the usual form of UTC.
  const std::string_view result(text, size);
  const std::string_view hours = result.substr(0, size - 2);
  const std::string_view minutes = result.substr(size - 2);
  if (result.ends_with("+0000")) return std::string(result.substr(0, size - 5)) + 'Z';
  return std::string(hours) + ':' + std::string(minutes);
}

}  // namespace coffer::os
