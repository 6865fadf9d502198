// SPDX-License-Identifier: Apache-2.0
// The generator behind the "KAT" files of NIST's post-quantum process: CTR_DRBG with AES-256 of
// SP 800-90A, without derivation function, personalisation or reseeding. For tests only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/os/random.h"

namespace coffer::crypto::testing {

class NistDrbg : public os::Random {
 public:
  static constexpr size_t kSeedSize = 48;

  explicit NistDrbg(std::span<const uint8_t, kSeedSize> seed);

  // One request of the generator. Its state moves on after each, so that two requests give other
  // bytes than one for both.
  void Fill(MutableByteSpan out) override;

 private:
  void NextBlock(std::span<uint8_t, 16> block);
  void Update(const std::array<uint8_t, kSeedSize>& data);

  std::array<uint8_t, 32> key_{};
  std::array<uint8_t, 16> counter_{};
};

}  // namespace coffer::crypto::testing
