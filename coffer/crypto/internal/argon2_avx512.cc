// SPDX-License-Identifier: Apache-2.0
// Argon2's compression function with AVX-512. A vector holds two rows (j0) times two pairs (c0) of
// words (e), and the whole block its 16 vectors: only what the diagonals of the two rounds need is
// moved, and nothing to turn rows into columns.
#if defined(__x86_64__)

#include "coffer/crypto/internal/argon2_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

constexpr int kXor3 = 0xf0 ^ 0xcc ^ 0xaa;  // truth table of vpternlogq

COFFER_AVX512_INLINE __m512i Load(const Argon2Block& block, size_t vector) {
  return _mm512_load_si512(block.word + 8 * vector);
}
COFFER_AVX512_INLINE void Store(Argon2Block& block, size_t vector, __m512i words) {
  _mm512_store_si512(block.word + 8 * vector, words);
}

COFFER_AVX512_INLINE __m512i Xor(__m512i a, __m512i b) { return _mm512_xor_si512(a, b); }

COFFER_AVX512_INLINE __m512i AddAndMultiply(__m512i a, __m512i b) {
  const __m512i product = _mm512_mul_epu32(a, b);
  return _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(product, product));
}

// Four times two times 16 words: kGroups independent pairs of states, each with one vector in each
// array.
constexpr size_t kGroups = 4;
struct States {
  __m512i a[kGroups];
  __m512i b[kGroups];
  __m512i c[kGroups];
  __m512i d[kGroups];
};

template <int kFirst, int kSecond>
COFFER_AVX512_INLINE void HalfRound(States& s) {
  for (size_t g = 0; g < kGroups; ++g) s.a[g] = AddAndMultiply(s.a[g], s.b[g]);
  for (size_t g = 0; g < kGroups; ++g) s.d[g] = _mm512_ror_epi64(Xor(s.d[g], s.a[g]), kFirst);
  for (size_t g = 0; g < kGroups; ++g) s.c[g] = AddAndMultiply(s.c[g], s.d[g]);
  for (size_t g = 0; g < kGroups; ++g) s.b[g] = _mm512_ror_epi64(Xor(s.b[g], s.c[g]), kSecond);
}

COFFER_AVX512_INLINE void Round(States& s) {
  HalfRound<32, 24>(s);
  HalfRound<16, 63>(s);
}

// Word i of a state takes the place of word i - kBy, modulo 4. The lanes of a vector are
// 4 j0 + 2 c0 + e. Along a row i = 2 c0 + e, so each half turns by itself.
struct Columns {
  template <int kBy>
  COFFER_AVX512_INLINE static __m512i Turn(__m512i a) {
    constexpr int kFrom = kBy % 4 | (1 + kBy) % 4 << 2 | (2 + kBy) % 4 << 4 | (3 + kBy) % 4 << 6;
    return _mm512_permutex_epi64(a, kFrom);
  }
};

// Along a column i = 2 j0 + e: the lanes of i = 0 .. 3 are 0, 1, 4, 5 and, of the other column,
// 2, 3, 6, 7.
struct Rows {
  static constexpr int64_t LaneOf(int i) { return i / 2 % 2 * 4 + i % 2; }
  template <int kBy>
  COFFER_AVX512_INLINE static __m512i Turn(__m512i a) {
    constexpr int64_t kLane0 = LaneOf(kBy);
    constexpr int64_t kLane1 = LaneOf(1 + kBy);
    constexpr int64_t kLane4 = LaneOf(2 + kBy);
    constexpr int64_t kLane5 = LaneOf(3 + kBy);
    const __m512i from = _mm512_setr_epi64(kLane0, kLane1, kLane0 + 2, kLane1 + 2, kLane4, kLane5,
                                           kLane4 + 2, kLane5 + 2);
    return _mm512_permutexvar_epi64(from, a);
  }
};

// P on all rows or on all columns. The diagonals take b_(i+1), c_(i+2) and d_(i+3).
template <class Along>
COFFER_AVX512_INLINE void Permute(States& s) {
  Round(s);
  for (size_t g = 0; g < kGroups; ++g) {
    s.b[g] = Along::template Turn<1>(s.b[g]);
    s.c[g] = Along::template Turn<2>(s.c[g]);
    s.d[g] = Along::template Turn<3>(s.d[g]);
  }
  Round(s);
  for (size_t g = 0; g < kGroups; ++g) {
    s.b[g] = Along::template Turn<3>(s.b[g]);
    s.c[g] = Along::template Turn<2>(s.c[g]);
    s.d[g] = Along::template Turn<1>(s.d[g]);
  }
}

// Vector 4 j1 + c1 of a block is part c1 of the rows of group j1, and part j1 of the columns of
// group c1.
template <bool kOver>
COFFER_AVX512 void CompressBlock(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
                                 Argon2Scratch& /*scratch*/) {
  States rows;
  __m512i* const of_row[4] = {rows.a, rows.b, rows.c, rows.d};
  for (size_t j1 = 0; j1 < 4; ++j1) {
    for (size_t c1 = 0; c1 < 4; ++c1) {
      const size_t at = 4 * j1 + c1;
      of_row[c1][j1] = Xor(Load(x, at), Load(y, at));
    }
  }
  Permute<Columns>(rows);
  States columns;
  __m512i* const of_column[4] = {columns.a, columns.b, columns.c, columns.d};
  for (size_t j1 = 0; j1 < 4; ++j1) {
    for (size_t c1 = 0; c1 < 4; ++c1) of_column[j1][c1] = of_row[c1][j1];
  }
  Permute<Rows>(columns);
  for (size_t j1 = 0; j1 < 4; ++j1) {
    for (size_t c1 = 0; c1 < 4; ++c1) {
      const size_t at = 4 * j1 + c1;
      // R is made again rather than kept: x and y are in the first cache.
      __m512i z = _mm512_ternarylogic_epi64(of_column[j1][c1], Load(x, at), Load(y, at), kXor3);
      if constexpr (kOver) z = Xor(z, Load(out, at));
      Store(out, at, z);
    }
  }
}

}  // namespace

const Argon2Implementation kArgon2Avx512 = {
    .name = "avx512",
    .level = os::SimdLevel::kAvx512,
    .order = Argon2VectorOrder<8>(),
    .compress = CompressBlock<false>,
    .compress_over = CompressBlock<true>,
};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
