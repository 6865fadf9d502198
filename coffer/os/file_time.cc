// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/file_time.h"

#include <limits>

#include "coffer/base/checked.h"

namespace coffer::os {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

}  // namespace

FileTime MakeFileTime(int64_t seconds, int64_t nanoseconds) {
  int64_t carry = nanoseconds / kSecond;
  int64_t rest = nanoseconds % kSecond;
  if (rest < 0) {
    --carry;
    rest += kSecond;
  }
  if (const auto sum = CheckedAdd<int64_t>(seconds, carry)) {
    return {*sum, static_cast<uint32_t>(rest)};
  }
  if (carry < 0) return {std::numeric_limits<int64_t>::min(), 0};
  return {std::numeric_limits<int64_t>::max(), static_cast<uint32_t>(kSecond - 1)};
}

}  // namespace coffer::os
