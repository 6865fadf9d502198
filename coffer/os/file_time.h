// SPDX-License-Identifier: Apache-2.0
// Times of files, over the whole range that file systems have.
#pragma once

#include <compare>
#include <cstdint>

namespace coffer::os {

struct FileTime {
  int64_t seconds = 0;       // since 1970-01-01 00:00 UTC, rounded down
  uint32_t nanoseconds = 0;  // 0 to 999,999,999

  auto operator<=>(const FileTime&) const = default;
};

// Carries what is not within a second's nanoseconds over to the seconds, which stop at the ends of
// their range.
FileTime MakeFileTime(int64_t seconds, int64_t nanoseconds);

}  // namespace coffer::os
