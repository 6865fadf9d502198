// SPDX-License-Identifier: Apache-2.0
// The matrix A from AES-128 with AVX-512 and the vector AES instructions, on vectors of four
// blocks.
#if defined(__x86_64__)

#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

constexpr size_t kRounds = 10;
constexpr size_t kElements = 8;  // of A in a block
constexpr size_t kAtOnce = 8;    // vectors: enough to hide the latency of a round

// A block is i and j in 16 bits each, then zeros: here its lower half.
constexpr long long BlockInput(size_t i, size_t j) { return static_cast<long long>(i | j << 16); }

COFFER_VAES512_INLINE __m512i RoundKey(const FrodoAesKey& key, size_t round) {
  return _mm512_broadcast_i32x4(
      _mm_load_si128(reinterpret_cast<const __m128i*>(key.round_keys.data()) + round));
}

COFFER_VAES512 bool RowsVaes512(const FrodoAesKey& key, size_t first, size_t count, size_t n,
                                uint16_t* out) {
  constexpr size_t kStep = 4 * kElements;
  __m512i keys[kRounds + 1];
  for (size_t round = 0; round <= kRounds; ++round) keys[round] = RoundKey(key, round);
  for (size_t i = first; i < first + count; ++i, out += n) {
    for (size_t j = 0; j < n; j += kAtOnce * kStep) {
      const __m512i start =
          _mm512_set_epi64(0, BlockInput(i, j + 3 * kElements), 0, BlockInput(i, j + 2 * kElements),
                           0, BlockInput(i, j + kElements), 0, BlockInput(i, j));
      __m512i state[kAtOnce];
      for (size_t v = 0; v < kAtOnce; ++v) {
        const __m512i step = _mm512_maskz_set1_epi64(0x55, BlockInput(0, v * kStep));
        state[v] = _mm512_xor_si512(keys[0], _mm512_add_epi64(start, step));
      }
      for (size_t round = 1; round < kRounds; ++round) {
        for (size_t v = 0; v < kAtOnce; ++v) {
          state[v] = _mm512_aesenc_epi128(state[v], keys[round]);
        }
      }
      for (size_t v = 0; v < kAtOnce && j + v * kStep < n; ++v) {
        // A row may end in the middle of a vector: 976 is 30.5 of them.
        const size_t left = n - (j + v * kStep);
        const auto mask = static_cast<__mmask8>(left >= kStep ? 0xff : 0x0f);
        _mm512_mask_storeu_epi64(out + j + v * kStep, mask,
                                 _mm512_aesenclast_epi128(state[v], keys[kRounds]));
      }
    }
  }
  return true;
}

bool HasVaes() { return os::Cpu().aes && (kAvx512IsEmulated || os::Cpu().vaes); }

void Expand(std::span<const uint8_t, 16> seed, FrodoAesKey& key) { kFrodoAesNi.expand(seed, key); }

}  // namespace

const FrodoAes kFrodoAesVaes512 = {.name = "vaes-512",
                                   .level = os::SimdLevel::kAvx512,
                                   .supported = HasVaes,
                                   .expand = Expand,
                                   .rows = RowsVaes512};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
