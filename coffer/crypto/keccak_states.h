// SPDX-License-Identifier: Apache-2.0
// Memory for states of Keccak-p[1600], which sha3.h and kt128.h hash with.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coffer/base/secret.h"

namespace coffer::crypto {

inline constexpr size_t kKeccakWords = 25;

// FIPS 202 uses 24 rounds, RFC 9861 the last 12 of them.
enum class KeccakRounds : uint8_t { k12 = 12, k24 = 24 };

// kLanes states, interleaved: word[w][i] is lane w = x + 5y of state i. The value of a word is its
// eight bytes read as little-endian (FIPS 202 section 3.1.2 and appendix B.1). Zero at first, wiped
// at the end.
template <size_t kLanes>
struct alignas(64) KeccakStates {
  uint64_t word[kKeccakWords][kLanes] = {};

  KeccakStates() = default;
  KeccakStates(const KeccakStates&) = delete;
  KeccakStates& operator=(const KeccakStates&) = delete;
  ~KeccakStates() { Wipe(); }
  void Wipe() { SecureWipe(word, sizeof(word)); }  // all zero again
};

}  // namespace coffer::crypto
