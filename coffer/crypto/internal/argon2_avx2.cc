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
    constexpr int64_t kLow = 0x0201000706050403;
    constexpr int64_t kHigh = kLow + 0x0808080808080808;
    return _mm256_shuffle_epi8(a, _mm256_setr_epi64x(kLow, kHigh, kLow, kHigh));
  }
  if constexpr (kCount == 16) {
    constexpr int64_t kLow = 0x0100070605040302;
    constexpr int64_t kHigh = kLow + 0x0808080808080808;
    return _mm256_shuffle_epi8(a, _mm256_setr_epi64x(kLow, kHigh, kLow, kHigh));
  }
  if constexpr (kCount == 63) return Xor(_mm256_add_epi64(a, a), _mm256_srli_epi64(a, 63));
}

COFFER_AVX2_INLINE __m256i AddAndMultiply(__m256i a, __m256i b) {
  const __m256i product = _mm256_mul_epu32(a, b);
  return _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(product, product));
}

// P on four states of 16 words: two groups of two, which share vectors. Four chains of dependent
// steps keep the processor busy; with the two of one group it waits. What does not fit into the
// registers is cheap to reload. [2 g + e] is for group g and words of that e.
constexpr size_t kGroups = 2;
constexpr size_t kChains = 2 * kGroups;
struct States {
  __m256i a[kChains];
  __m256i b[kChains];
  __m256i c[kChains];
  __m256i d[kChains];
};

template <int kFirst, int kSecond>
COFFER_AVX2_INLINE void HalfRound(States& s) {
  for (size_t i = 0; i < kChains; ++i) s.a[i] = AddAndMultiply(s.a[i], s.b[i]);
  for (size_t i = 0; i < kChains; ++i) s.d[i] = RotateRight<kFirst>(Xor(s.d[i], s.a[i]));
  for (size_t i = 0; i < kChains; ++i) s.c[i] = AddAndMultiply(s.c[i], s.d[i]);
  for (size_t i = 0; i < kChains; ++i) s.b[i] = RotateRight<kSecond>(Xor(s.b[i], s.c[i]));
}

COFFER_AVX2_INLINE void Round(States& s) {
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

// Words i + 1 and i - 1 (modulo 4) for words i = 2 s + e of a state, where Along::Swap exchanges s.
template <class Along>
COFFER_AVX2_INLINE void TakeNext(__m256i* of_e) {
  const __m256i first = of_e[0];
  of_e[0] = of_e[1];
  of_e[1] = Along::Swap(first);
}
template <class Along>
COFFER_AVX2_INLINE void TakeLast(__m256i* of_e) {
  const __m256i first = of_e[0];
  of_e[0] = Along::Swap(of_e[1]);
  of_e[1] = first;
}

// Along rows, i = 2 c0 + e; along columns, i = 2 j0 + e. The diagonals take b_(i+1), c_(i+2) and
// d_(i+3).
template <class Along>
COFFER_AVX2_INLINE void Permute(States& s) {
  Round(s);
  for (size_t g = 0; g < kGroups; ++g) {
    TakeNext<Along>(s.b + 2 * g);
    TakeLast<Along>(s.d + 2 * g);
  }
  for (__m256i& c : s.c) c = Along::Swap(c);
  Round(s);
  for (size_t g = 0; g < kGroups; ++g) {
    TakeLast<Along>(s.b + 2 * g);
    TakeNext<Along>(s.d + 2 * g);
  }
  for (__m256i& c : s.c) c = Along::Swap(c);
}

// Where the vector of words e stands that belongs to rows 2 j1 and 2 j1 + 1 and to columns 2 c1 and
// 2 c1 + 1.
COFFER_AVX2_INLINE size_t At(size_t j1, size_t c1, size_t e) { return 8 * j1 + 2 * c1 + e; }

// R = X xor Y goes to `r`, with what `out` held if that is to stay; P on the rows gives `q`.
template <bool kOver>
COFFER_AVX2_INLINE void PermuteRows(const Argon2Block& x, const Argon2Block& y,
                                    const Argon2Block& out, Argon2Block& r, Argon2Block& q) {
  for (size_t first = 0; first < 4; first += kGroups) {
    States s;
    __m256i* const part[4] = {s.a, s.b, s.c, s.d};
    for (size_t i = 0; i < kChains; ++i) {
      for (size_t c1 = 0; c1 < 4; ++c1) {
        const size_t at = At(first + i / 2, c1, i % 2);
        const __m256i sum = Xor(Load(x, at), Load(y, at));
        part[c1][i] = sum;
        Store(r, at, kOver ? Xor(sum, Load(out, at)) : sum);
      }
    }
    Permute<Columns>(s);
    for (size_t i = 0; i < kChains; ++i) {
      for (size_t c1 = 0; c1 < 4; ++c1) Store(q, At(first + i / 2, c1, i % 2), part[c1][i]);
    }
  }
}

// P on the columns of `q`, and the sum with `r`.
COFFER_AVX2_INLINE void PermuteColumns(const Argon2Block& q, const Argon2Block& r,
                                       Argon2Block& out) {
  for (size_t first = 0; first < 4; first += kGroups) {
    States s;
    __m256i* const part[4] = {s.a, s.b, s.c, s.d};
    for (size_t i = 0; i < kChains; ++i) {
      for (size_t j1 = 0; j1 < 4; ++j1) part[j1][i] = Load(q, At(j1, first + i / 2, i % 2));
    }
    Permute<Rows>(s);
    for (size_t i = 0; i < kChains; ++i) {
      for (size_t j1 = 0; j1 < 4; ++j1) {
        const size_t at = At(j1, first + i / 2, i % 2);
        Store(out, at, Xor(part[j1][i], Load(r, at)));
      }
    }
  }
}

template <bool kOver>
COFFER_AVX2 void CompressBlock(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
                               Argon2Scratch& scratch) {
  PermuteRows<kOver>(x, y, out, scratch.block[0], scratch.block[1]);
  PermuteColumns(scratch.block[1], scratch.block[0], out);
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
