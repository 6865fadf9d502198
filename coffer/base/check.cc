// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace coffer::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "coffer: internal error: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace coffer::internal
