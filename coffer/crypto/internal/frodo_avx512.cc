// SPDX-License-Identifier: Apache-2.0
// The inner loops of FrodoKEM with AVX-512 and VNNI; frodo_kernels.h says what each computes. What
// is done once an operation and takes next to no time is left to AVX2.
#if defined(__x86_64__)

#include <cstring>

#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

using Vector = __m512i;
constexpr size_t kWidth = 32;  // 16-bit elements of a vector

// The first `left` elements, at most all; n = 976 ends in the middle of a vector.
COFFER_VNNI512_INLINE __mmask32 FirstElements(size_t left) {
  return left >= kWidth ? ~__mmask32{0} : (__mmask32{1} << left) - 1;
}

// Two elements that stand next to each other, in all 32-bit elements.
COFFER_VNNI512_INLINE Vector BroadcastPair(const uint16_t* from) {
  int pair;
  std::memcpy(&pair, from, sizeof(pair));
  return _mm512_set1_epi32(pair);
}

constexpr size_t kPairs = kFrodoGroup / 2;

// Eight rows of A by 32 columns. Rows 2p and 2p + 1 are interleaved, so that vpdpwssd adds two
// products to a 32-bit sum; `low` has columns 0 to 3 of every eight, `high` 4 to 7.
struct Columns {
  Vector low[kPairs];
  Vector high[kPairs];
};

COFFER_VNNI512_INLINE Columns LoadColumns(const uint16_t* rows, size_t n, __mmask32 mask) {
  Columns a;
  for (size_t pair = 0; pair < kPairs; ++pair) {
    const Vector even = _mm512_maskz_loadu_epi16(mask, rows + 2 * pair * n);
    const Vector odd = _mm512_maskz_loadu_epi16(mask, rows + (2 * pair + 1) * n);
    a.low[pair] = _mm512_unpacklo_epi16(even, odd);
    a.high[pair] = _mm512_unpackhi_epi16(even, odd);
  }
  return a;
}

COFFER_VNNI512 void AccumulateSa(const uint16_t* s, size_t first, const uint16_t* rows, size_t n,
                                 uint16_t* b) {
  const Vector low_words = _mm512_set1_epi32(0xffff);
  for (size_t j = 0; j < n; j += kWidth) {
    const __mmask32 mask = FirstElements(n - j);
    const Columns a = LoadColumns(rows + j, n, mask);
    for (size_t i = 0; i < kFrodoNBar; ++i) {
      Vector low = _mm512_setzero_si512();
      Vector high = _mm512_setzero_si512();
      for (size_t pair = 0; pair < kPairs; ++pair) {
        const Vector factors = BroadcastPair(s + i * n + first + 2 * pair);
        low = _mm512_dpwssd_epi32(low, a.low[pair], factors);
        high = _mm512_dpwssd_epi32(high, a.high[pair], factors);
      }
      // The pack undoes the order of low and high; masked, nothing saturates.
      const Vector products =
          _mm512_packus_epi32(_mm512_and_si512(low, low_words), _mm512_and_si512(high, low_words));
      uint16_t* const row = b + i * n + j;
      const Vector sum = _mm512_add_epi16(_mm512_maskz_loadu_epi16(mask, row), products);
      _mm512_mask_storeu_epi16(row, mask, sum);
    }
  }
}

COFFER_VNNI512 void MultiplyRows(const uint16_t* rows, const uint16_t* t, size_t n, uint16_t* p) {
  constexpr size_t kAtOnce = 4;
  for (size_t i = 0; i < kFrodoGroup; i += kAtOnce) {
    for (size_t k = 0; k < kFrodoNBar; k += kAtOnce) {
      Vector sums[kAtOnce][kAtOnce] = {};
      for (size_t j = 0; j < n; j += kWidth) {
        const __mmask32 mask = FirstElements(n - j);
        Vector columns[kAtOnce];
        for (size_t m = 0; m < kAtOnce; ++m) {
          columns[m] = _mm512_maskz_loadu_epi16(mask, t + (k + m) * n + j);
        }
        for (size_t r = 0; r < kAtOnce; ++r) {
          const Vector row = _mm512_maskz_loadu_epi16(mask, rows + (i + r) * n + j);
          for (size_t m = 0; m < kAtOnce; ++m) {
            sums[r][m] = _mm512_dpwssd_epi32(sums[r][m], row, columns[m]);
          }
        }
      }
      for (size_t r = 0; r < kAtOnce; ++r) {
        for (size_t m = 0; m < kAtOnce; ++m) {
          p[(i + r) * kFrodoNBar + k + m] =
              static_cast<uint16_t>(_mm512_reduce_add_epi32(sums[r][m]));
        }
      }
    }
  }
}

COFFER_VNNI512 void Sample(uint16_t* values, size_t count, std::span<const uint16_t> table) {
  const Vector one = _mm512_set1_epi16(1);
  for (size_t i = 0; i < count; i += kWidth) {
    const __mmask32 mask = FirstElements(count - i);
    const Vector r = _mm512_maskz_loadu_epi16(mask, values + i);
    const Vector t = _mm512_srli_epi16(r, 1);
    Vector e = _mm512_setzero_si512();
    for (uint16_t entry : table) {
      // Both are below 2^15: the top bit of T_X(i) - t is set exactly if t > T_X(i).
      const Vector less = _mm512_sub_epi16(_mm512_set1_epi16(static_cast<short>(entry)), t);
      e = _mm512_add_epi16(e, _mm512_srli_epi16(less, 15));
    }
    const Vector sign = _mm512_sub_epi16(_mm512_setzero_si512(), _mm512_and_si512(r, one));
    const Vector sample = _mm512_sub_epi16(_mm512_xor_si512(e, sign), sign);
    _mm512_mask_storeu_epi16(values + i, mask, sample);
  }
}

void AccumulateSb(const uint16_t* s, const uint16_t* b, size_t n, uint16_t* v) {
  kFrodoKernelsAvx2.accumulate_sb(s, b, n, v);
}
void Pack(const uint16_t* values, size_t count, unsigned d, uint8_t* out) {
  kFrodoKernelsAvx2.pack(values, count, d, out);
}
void Unpack(const uint8_t* in, size_t count, unsigned d, uint16_t* values) {
  kFrodoKernelsAvx2.unpack(in, count, d, values);
}
uint16_t Difference(const uint16_t* a, const uint16_t* b, size_t count, uint16_t mask) {
  return kFrodoKernelsAvx2.difference(a, b, count, mask);
}

}  // namespace

const FrodoKernels kFrodoKernelsAvx512 = {
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
