// SPDX-License-Identifier: Apache-2.0
// Argon2's compression function with AVX2. A vector holds two rows (j0) times two columns (c0):
// what it costs to walk the diagonals of both rounds is one swap within a vector for half of the
// words, and nothing to turn rows into columns.
#if defined(__x86_64__)

#include "coffer/crypto/internal/argon2_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

COFFER_AVX2_INLINE __m256i Load(const Argon2Block& block, size_t vector) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(block.word + 4 * vector));
}
COFFER_AVX2_INLINE void Store(Argon2Block& block, size_t vector, __m256i words) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(block.word + 4 * vector), words);
}

COFFER_AVX2_INLINE __m256i Xor(__m256i a, __m256i b) { return _mm256_xor_si256(a, b); }

template <int kCount>
COFFER_AVX2_INLINE __m256i RotateRight(__m256i a) {
  if constexpr (kCount == 32) return _mm256_shuffle_epi32(a, 0xb1);
  if constexpr (kCount == 24) {
    constexpr long long kLow = 0x0201000706050403;
    constexpr long long kHigh = kLow + 0x0808080808080808;
    return _mm256_shuffle_epi8(a, _mm256_setr_epi64x(kLow, kHigh, kLow, kHigh));
  }
  if constexpr (kCount == 16) {
    constexpr long long kLow = 0x0100070605040302;
    constexpr long long kHigh = kLow + 0x0808080808080808;
    return _mm256_shuffle_epi8(a, _mm256_setr_epi64x(kLow, kHigh, kLow, kHigh));
  }
  if constexpr (kCount == 63) return Xor(_mm256_add_epi64(a, a), _mm256_srli_epi64(a, 63));
}

COFFER_AVX2_INLINE __m256i AddAndMultiply(__m256i a, __m256i b) {
  const __m256i product = _mm256_mul_epu32(a, b);
  return _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(product, product));
}

// Two times 16 words, in the two halves of a bit of the lanes. A vector of each array is for e = 0,
// one for e = 1.
struct TwoStates {
  __m256i a[2];
  __m256i b[2];
  __m256i c[2];
  __m256i d[2];
};

template <int kFirst, int kSecond>
COFFER_AVX2_INLINE void HalfRound(TwoStates& s) {
  for (size_t e = 0; e < 2; ++e) s.a[e] = AddAndMultiply(s.a[e], s.b[e]);
  for (size_t e = 0; e < 2; ++e) s.d[e] = RotateRight<kFirst>(Xor(s.d[e], s.a[e]));
  for (size_t e = 0; e < 2; ++e) s.c[e] = AddAndMultiply(s.c[e], s.d[e]);
  for (size_t e = 0; e < 2; ++e) s.b[e] = RotateRight<kSecond>(Xor(s.b[e], s.c[e]));
}

COFFER_AVX2_INLINE void Round(TwoStates& s) {
  HalfRound<32, 24>(s);
  HalfRound<16, 63>(s);
}

// Exchanges the two columns, or the two rows, of a vector.
struct Columns {
  COFFER_AVX2_INLINE static __m256i Swap(__m256i a) { return _mm256_shuffle_epi32(a, 0x4e); }
};
struct Rows {
  COFFER_AVX2_INLINE static __m256i Swap(__m256i a) { return _mm256_permute2x128_si256(a, a, 1); }
};

// P on two rows (i = 2 c0 + e) or on two columns (i = 2 j0 + e). The diagonals take b_(i+1),
// c_(i+2) and d_(i+3).
template <class Along>
COFFER_AVX2_INLINE void Permute(TwoStates& s) {
  Round(s);
  const __m256i b0 = s.b[0];
  s.b[0] = s.b[1];
  s.b[1] = Along::Swap(b0);
  s.c[0] = Along::Swap(s.c[0]);
  s.c[1] = Along::Swap(s.c[1]);
  const __m256i d0 = s.d[0];
  s.d[0] = Along::Swap(s.d[1]);
  s.d[1] = d0;
  Round(s);
  const __m256i b1 = s.b[0];
  s.b[0] = Along::Swap(s.b[1]);
  s.b[1] = b1;
  s.c[0] = Along::Swap(s.c[0]);
  s.c[1] = Along::Swap(s.c[1]);
  const __m256i d1 = Along::Swap(s.d[0]);
  s.d[0] = s.d[1];
  s.d[1] = d1;
}

// The vectors of rows 2 j1 and 2 j1 + 1 stand in order of c1, those of columns 2 c1 and 2 c1 + 1 in
// order of j1.
COFFER_AVX2_INLINE size_t InRows(size_t j1, size_t c1) { return 8 * j1 + 2 * c1; }

template <bool kOver>
COFFER_AVX2 void CompressBlock(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
                               Argon2Scratch& scratch) {
  Argon2Block& r = scratch.block[0];
  Argon2Block& q = scratch.block[1];
  for (size_t j1 = 0; j1 < 4; ++j1) {
    TwoStates s;
    __m256i* const parts[4] = {s.a, s.b, s.c, s.d};
    for (size_t c1 = 0; c1 < 4; ++c1) {
      for (size_t e = 0; e < 2; ++e) {
        const size_t at = InRows(j1, c1) + e;
        parts[c1][e] = Xor(Load(x, at), Load(y, at));
        Store(r, at, kOver ? Xor(parts[c1][e], Load(out, at)) : parts[c1][e]);
      }
    }
    Permute<Columns>(s);
    for (size_t c1 = 0; c1 < 4; ++c1) {
      for (size_t e = 0; e < 2; ++e) Store(q, InRows(j1, c1) + e, parts[c1][e]);
    }
  }
  for (size_t c1 = 0; c1 < 4; ++c1) {
    TwoStates s;
    __m256i* const parts[4] = {s.a, s.b, s.c, s.d};
    for (size_t j1 = 0; j1 < 4; ++j1) {
      for (size_t e = 0; e < 2; ++e) parts[j1][e] = Load(q, InRows(j1, c1) + e);
    }
    Permute<Rows>(s);
    for (size_t j1 = 0; j1 < 4; ++j1) {
      for (size_t e = 0; e < 2; ++e) {
        const size_t at = InRows(j1, c1) + e;
        Store(out, at, Xor(parts[j1][e], Load(r, at)));
      }
    }
  }
}

}  // namespace

const Argon2Implementation kArgon2Avx2 = {
    .name = "avx2",
    .level = os::SimdLevel::kAvx2,
    .order = Argon2VectorOrder<4>(),
    .compress = CompressBlock<false>,
    .compress_over = CompressBlock<true>,
};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
