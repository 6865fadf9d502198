// SPDX-License-Identifier: Apache-2.0
// One round of Keccak-p[1600] on 64-bit words: the code to read next to FIPS 202 section 3.2. It is
// always inlined, so that each instruction set compiles it for itself (with BMI, chi has an and-not
// instruction and rho a rotation that does not overwrite its source).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/internal/keccak_constants.h"

namespace coffer::crypto::internal {

// Row y of the state after rho, pi and chi; `d` is what theta adds to each column.
template <size_t kY>
[[gnu::always_inline]] inline void KeccakScalarRow(const uint64_t* a, const uint64_t* d,
                                                   uint64_t* out) {
  // pi (3.2.3) of rho (3.2.2) of theta (3.2.1): column of the source decides what theta adds.
  constexpr size_t kFrom0 = KeccakPiSource(0, kY);
  constexpr size_t kFrom1 = KeccakPiSource(1, kY);
  constexpr size_t kFrom2 = KeccakPiSource(2, kY);
  constexpr size_t kFrom3 = KeccakPiSource(3, kY);
  constexpr size_t kFrom4 = KeccakPiSource(4, kY);
  const uint64_t b0 = std::rotl(a[kFrom0] ^ d[kFrom0 % 5], kKeccakRho[kFrom0]);
  const uint64_t b1 = std::rotl(a[kFrom1] ^ d[kFrom1 % 5], kKeccakRho[kFrom1]);
  const uint64_t b2 = std::rotl(a[kFrom2] ^ d[kFrom2 % 5], kKeccakRho[kFrom2]);
  const uint64_t b3 = std::rotl(a[kFrom3] ^ d[kFrom3 % 5], kKeccakRho[kFrom3]);
  const uint64_t b4 = std::rotl(a[kFrom4] ^ d[kFrom4 % 5], kKeccakRho[kFrom4]);
  // chi (3.2.4)
  out[5 * kY + 0] = b0 ^ (~b1 & b2);
  out[5 * kY + 1] = b1 ^ (~b2 & b3);
  out[5 * kY + 2] = b2 ^ (~b3 & b4);
  out[5 * kY + 3] = b3 ^ (~b4 & b0);
  out[5 * kY + 4] = b4 ^ (~b0 & b1);
}

// Rnd(a, index) of section 3.3, from `a` to `out`.
[[gnu::always_inline]] inline void KeccakScalarRound(const uint64_t* a, uint64_t* out,
                                                     uint64_t round_constant) {
  // theta (3.2.1), steps 1 and 2
  const uint64_t c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20];
  const uint64_t c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21];
  const uint64_t c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22];
  const uint64_t c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23];
  const uint64_t c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24];
  const uint64_t d[5] = {c4 ^ std::rotl(c1, 1), c0 ^ std::rotl(c2, 1), c1 ^ std::rotl(c3, 1),
                         c2 ^ std::rotl(c4, 1), c3 ^ std::rotl(c0, 1)};
  KeccakScalarRow<0>(a, d, out);
  KeccakScalarRow<1>(a, d, out);
  KeccakScalarRow<2>(a, d, out);
  KeccakScalarRow<3>(a, d, out);
  KeccakScalarRow<4>(a, d, out);
  out[0] ^= round_constant;  // iota (3.2.5)
}

// The whole permutation on words that are `kStride` apart.
template <size_t kStride>
[[gnu::always_inline]] inline void KeccakScalarPermute(uint64_t* words, KeccakRounds rounds) {
  uint64_t a[kKeccakWords];
  uint64_t e[kKeccakWords];
  for (size_t w = 0; w < kKeccakWords; ++w) a[w] = words[w * kStride];
  // Two rounds a turn, from one set of words to the other and back.
  for (size_t round = 24 - static_cast<size_t>(rounds); round < 24; round += 2) {
    KeccakScalarRound(a, e, kKeccakRoundConstants[round]);
    KeccakScalarRound(e, a, kKeccakRoundConstants[round + 1]);
  }
  for (size_t w = 0; w < kKeccakWords; ++w) words[w * kStride] = a[w];
}

}  // namespace coffer::crypto::internal
