// SPDX-License-Identifier: Apache-2.0
// The inner loops of FrodoKEM with AVX2; frodo_kernels.h says what each computes.
#if defined(__x86_64__)

#include <cstring>

#include "coffer/base/ct.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

using Vector = __m256i;
constexpr size_t kWidth = 16;  // 16-bit elements of a vector

COFFER_AVX2_INLINE Vector Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const Vector*>(from));
}
COFFER_AVX2_INLINE void Store(void* to, Vector value) {
  _mm256_storeu_si256(static_cast<Vector*>(to), value);
}
COFFER_AVX2_INLINE Vector Broadcast16(uint16_t value) {
  return _mm256_set1_epi16(static_cast<short>(value));
}
// Two elements that stand next to each other, in all 32-bit elements.
COFFER_AVX2_INLINE Vector BroadcastPair(const uint16_t* from) {
  int pair;
  std::memcpy(&pair, from, sizeof(pair));
  return _mm256_set1_epi32(pair);
}

// Keeps the compiler from loading a vector from memory once for each use.
COFFER_AVX2_INLINE Vector InRegister(Vector value) {
  __asm__("" : "+x"(value));
  return value;
}

// Four rows of A by kVectors * 16 columns, which stay in registers while all eight rows of B take
// their products: per 16 columns and row of B, four multiplications, four additions, and half a
// load of a factor for each.
constexpr size_t kHalfGroup = kFrodoGroup / 2;
using Factors = Vector[kFrodoNBar][kHalfGroup];

template <size_t kVectors>
COFFER_AVX2_INLINE void AccumulateColumns(const Factors& factors, const uint16_t* rows, size_t n,
                                          uint16_t* b) {
  Vector a[kHalfGroup][kVectors];
  for (size_t k = 0; k < kHalfGroup; ++k) {
    for (size_t v = 0; v < kVectors; ++v) a[k][v] = Load(rows + k * n + v * kWidth);
  }
  for (size_t i = 0; i < kFrodoNBar; ++i) {
    Vector sum[kVectors];
    for (size_t v = 0; v < kVectors; ++v) sum[v] = Load(b + i * n + v * kWidth);
    for (size_t k = 0; k < kHalfGroup; ++k) {
      const Vector factor = InRegister(factors[i][k]);
      for (size_t v = 0; v < kVectors; ++v) {
        sum[v] = _mm256_add_epi16(sum[v], _mm256_mullo_epi16(factor, a[k][v]));
      }
    }
    for (size_t v = 0; v < kVectors; ++v) Store(b + i * n + v * kWidth, sum[v]);
  }
}

COFFER_AVX2 void AccumulateSa(const uint16_t* s, size_t first, const uint16_t* rows, size_t n,
                              uint16_t* b) {
  Factors factors;
  for (size_t half = 0; half < kFrodoGroup; half += kHalfGroup) {
    for (size_t i = 0; i < kFrodoNBar; ++i) {
      for (size_t k = 0; k < kHalfGroup; ++k) {
        factors[i][k] = Broadcast16(s[i * n + first + half + k]);
      }
    }
    const uint16_t* const top = rows + half * n;
    size_t j = 0;
    for (; j + 2 * kWidth <= n; j += 2 * kWidth) AccumulateColumns<2>(factors, top + j, n, b + j);
    if (j < n) AccumulateColumns<1>(factors, top + j, n, b + j);
  }
  SecureWipe(factors, sizeof(factors));
}

// The sums over the elements of four vectors.
COFFER_AVX2_INLINE void StoreSums(const Vector (&sums)[4], uint16_t* out) {
  Vector pairs[4];  // in 32 bits, of which the low 16 are right
  for (size_t m = 0; m < 4; ++m) pairs[m] = _mm256_madd_epi16(sums[m], _mm256_set1_epi16(1));
  const Vector quarters = _mm256_hadd_epi32(_mm256_hadd_epi32(pairs[0], pairs[1]),
                                            _mm256_hadd_epi32(pairs[2], pairs[3]));
  const __m128i total =
      _mm_add_epi32(_mm256_castsi256_si128(quarters), _mm256_extracti128_si256(quarters, 1));
  const __m128i low_words = _mm_shuffle_epi8(
      total, _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1));
  _mm_storeu_si64(out, low_words);
}

