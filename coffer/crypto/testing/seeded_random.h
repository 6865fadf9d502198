// SPDX-License-Identifier: Apache-2.0
// Random bytes that a number determines, for tests that must be repeatable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/sha3.h"
#include "coffer/os/random.h"

namespace coffer::crypto::testing {

class SeededRandom : public os::Random {
 public:
  explicit SeededRandom(uint64_t seed) {
    std::array<uint8_t, 8> bytes;
    StoreLittleEndian(seed, bytes);
    shake_.Absorb(bytes);
  }

  void Fill(MutableByteSpan out) override { shake_.Squeeze(out); }

  Bytes Take(size_t size) {
    Bytes bytes(size);
    Fill(bytes);
    return bytes;
  }
  std::vector<uint16_t> Words(size_t count) {
    std::vector<uint16_t> words(count);
    for (uint16_t& word : words) word = static_cast<uint16_t>(Number());
    return words;
  }
  uint32_t Number() {
    std::array<uint8_t, 4> bytes;
    Fill(bytes);
    return LoadLittleEndian<uint32_t>(bytes);
  }
  // Less than `bound`, which is not 0; a slight bias does not matter here.
  size_t Below(size_t bound) { return Number() % bound; }

 private:
  Shake128 shake_;
};

}  // namespace coffer::crypto::testing
