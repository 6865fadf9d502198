// SPDX-License-Identifier: Apache-2.0
// Constants of Keccak-p[1600] (FIPS 202 section 3.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace coffer::crypto::internal {

// rc(t) of algorithm 5: the output of a linear feedback shift register, x^8 + x^6 + x^5 + x^4 + 1.
constexpr bool KeccakRoundConstantBit(unsigned t) {
  unsigned r = 1;
  for (unsigned i = 0; i < t % 255; ++i) {
    r <<= 1;
    if ((r & 0x100) != 0) r ^= 0x171;
  }
  return (r & 1) != 0;
}

// RC of algorithm 6 for the round indices 0 to 23: bit 2^j - 1 is rc(j + 7 * index). Fewer rounds
// are the last ones of these (section 3.3).
constexpr std::array<uint64_t, 24> MakeKeccakRoundConstants() {
  std::array<uint64_t, 24> constants{};
  for (unsigned round = 0; round < 24; ++round) {
    for (unsigned j = 0; j <= 6; ++j) {
      if (KeccakRoundConstantBit(j + 7 * round)) {
        constants[round] |= uint64_t{1} << ((1U << j) - 1);
      }
    }
  }
  return constants;
}
inline constexpr std::array<uint64_t, 24> kKeccakRoundConstants = MakeKeccakRoundConstants();

// The offsets of rho (algorithm 2), modulo 64, at x + 5y.
constexpr std::array<int, 25> MakeKeccakRhoOffsets() {
  std::array<int, 25> offsets{};
  size_t x = 1;
  size_t y = 0;
  for (int t = 0; t < 24; ++t) {
    offsets[x + 5 * y] = ((t + 1) * (t + 2) / 2) % 64;
    const size_t next_y = (2 * x + 3 * y) % 5;
    x = y;
    y = next_y;
  }
  return offsets;
}
inline constexpr std::array<int, 25> kKeccakRho = MakeKeccakRhoOffsets();

// Where pi (algorithm 3) takes lane (x, y) of its result from, as an index: A[(x + 3y) mod 5, x].
constexpr size_t KeccakPiSource(size_t x, size_t y) { return (x + 3 * y) % 5 + 5 * x; }

static_assert(kKeccakRoundConstants[0] == 1 && kKeccakRoundConstants[23] == 0x8000000080008008);
static_assert(kKeccakRho[0] == 0 && kKeccakRho[1] == 1 && kKeccakRho[24] == 14);

}  // namespace coffer::crypto::internal