COFFER_AVX2 void MultiplyRows(const uint16_t* rows, const uint16_t* t, size_t n, uint16_t* p) {
  for (size_t i = 0; i < kFrodoGroup; i += 2) {
    for (size_t k = 0; k < kFrodoNBar; k += 4) {
      Vector upper[4] = {};
      Vector lower[4] = {};
      for (size_t j = 0; j < n; j += kWidth) {
        const Vector a0 = Load(rows + i * n + j);
        const Vector a1 = Load(rows + (i + 1) * n + j);
        for (size_t m = 0; m < 4; ++m) {
          const Vector column = InRegister(Load(t + (k + m) * n + j));
          upper[m] = _mm256_add_epi16(upper[m], _mm256_mullo_epi16(a0, column));
          lower[m] = _mm256_add_epi16(lower[m], _mm256_mullo_epi16(a1, column));
        }
      }
      StoreSums(upper, p + i * kFrodoNBar + k);
      StoreSums(lower, p + (i + 1) * kFrodoNBar + k);
    }
  }
}

COFFER_AVX2 void AccumulateSb(const uint16_t* s, const uint16_t* b, size_t n, uint16_t* v) {
  Vector sums[kFrodoNBar] = {};  // 32 bits for each of the eight columns
  for (size_t j = 0; j < n; j += 2) {
    // Rows j and j + 1 of B as pairs. The unpacking works in halves, so 64-bit parts are put in
    // order first.
    const Vector ordered = _mm256_permute4x64_epi64(Load(b + j * kFrodoNBar), 0xd8);
    const Vector pairs =
        _mm256_unpacklo_epi16(ordered, _mm256_shuffle_epi32(ordered, _MM_SHUFFLE(3, 2, 3, 2)));
    for (size_t i = 0; i < kFrodoNBar; ++i) {
      sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(pairs, BroadcastPair(s + i * n + j)));
    }
  }
  for (size_t i = 0; i < kFrodoNBar; ++i) {
    const Vector low = _mm256_and_si256(sums[i], _mm256_set1_epi32(0xffff));
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    auto* const row = reinterpret_cast<__m128i*>(v + i * kFrodoNBar);
    _mm_storeu_si128(row, _mm_add_epi16(_mm_loadu_si128(row), words));
  }
}

COFFER_AVX2 void Sample(uint16_t* values, size_t count, std::span<const uint16_t> table) {
  for (size_t i = 0; i < count; i += kWidth) {
    const Vector r = Load(values + i);
    const Vector t = _mm256_srli_epi16(r, 1);
    // t and the table are below 2^15, so that a signed comparison is right; it gives -1 for true.
    Vector negated = _mm256_setzero_si256();
    for (uint16_t entry : table) {
      negated = _mm256_add_epi16(negated, _mm256_cmpgt_epi16(t, Broadcast16(entry)));
    }
    // -e is there; e = ~(-e - 1) = ~(-e) + 1. A sign bit of 0 asks for the negation.
    const Vector one = _mm256_set1_epi16(1);
    const Vector negate = _mm256_sub_epi16(_mm256_and_si256(r, one), one);
    Store(values + i, _mm256_sub_epi16(_mm256_xor_si256(negated, negate), negate));
  }
}

// Reverses the bytes of each 64-bit element.
COFFER_AVX2_INLINE Vector ReverseBytes64(Vector value) {
  return _mm256_shuffle_epi8(value, _mm256_setr_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f,
                                                       0x0001020304050607, 0x08090a0b0c0d0e0f));
}
COFFER_AVX2_INLINE Vector ReverseBytes16(Vector value) {
  return _mm256_shuffle_epi8(value, _mm256_setr_epi64x(0x0607040502030001, 0x0e0f0c0d0a0b0809,
                                                       0x0607040502030001, 0x0e0f0c0d0a0b0809));
}

// Eight elements of 15 bits in each half become 15 bytes and a zero.
COFFER_AVX2_INLINE Vector Pack15(Vector values) {
  const Vector w = _mm256_and_si256(values, _mm256_set1_epi16(0x7fff));
  // w0 * 2^15 + w1, with both factors negated since 2^15 is no signed 16-bit number.
  const Vector factors = _mm256_set1_epi32(static_cast<int>(0xffff8000));
  const Vector pairs = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_madd_epi16(w, factors));
  // Two pairs: 60 bits in each 64.
  const Vector quads = _mm256_or_si256(_mm256_srli_epi64(_mm256_slli_epi64(pairs, 32), 2),
                                       _mm256_srli_epi64(pairs, 32));
  // The upper 64 of 120 bits are the first quad and four bits of the second; the lower 56 follow.
  const Vector four_bits = _mm256_bsrli_epi128(_mm256_srli_epi64(quads, 56), 8);
  const Vector shifted = _mm256_sllv_epi64(quads, _mm256_setr_epi64x(4, 8, 4, 8));
  return ReverseBytes64(_mm256_or_si256(shifted, four_bits));
}

