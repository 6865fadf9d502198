// SPDX-License-Identifier: Apache-2.0
// Time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coffer/os/file_time.h"

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

// What `clock` has as wall time.
FileTime WallTime(Clock& clock);

// A wall time in the local time zone as RFC 3339 writes it, to the second:
// 2026-01-31T09:15:00+01:00. Years beyond 9999 have more digits, those before 0 a sign; what the
// system cannot convert is "@" and the seconds.
std::string LocalTimeText(FileTime time);

// The other way, also from parts: 2026-01-31, 2026-01-31T09:15, 2026-01-31 09:15:00, with Z, +01:00
// or nothing for the local time zone. A date alone is its first moment. Nothing for other text and
// for dates that no calendar has.
std::optional<FileTime> ParseTimeText(std::string_view text);

}  // namespace coffer::os
