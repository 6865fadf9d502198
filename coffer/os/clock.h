// SPDX-License-Identifier: Apache-2.0
// Time.
#pragma once

#include <cstdint>
#include <string>

namespace coffer::os {

class Clock {
 public:
  virtual ~Clock() = default;

  // Time that only goes forward, from an arbitrary start.
  virtual int64_t MonotonicNanoseconds() = 0;
  // Time since 1970-01-01 00:00 UTC, as the machine has it.
  virtual int64_t WallNanoseconds() = 0;
};

Clock& SystemClock();

// A wall time in the local time zone as RFC 3339 writes it, to the second:
// 2026-01-31T09:15:00+01:00.
std::string LocalTimeText(int64_t wall_ns);

}  // namespace coffer::os