// The inverse; the last byte of each half is not looked at.
COFFER_AVX2_INLINE Vector Unpack15(Vector bytes) {
  // The upper 60 of 120 bits are in bytes 0 to 7, the lower 60 in bytes 7 to 14.
  const Vector wide =
      _mm256_shuffle_epi8(bytes, _mm256_setr_epi64x(0x0001020304050607, 0x0708090a0b0c0d0e,
                                                    0x0001020304050607, 0x0708090a0b0c0d0e));
  const Vector quads =
      _mm256_srli_epi64(_mm256_sllv_epi64(wide, _mm256_setr_epi64x(0, 4, 0, 4)), 4);
  const Vector pairs = _mm256_or_si256(_mm256_srli_epi64(quads, 30),
                                       _mm256_srli_epi64(_mm256_slli_epi64(quads, 34), 2));
  return _mm256_or_si256(_mm256_srli_epi32(pairs, 15),
                         _mm256_srli_epi32(_mm256_slli_epi32(pairs, 17), 1));
}

constexpr size_t kPacked15Size = 30;  // bytes of 16 elements

COFFER_AVX2_INLINE void StorePacked15(uint8_t* out, Vector packed) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(packed));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 15), _mm256_extracti128_si256(packed, 1));
}

COFFER_AVX2 void Pack(const uint16_t* values, size_t count, unsigned d, uint8_t* out) {
  if (d == 16) {
    for (size_t i = 0; i < count; i += kWidth) {
      Store(out + 2 * i, ReverseBytes16(Load(values + i)));
    }
    return;
  }
  // Each store writes a byte too many, which the next one overwrites.
  for (; count > kWidth; count -= kWidth, values += kWidth, out += kPacked15Size) {
    StorePacked15(out, Pack15(Load(values)));
  }
  uint8_t last[kPacked15Size + 1];
  StorePacked15(last, Pack15(Load(values)));
  std::memcpy(out, last, kPacked15Size);
}

COFFER_AVX2_INLINE Vector LoadPacked15(const uint8_t* in) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 15));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

COFFER_AVX2 void Unpack(const uint8_t* in, size_t count, unsigned d, uint16_t* values) {
  if (d == 16) {
    for (size_t i = 0; i < count; i += kWidth) {
      Store(values + i, ReverseBytes16(Load(in + 2 * i)));
    }
    return;
  }
  // Each load reads a byte too many, so the last one reads a copy.
  for (; count > kWidth; count -= kWidth, values += kWidth, in += kPacked15Size) {
    Store(values, Unpack15(LoadPacked15(in)));
  }
  uint8_t last[kPacked15Size + 1] = {};
  std::memcpy(last, in, kPacked15Size);
  Store(values, Unpack15(LoadPacked15(last)));
}

COFFER_AVX2 uint16_t Difference(const uint16_t* a, const uint16_t* b, size_t count, uint16_t mask) {
  Vector all = _mm256_setzero_si256();
  for (size_t i = 0; i < count; i += kWidth) {
    all = _mm256_or_si256(all, _mm256_xor_si256(Load(a + i), Load(b + i)));
  }
  all = _mm256_and_si256(all, Broadcast16(mask));
  const __m128i half = _mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
  uint64_t words = static_cast<uint64_t>(_mm_cvtsi128_si64(half)) |
                   static_cast<uint64_t>(_mm_extract_epi64(half, 1));
  words |= words >> 32;
  words |= words >> 16;
  return ct::ValueBarrier(static_cast<uint16_t>(words));
}

}  // namespace

const FrodoKernels kFrodoKernelsAvx2 = {
    .accumulate_sa = AccumulateSa,
    .multiply_rows = MultiplyRows,
    .accumulate_sb = AccumulateSb,
    .sample = Sample,
    .pack = Pack,
    .unpack = Unpack,
    .difference = Difference,
};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
