// SPDX-License-Identifier: Apache-2.0
// The random stream from which the CCTV age vectors were made: the ChaCha20 key stream of the key
// "TEST RANDOMNESS TEST RANDOMNESS!", nonce and counter zero, drawn in order (RFC 8439
// section 2.3).
#pragma once

#include <array>
#include <cstdint>

#include "coffer/base/bytes.h"
#include "coffer/os/random.h"

namespace coffer::age::testing {

class TestRandom final : public os::Random {
 public:
  void Fill(MutableByteSpan out) override;

 private:
  void NextBlock();

  uint32_t counter_ = 0;
  std::array<uint8_t, 64> block_{};
  size_t used_ = 64;
};

}  // namespace coffer::age::testing
