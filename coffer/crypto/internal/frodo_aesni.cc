// SPDX-License-Identifier: Apache-2.0
// The matrix A from AES-128 with the AES instructions, on vectors of one and two blocks.
#if defined(__x86_64__)

#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

#define COFFER_AESNI [[gnu::target("avx2,bmi,bmi2,aes")]]
#define COFFER_AESNI_INLINE [[gnu::target("avx2,bmi,bmi2,aes"), gnu::always_inline]] inline
#define COFFER_VAES256 [[gnu::target("avx2,bmi,bmi2,aes,vaes")]]

constexpr size_t kRounds = 10;
constexpr size_t kElements = 8;  // of A in a block

// One step of the key expansion of FIPS 197 section 5.2.
template <int kRoundConstant>
COFFER_AESNI_INLINE __m128i NextRoundKey(__m128i key) {
  const __m128i word =
      _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, kRoundConstant), _MM_SHUFFLE(3, 3, 3, 3));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
  return _mm_xor_si128(key, word);
}

COFFER_AESNI void Expand(std::span<const uint8_t, 16> seed, FrodoAesKey& key) {
  auto* const out = reinterpret_cast<__m128i*>(key.round_keys.data());
  __m128i k = _mm_loadu_si128(reinterpret_cast<const __m128i*>(seed.data()));
  _mm_store_si128(out + 0, k);
  _mm_store_si128(out + 1, k = NextRoundKey<0x01>(k));
  _mm_store_si128(out + 2, k = NextRoundKey<0x02>(k));
  _mm_store_si128(out + 3, k = NextRoundKey<0x04>(k));
  _mm_store_si128(out + 4, k = NextRoundKey<0x08>(k));
  _mm_store_si128(out + 5, k = NextRoundKey<0x10>(k));
  _mm_store_si128(out + 6, k = NextRoundKey<0x20>(k));
  _mm_store_si128(out + 7, k = NextRoundKey<0x40>(k));
  _mm_store_si128(out + 8, k = NextRoundKey<0x80>(k));
  _mm_store_si128(out + 9, k = NextRoundKey<0x1b>(k));
  _mm_store_si128(out + 10, NextRoundKey<0x36>(k));
}

COFFER_AESNI_INLINE __m128i RoundKey(const FrodoAesKey& key, size_t round) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(key.round_keys.data()) + round);
}

// A block is i and j in 16 bits each, then zeros: here its lower half.
constexpr long long BlockInput(size_t i, size_t j) { return static_cast<long long>(i | j << 16); }

// Vectors that are encrypted at a time: enough to hide the latency of a round.
constexpr size_t kAtOnce = 8;

COFFER_AESNI bool RowsAesNi(const FrodoAesKey& key, size_t first, size_t count, size_t n,
                            uint16_t* out) {
  __m128i keys[kRounds + 1];
  for (size_t round = 0; round <= kRounds; ++round) keys[round] = RoundKey(key, round);
  for (size_t i = first; i < first + count; ++i, out += n) {
    for (size_t j = 0; j < n; j += kAtOnce * kElements) {
      __m128i state[kAtOnce];
      for (size_t v = 0; v < kAtOnce; ++v) {
        state[v] = _mm_xor_si128(keys[0], _mm_set_epi64x(0, BlockInput(i, j + v * kElements)));
      }
      for (size_t round = 1; round < kRounds; ++round) {
        for (size_t v = 0; v < kAtOnce; ++v) state[v] = _mm_aesenc_si128(state[v], keys[round]);
      }
      for (size_t v = 0; v < kAtOnce && j + v * kElements < n; ++v) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + j + v * kElements),
                         _mm_aesenclast_si128(state[v], keys[kRounds]));
      }
    }
  }
  return true;
}

COFFER_VAES256 bool RowsVaes256(const FrodoAesKey& key, size_t first, size_t count, size_t n,
                                uint16_t* out) {
  constexpr size_t kStep = 2 * kElements;  // n is a multiple of it
  __m256i keys[kRounds + 1];
  for (size_t round = 0; round <= kRounds; ++round) {
    keys[round] = _mm256_broadcastsi128_si256(RoundKey(key, round));
  }
  for (size_t i = first; i < first + count; ++i, out += n) {
    for (size_t j = 0; j < n; j += kAtOnce * kStep) {
      const __m256i start = _mm256_set_epi64x(0, BlockInput(i, j + kElements), 0, BlockInput(i, j));
      __m256i state[kAtOnce];
      for (size_t v = 0; v < kAtOnce; ++v) {
        const __m256i step = _mm256_set1_epi64x(BlockInput(0, v * kStep));
        const __m256i low_halves = _mm256_setr_epi64x(-1, 0, -1, 0);
        state[v] =
            _mm256_xor_si256(keys[0], _mm256_add_epi64(start, _mm256_and_si256(step, low_halves)));
      }
      for (size_t round = 1; round < kRounds; ++round) {
        for (size_t v = 0; v < kAtOnce; ++v) {
          state[v] = _mm256_aesenc_epi128(state[v], keys[round]);
        }
      }
      for (size_t v = 0; v < kAtOnce && j + v * kStep < n; ++v) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j + v * kStep),
                            _mm256_aesenclast_epi128(state[v], keys[kRounds]));
      }
    }
  }
  return true;
}

bool HasAes() { return os::Cpu().aes; }
bool HasVaes() { return os::Cpu().aes && os::Cpu().vaes; }

}  // namespace

const FrodoAes kFrodoAesNi = {.name = "aes-ni",
                              .level = os::SimdLevel::kAvx2,
                              .supported = HasAes,
                              .expand = Expand,
                              .rows = RowsAesNi};
const FrodoAes kFrodoAesVaes256 = {.name = "vaes-256",
                                   .level = os::SimdLevel::kAvx2,
                                   .supported = HasVaes,
                                   .expand = Expand,
                                   .rows = RowsVaes256};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
