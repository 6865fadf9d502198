// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/random.h"

#include <errno.h>
#include <sys/random.h>

#include "coffer/base/check.h"

namespace coffer::os {
namespace {

class KernelRandom final : public Random {
 public:
  void Fill(MutableByteSpan out) override {
    while (!out.empty()) {
      const ssize_t count = getrandom(out.data(), out.size(), 0);
      if (count < 0) {
        COFFER_CHECK(errno == EINTR);
        continue;
      }
      out = out.subspan(static_cast<size_t>(count));
    }
  }
};

}  // namespace

Random& SystemRandom() {
  static KernelRandom random;
  return random;
}

}  // namespace coffer::os
