// SPDX-License-Identifier: Apache-2.0
// Roots of unity modulo q (FIPS 203 section 4.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coffer/crypto/internal/ml_kem_kernels.h"

namespace coffer::crypto::internal {

inline constexpr uint32_t kZeta = 17;  // a primitive 256th root of unity

constexpr uint32_t PowerModQ(uint32_t base, uint32_t exponent) {
  uint32_t result = 1;
  for (uint32_t i = 0; i < exponent; ++i) result = result * base % kQ;
  return result;
}

constexpr uint32_t BitRev7(uint32_t i) {
  uint32_t reversed = 0;
  for (int bit = 0; bit < 7; ++bit) reversed |= ((i >> bit) & 1) << (6 - bit);
  return reversed;
}

// zeta^BitRev7(i), what algorithms 9 and 10 multiply by.
constexpr std::array<uint16_t, 128> MakeZetas() {
  std::array<uint16_t, 128> zetas{};
  for (uint32_t i = 0; i < 128; ++i) {
    zetas[i] = static_cast<uint16_t>(PowerModQ(kZeta, BitRev7(i)));
  }
  return zetas;
}
inline constexpr std::array<uint16_t, 128> kZetas = MakeZetas();

// zeta^(2 BitRev7(i) + 1), the gamma of algorithm 11.
constexpr std::array<uint16_t, 128> MakeGammas() {
  std::array<uint16_t, 128> gammas{};
  for (uint32_t i = 0; i < 128; ++i) {
    gammas[i] = static_cast<uint16_t>(PowerModQ(kZeta, 2 * BitRev7(i) + 1));
  }
  return gammas;
}
inline constexpr std::array<uint16_t, 128> kGammas = MakeGammas();

inline constexpr uint32_t kInverseOf128 = 3303;

// From the tables of FIPS 203 appendix A.
static_assert(kZetas[0] == 1 && kZetas[1] == 1729 && kZetas[127] == 2154);
static_assert(kGammas[0] == 17 && kGammas[1] == kQ - 17 && kGammas[127] == kQ - 2154);
static_assert(kInverseOf128 * 128 % kQ == 1);

}  // namespace coffer::crypto::internal
