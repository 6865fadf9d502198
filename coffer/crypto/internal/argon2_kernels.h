// SPDX-License-Identifier: Apache-2.0
// The compression function G of Argon2 (RFC 9106 sections 3.5 and 3.6) as a table of named
// implementations.
//
// Nothing in it branches on a word or uses one as an address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coffer/os/cpu.h"

namespace coffer::crypto::internal {

inline constexpr size_t kArgon2Words = 128;  // 64-bit words of a block

struct alignas(64) Argon2Block {
  uint64_t word[kArgon2Words];
};

// Room for what a compression works on. It holds secrets afterwards: its owner wipes it.
struct Argon2Scratch {
  Argon2Block block[2];
};

// Where an implementation keeps word i of a block in memory. Word 0 stands first in all of them.
using Argon2Order = std::array<uint8_t, kArgon2Words>;

struct Argon2Implementation {
  std::string_view name;
  os::SimdLevel level;
  Argon2Order order;
  // out = G(x, y). `out` is neither of the two.
  void (*compress)(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
                   Argon2Scratch& scratch);
  // out = out xor G(x, y), for the passes after the first.
  void (*compress_over)(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
                        Argon2Scratch& scratch);
};

// The order of vectors of kLanes words that hold both rounds of G without moving words between
// them. Word w stands in row j = w / 16 and pair c = w / 2 mod 8, at e = w mod 2. A round takes the
// 16 words of a row, or of a column of pairs, as v_0 .. v_15, and works on four v_i with different
// i mod 4 at once: i = 2 c + e in a row, 2 j + e in a column. So with j = 2 j1 + j0 and
// c = 2 c1 + c0, what differs within a vector may be only j0, c0 and e, in both rounds.
template <size_t kLanes>
constexpr Argon2Order Argon2VectorOrder() {
  static_assert(kLanes == 4 || kLanes == 8);
  Argon2Order order{};
  for (size_t w = 0; w < kArgon2Words; ++w) {
    const size_t j1 = w / 32;
    const size_t j0 = w / 16 % 2;
    const size_t c1 = w / 4 % 4;
    const size_t c0 = w / 2 % 2;
    const size_t e = w % 2;
    const size_t vector = kLanes == 4 ? (4 * j1 + c1) * 2 + e : 4 * j1 + c1;
    const size_t lane = kLanes == 4 ? 2 * j0 + c0 : (2 * j0 + c0) * 2 + e;
    order[w] = static_cast<uint8_t>(kLanes * vector + lane);
  }
  return order;
}

extern const Argon2Implementation kArgon2Portable;
#if defined(__x86_64__)
extern const Argon2Implementation kArgon2Avx2;
extern const Argon2Implementation kArgon2Avx512;
#endif

// All that this build has, portable first, by rising level. Only those up to os::CpuLevel() may
// run.
std::span<const Argon2Implementation* const> Argon2Implementations();

// The best that may run here; chosen once.
const Argon2Implementation& Argon2();

}  // namespace coffer::crypto::internal
