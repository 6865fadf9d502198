// SPDX-License-Identifier: Apache-2.0
// Random bytes for keys and nonces.
#pragma once

#include "coffer/base/bytes.h"

namespace coffer::os {

class Random {
 public:
  virtual ~Random() = default;

  // Fills `out` with bytes nobody can predict. Never fails: without them nothing here is safe, so
  // the system's source ends the process when the kernel has none.
  virtual void Fill(MutableByteSpan out) = 0;
};

// The kernel's generator, getrandom(2). Safe for use by several threads.
Random& SystemRandom();

}  // namespace coffer::os
