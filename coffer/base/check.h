// SPDX-License-Identifier: Apache-2.0
// COFFER_CHECK: ends the process when an invariant of the program itself is broken. Never for
// anything that input, a file, a peer or a user can cause; those are a Result.
#pragma once

namespace coffer::internal {

[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace coffer::internal

#define COFFER_CHECK(condition)                                        \
  do {                                                                 \
    if (!(condition)) [[unlikely]] {                                   \
      ::coffer::internal::CheckFailed(#condition, __FILE__, __LINE__); \
    }                                                                  \
  } while (false)
