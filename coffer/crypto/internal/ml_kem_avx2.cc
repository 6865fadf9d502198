// SPDX-License-Identifier: Apache-2.0
// The arithmetic of ML-KEM-768 with AVX2: 16 coefficients to a vector.
//
// Products modulo q are Montgomery's with R = 2^16, signed: for |a b| < 2^15 q the result is
// a b / R modulo q and at most |a b| / R + q / 2 in size. Constants carry the factor R, so that
// it never leaves a function. With |b| <= q / 2 a product is below 0.76 q whatever 16-bit a is.
#if defined(__x86_64__)

#include <array>
#include <bit>
#include <cstring>

#include "coffer/crypto/internal/ml_kem_constants.h"
#include "coffer/crypto/internal/ml_kem_kernels.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

constexpr size_t kWidth = 16;  // coefficients of a vector
constexpr size_t kVectors = kN / kWidth;

// A 16-bit constant to multiply by: itself, and what the lower half of the product needs.
constexpr uint32_t kInverseOfQ = 62209;  // modulo 2^16
static_assert((kInverseOfQ * kQ & 0xffff) == 1);

constexpr int16_t Centred(uint32_t x) {
  const int value = static_cast<int>(x % kQ);
  return static_cast<int16_t>(value > kQ / 2 ? value - kQ : value);
}
constexpr uint32_t kR = (uint32_t{1} << 16) % kQ;

// x R modulo q, and that times 1 / q modulo 2^16.
constexpr int16_t Montgomery(uint32_t x) { return Centred(x % kQ * kR); }
constexpr int16_t Low(int16_t factor) {
  return static_cast<int16_t>(static_cast<uint16_t>(static_cast<uint16_t>(factor) * kInverseOfQ));
}

// Vectors of constants, in the order in which a transform meets its coefficients.
template <size_t kCount>
struct alignas(32) Factors {
  int16_t factor[kCount][kWidth];
  int16_t low[kCount][kWidth];
};

// The layers of the transforms inside a pair of vectors: block `pair` of 32 coefficients. Layer
// `len` = 16, 8, 4, 2 has 16 / len sub-blocks there, each with its own zeta; `index(block)` is the
// place of that in kZetas. The order within a vector is that of ForwardPair.
template <size_t kLen, class Index>
constexpr Factors<8> MakePairFactors(Index index) {
  Factors<8> factors{};
  constexpr size_t kBlocks = 16 / kLen;
  for (size_t pair = 0; pair < 8; ++pair) {
    for (size_t i = 0; i < kWidth; ++i) {
      const size_t zeta = index(pair * kBlocks + i / kLen);
      factors.factor[pair][i] = Montgomery(kZetas[zeta]);
      factors.low[pair][i] = Low(factors.factor[pair][i]);
    }
  }
  return factors;
}

template <size_t kLen>
constexpr Factors<8> MakeForwardFactors() {
  return MakePairFactors<kLen>([](size_t block) { return 128 / kLen + block; });
}
template <size_t kLen>
constexpr Factors<8> MakeInverseFactors() {
  return MakePairFactors<kLen>([](size_t block) { return 256 / kLen - 1 - block; });
}
constexpr Factors<8> kForward16 = MakeForwardFactors<16>();
constexpr Factors<8> kForward8 = MakeForwardFactors<8>();
constexpr Factors<8> kForward4 = MakeForwardFactors<4>();
constexpr Factors<8> kForward2 = MakeForwardFactors<2>();
constexpr Factors<8> kInverse16 = MakeInverseFactors<16>();
constexpr Factors<8> kInverse8 = MakeInverseFactors<8>();
constexpr Factors<8> kInverse4 = MakeInverseFactors<4>();
constexpr Factors<8> kInverse2 = MakeInverseFactors<2>();

// R^2 at even places and gamma R^2 at odd ones.
constexpr Factors<kVectors> MakeGammaFactors() {
  Factors<kVectors> factors{};
  for (size_t i = 0; i < kN; ++i) {
    const uint32_t gamma = i % 2 == 0 ? 1 : kGammas[i / 2];
    const int16_t factor = Montgomery(gamma * kR);
    factors.factor[i / kWidth][i % kWidth] = factor;
    factors.low[i / kWidth][i % kWidth] = Low(factor);
  }
  return factors;
}
constexpr Factors<kVectors> kGammaFactors = MakeGammaFactors();

COFFER_AVX2_INLINE __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
COFFER_AVX2_INLINE void Save(void* to, __m256i a) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), a);
}
COFFER_AVX2_INLINE __m256i Get(const Poly& f, size_t vector) { return Load(f.c + kWidth * vector); }
COFFER_AVX2_INLINE void Put(Poly& f, size_t vector, __m256i a) { Save(f.c + kWidth * vector, a); }
COFFER_AVX2_INLINE __m256i All(int value) { return _mm256_set1_epi16(static_cast<int16_t>(value)); }

struct Factor {
  __m256i factor;
  __m256i low;
};

COFFER_AVX2_INLINE Factor AllFactor(int16_t factor) { return {All(factor), All(Low(factor))}; }
template <size_t kCount>
COFFER_AVX2_INLINE Factor LoadFactor(const Factors<kCount>& factors, size_t i) {
  return {Load(factors.factor[i]), Load(factors.low[i])};
}

COFFER_AVX2_INLINE __m256i Multiply(__m256i a, const Factor& b) {
  const __m256i low = _mm256_mullo_epi16(a, b.low);
  const __m256i high = _mm256_mulhi_epi16(a, b.factor);
  return _mm256_sub_epi16(high, _mm256_mulhi_epi16(low, All(kQ)));
}

// Any a to 0 <= a <= q (Barrett): 20159 / 2^26 is above 1 / q by less than 2^-28.
COFFER_AVX2_INLINE __m256i Barrett(__m256i a) {
  const __m256i quotient = _mm256_srai_epi16(_mm256_mulhi_epi16(a, All(20159)), 10);
  return _mm256_sub_epi16(a, _mm256_mullo_epi16(quotient, All(kQ)));
}

COFFER_AVX2_INLINE __m256i Canonical(__m256i a) {
  const __m256i below = _mm256_sub_epi16(Barrett(a), All(kQ));
  return _mm256_add_epi16(below, _mm256_and_si256(_mm256_srai_epi16(below, 15), All(kQ)));
}

// Both butterflies work on all 16 places of a pair of vectors.
COFFER_AVX2_INLINE void Forward(__m256i& low, __m256i& high, const Factor& zeta) {
  const __m256i t = Multiply(high, zeta);
  high = _mm256_sub_epi16(low, t);
  low = _mm256_add_epi16(low, t);
}
COFFER_AVX2_INLINE void Inverse(__m256i& low, __m256i& high, const Factor& zeta) {
  const __m256i t = low;
  low = _mm256_add_epi16(t, high);
  high = Multiply(_mm256_sub_epi16(high, t), zeta);
}

// Layers 128, 64 and 32: they pair whole vectors, 8, 4 and 2 apart.
COFFER_AVX2_INLINE void ForwardWide(Poly& f, size_t first) {
  __m256i v[8];
  for (size_t i = 0; i < 8; ++i) v[i] = Get(f, first + 2 * i);
  const Factor layer128 = AllFactor(Montgomery(kZetas[1]));
  for (size_t i = 0; i < 4; ++i) Forward(v[i], v[i + 4], layer128);
  for (size_t block = 0; block < 2; ++block) {
    const Factor zeta = AllFactor(Montgomery(kZetas[2 + block]));
    Forward(v[4 * block], v[4 * block + 2], zeta);
    Forward(v[4 * block + 1], v[4 * block + 3], zeta);
  }
  for (size_t block = 0; block < 4; ++block) {
    Forward(v[2 * block], v[2 * block + 1], AllFactor(Montgomery(kZetas[4 + block])));
  }
  for (size_t i = 0; i < 8; ++i) Put(f, first + 2 * i, v[i]);
}

// Layers 16, 8, 4 and 2 on 32 coefficients. After each, halves are sorted so that the next layer
// pairs whole vectors again; coefficients in comments are by their place among the first 16.
COFFER_AVX2_INLINE void ForwardPair(Poly& f, size_t pair) {
  __m256i a = Get(f, 2 * pair);
  __m256i b = Get(f, 2 * pair + 1);
  Forward(a, b, LoadFactor(kForward16, pair));
  __m256i x = _mm256_permute2x128_si256(a, b, 0x20);  // 0-7
  __m256i y = _mm256_permute2x128_si256(a, b, 0x31);  // 8-15
  Forward(x, y, LoadFactor(kForward8, pair));
  a = _mm256_unpacklo_epi64(x, y);  // 0-3, 8-11
  b = _mm256_unpackhi_epi64(x, y);  // 4-7, 12-15
  Forward(a, b, LoadFactor(kForward4, pair));
  x = _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa);  // 0 1, 4 5, 8 9, 12 13
  y = _mm256_blend_epi32(_mm256_srli_epi64(a, 32), b, 0xaa);  // 2 3, 6 7, 10 11, 14 15
  Forward(x, y, LoadFactor(kForward2, pair));
  a = _mm256_unpacklo_epi32(x, y);  // 0-7
  b = _mm256_unpackhi_epi32(x, y);  // 8-15
  Put(f, 2 * pair, _mm256_permute2x128_si256(a, b, 0x20));
  Put(f, 2 * pair + 1, _mm256_permute2x128_si256(a, b, 0x31));
}

// Sizes: each of seven layers adds less than q.
COFFER_AVX2 void Ntt(Poly& f) {
  ForwardWide(f, 0);
  ForwardWide(f, 1);
  for (size_t pair = 0; pair < 8; ++pair) ForwardPair(f, pair);
}

// Layers 2, 4, 8 and 16. Sizes: sums double from below q up to 8 q, which fits, in the first three
// layers, are reduced, and leave the fourth below 2 q.
COFFER_AVX2_INLINE void InversePair(Poly& f, size_t pair) {
  __m256i x = Get(f, 2 * pair);
  __m256i y = Get(f, 2 * pair + 1);
  __m256i a = _mm256_permute2x128_si256(x, y, 0x20);  // 0-7
  __m256i b = _mm256_permute2x128_si256(x, y, 0x31);  // 8-15
  const __m256 a_floats = _mm256_castsi256_ps(a);
  const __m256 b_floats = _mm256_castsi256_ps(b);
  x = _mm256_castps_si256(_mm256_shuffle_ps(a_floats, b_floats, 0x88));  // 0 1, 4 5, 8 9, 12 13
  y = _mm256_castps_si256(_mm256_shuffle_ps(a_floats, b_floats, 0xdd));  // 2 3, 6 7, 10 11, 14 15
  Inverse(x, y, LoadFactor(kInverse2, pair));
  a = _mm256_blend_epi32(x, _mm256_slli_epi64(y, 32), 0xaa);  // 0-3, 8-11
  b = _mm256_blend_epi32(_mm256_srli_epi64(x, 32), y, 0xaa);  // 4-7, 12-15
  Inverse(a, b, LoadFactor(kInverse4, pair));
  x = _mm256_unpacklo_epi64(a, b);  // 0-7
  y = _mm256_unpackhi_epi64(a, b);  // 8-15
  Inverse(x, y, LoadFactor(kInverse8, pair));
  x = Barrett(x);
  a = _mm256_permute2x128_si256(x, y, 0x20);
  b = _mm256_permute2x128_si256(x, y, 0x31);
  Inverse(a, b, LoadFactor(kInverse16, pair));
  Put(f, 2 * pair, a);
  Put(f, 2 * pair + 1, b);
}

// Layers 32, 64 and 128, and the division by 128. Sizes: sums of the first layer are below 4 q and
// are reduced; those of the last are below 4 q again and are multiplied.
COFFER_AVX2_INLINE void InverseWide(Poly& f, size_t first) {
  __m256i v[8];
  for (size_t i = 0; i < 8; ++i) v[i] = Get(f, first + 2 * i);
  for (size_t block = 0; block < 4; ++block) {
    Inverse(v[2 * block], v[2 * block + 1], AllFactor(Montgomery(kZetas[7 - block])));
    v[2 * block] = Barrett(v[2 * block]);
  }
  for (size_t block = 0; block < 2; ++block) {
    const Factor zeta = AllFactor(Montgomery(kZetas[3 - block]));
    Inverse(v[4 * block], v[4 * block + 2], zeta);
    Inverse(v[4 * block + 1], v[4 * block + 3], zeta);
  }
  const Factor scale = AllFactor(Montgomery(kInverseOf128));
  const Factor last = AllFactor(Montgomery(kInverseOf128 * kZetas[1]));
  for (size_t i = 0; i < 4; ++i) {
    Inverse(v[i], v[i + 4], last);
    v[i] = Multiply(v[i], scale);
  }
  for (size_t i = 0; i < 8; ++i) Put(f, first + 2 * i, v[i]);
}

COFFER_AVX2 void InverseNtt(Poly& f) {
  for (size_t pair = 0; pair < 8; ++pair) InversePair(f, pair);
  InverseWide(f, 0);
  InverseWide(f, 1);
}

// For each pair (b0, b1) of f: straight = (b0 R, b1 gamma R), swapped = (b1 R, b0 R).
COFFER_AVX2 void Prepare(const Poly& f, PreparedPoly& prepared) {
  const Factor r_squared = AllFactor(Montgomery(kR));
  const __m256i swap_pairs = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  for (size_t i = 0; i < kVectors; ++i) {
    const __m256i b = Get(f, i);
    Save(prepared.straight + kWidth * i, Multiply(b, LoadFactor(kGammaFactors, i)));
    Save(prepared.swapped + kWidth * i, _mm256_shuffle_epi8(Multiply(b, r_squared), swap_pairs));
  }
}

// Eight 32-bit sums divided by R modulo q, each in the upper half of its place.
COFFER_AVX2_INLINE __m256i ReduceSums(__m256i sums) {
  const __m256i low = _mm256_mullo_epi16(sums, All(kInverseOfQ));
  return _mm256_sub_epi32(sums, _mm256_madd_epi16(low, _mm256_set1_epi32(kQ)));
}

// Sizes: six products of a < q and |b| < 0.76 q stay below 2^26; divided by R, with q / 2 from the
// reduction, the result is below q.
COFFER_AVX2 void InnerProduct(const PolyVector& a, const PreparedVector& b, Poly& sum) {
  for (size_t i = 0; i < kVectors; ++i) {
    __m256i c0 = _mm256_setzero_si256();
    __m256i c1 = _mm256_setzero_si256();
    for (size_t j = 0; j < kK; ++j) {
      const __m256i factor = Get(a[j], i);
      c0 = _mm256_add_epi32(c0, _mm256_madd_epi16(factor, Load(b[j].straight + kWidth * i)));
      c1 = _mm256_add_epi32(c1, _mm256_madd_epi16(factor, Load(b[j].swapped + kWidth * i)));
    }
    Put(sum, i, _mm256_blend_epi16(_mm256_srli_epi32(ReduceSums(c0), 16), ReduceSums(c1), 0xaa));
  }
}

COFFER_AVX2 void AddPoly(Poly& f, const Poly& g) {
  for (size_t i = 0; i < kVectors; ++i) Put(f, i, _mm256_add_epi16(Get(f, i), Get(g, i)));
}

COFFER_AVX2 void SubtractPoly(Poly& f, const Poly& g) {
  for (size_t i = 0; i < kVectors; ++i) Put(f, i, _mm256_sub_epi16(Get(f, i), Get(g, i)));
}

COFFER_AVX2 void Canonicalise(Poly& f) {
  for (size_t i = 0; i < kVectors; ++i) Put(f, i, Canonical(Get(f, i)));
}

// Four bits make a coefficient: the number of ones among the lower two less that among the upper.
// The table is a register; vpshufb takes the same time whatever is looked up.
COFFER_AVX2 void SampleNoise(std::span<const uint8_t, kNoiseSize> bytes, Poly& f) {
  const __m256i table = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 1, 2, -1, 0, 0, 1, -1, 0, 0, 1, -2, -1, -1, 0));
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  for (size_t i = 0; i < kNoiseSize / 32; ++i) {
    const __m256i in = Load(bytes.data() + 32 * i);
    const __m256i even = _mm256_shuffle_epi8(table, _mm256_and_si256(in, nibble));
    const __m256i odd =
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(in, 4), nibble));
    const __m256i first = _mm256_unpacklo_epi8(even, odd);   // 0-15, 32-47
    const __m256i second = _mm256_unpackhi_epi8(even, odd);  // 16-31, 48-63
    Put(f, 4 * i, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(first)));
    Put(f, 4 * i + 1, _mm256_cvtepi8_epi16(_mm256_castsi256_si128(second)));
    Put(f, 4 * i + 2, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(first, 1)));
    Put(f, 4 * i + 3, _mm256_cvtepi8_epi16(_mm256_extracti128_si256(second, 1)));
  }
}

// 12 bytes in each half to eight 12-bit numbers.
COFFER_AVX2_INLINE __m256i Unpack12(__m128i low, __m128i high) {
  const __m256i places =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11));
  const __m256i words = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), places);
  return _mm256_blend_epi16(_mm256_and_si256(words, All(0xfff)), _mm256_srli_epi16(words, 4), 0xaa);
}

// For each set of eight numbers that are to stay, the shuffle that moves them to the front.
struct alignas(16) FrontShuffles {
  uint8_t bytes[256][16];
};
constexpr FrontShuffles MakeFrontShuffles() {
  FrontShuffles shuffles{};
  for (size_t set = 0; set < 256; ++set) {
    size_t made = 0;
    for (size_t i = 0; i < 8; ++i) {
      if ((set >> i & 1) == 0) continue;
      shuffles.bytes[set][made++] = static_cast<uint8_t>(2 * i);
      shuffles.bytes[set][made++] = static_cast<uint8_t>(2 * i + 1);
    }
  }
  return shuffles;
}
constexpr FrontShuffles kFrontShuffles = MakeFrontShuffles();

// Writes those of eight numbers that are in the set, and whatever else up to eight.
COFFER_AVX2_INLINE size_t StoreFront(__m128i numbers, uint32_t set, int16_t* out) {
  const __m128i shuffle =
      _mm_load_si128(reinterpret_cast<const __m128i*>(kFrontShuffles.bytes[set]));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(numbers, shuffle));
  return static_cast<size_t>(std::popcount(set));
}

COFFER_AVX2 size_t SampleUniform(std::span<const uint8_t> bytes, std::span<int16_t> out) {
  size_t made = 0;
  size_t at = 0;
  // 24 bytes a turn, of loads that reach over 28, and stores of twice eight numbers.
  for (; at + 28 <= bytes.size() && made + kWidth <= out.size(); at += 24) {
    const uint8_t* const from = bytes.data() + at;
    const __m256i numbers = Unpack12(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)),
                                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 12)));
    const __m256i fits = _mm256_cmpgt_epi16(All(kQ), numbers);
    const uint32_t sets = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_packs_epi16(fits, _mm256_setzero_si256())));
    made += StoreFront(_mm256_castsi256_si128(numbers), sets & 0xff, out.data() + made);
    made += StoreFront(_mm256_extracti128_si256(numbers, 1), sets >> 16, out.data() + made);
  }
  return made + kMlKemPortable.sample_uniform(bytes.subspan(at), out.subspan(made));
}

// Exactly 12 or 10 bytes, so that nothing beyond a span is touched.
template <size_t kSize>
COFFER_AVX2_INLINE __m128i LoadShort(const uint8_t* from) {
  uint64_t low;
  uint32_t high = 0;
  std::memcpy(&low, from, 8);
  std::memcpy(&high, from + 8, kSize - 8);
  return _mm_insert_epi32(_mm_cvtsi64_si128(static_cast<long long>(low)), static_cast<int>(high),
                          2);
}
template <size_t kSize>
COFFER_AVX2_INLINE void StoreShort(uint8_t* to, __m128i a) {
  const uint64_t low = static_cast<uint64_t>(_mm_cvtsi128_si64(a));
  const uint32_t high = static_cast<uint32_t>(_mm_extract_epi32(a, 2));
  std::memcpy(to, &low, 8);
  std::memcpy(to + 8, &high, kSize - 8);
}

COFFER_AVX2 void Encode(const Poly& f, std::span<uint8_t, kEncodedPolySize> bytes) {
  const __m256i join = _mm256_set1_epi32(0x10000001);  // c0 + 2^12 c1
  const __m256i pack = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  for (size_t i = 0; i < kVectors; ++i) {
    const __m256i packed = _mm256_shuffle_epi8(_mm256_madd_epi16(Get(f, i), join), pack);
    StoreShort<12>(bytes.data() + 24 * i, _mm256_castsi256_si128(packed));
    StoreShort<12>(bytes.data() + 24 * i + 12, _mm256_extracti128_si256(packed, 1));
  }
}

COFFER_AVX2 void Decode(std::span<const uint8_t, kEncodedPolySize> bytes, Poly& f) {
  for (size_t i = 0; i < kVectors; ++i) {
    const uint8_t* const from = bytes.data() + 24 * i;
    Put(f, i, Unpack12(LoadShort<12>(from), LoadShort<12>(from + 12)));
  }
}

// 2^d x / q, rounded, for canonical x, before the reduction modulo 2^d. The quotient is never
// nearer to a half than 1 / 2q. 40318 / 2^27 is (1 + 894 / 2^27) / q, so that the product is too
// large by 0.36 / q at most for d = 4, which does no harm, and by 23 / q for d = 10: there the
// rounded y may be one too large, which shows in the remainder 2^d x - q y, then below -q / 2. It
// fits 16 bits.
template <size_t kD>
COFFER_AVX2_INLINE __m256i Compress(__m256i x) {
  const __m256i scaled = _mm256_mulhi_epu16(_mm256_slli_epi16(x, 4), All(40318));
  const __m256i y = _mm256_srli_epi16(_mm256_add_epi16(scaled, All(1 << (14 - kD))), 15 - kD);
  if constexpr (kD <= 4) return y;
  const __m256i remainder =
      _mm256_sub_epi16(_mm256_slli_epi16(x, kD), _mm256_mullo_epi16(y, All(kQ)));
  return _mm256_add_epi16(y, _mm256_cmpgt_epi16(All(-(kQ / 2)), remainder));
}

COFFER_AVX2 void CompressU(const Poly& f, std::span<uint8_t, kCompressedUSize> bytes) {
  const __m256i join = _mm256_set1_epi32(0x04000001);  // c0 + 2^10 c1
  const __m256i push = _mm256_set1_epi64x(12);         // the lower 20 bits next to the upper ones
  const __m256i pack = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(0, 1, 2, 3, 4, 8, 9, 10, 11, 12, -1, -1, -1, -1, -1, -1));
  for (size_t i = 0; i < kVectors; ++i) {
    const __m256i c = _mm256_and_si256(Compress<kDu>(Get(f, i)), All(0x3ff));
    const __m256i pushed = _mm256_sllv_epi32(_mm256_madd_epi16(c, join), push);
    const __m256i packed = _mm256_shuffle_epi8(_mm256_srli_epi64(pushed, 12), pack);
    StoreShort<10>(bytes.data() + 20 * i, _mm256_castsi256_si128(packed));
    StoreShort<10>(bytes.data() + 20 * i + 10, _mm256_extracti128_si256(packed, 1));
  }
}

// vpmulhrsw rounds a b / 2^15: for y / 2^d it takes y 2^(15-d) and q.
COFFER_AVX2 void DecompressU(std::span<const uint8_t, kCompressedUSize> bytes, Poly& f) {
  const __m256i places =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9));
  // Coefficients begin at bits 0, 2, 4, 6 of their words: move all ten bits to the top.
  const __m256i to_top = _mm256_set1_epi64x(0x0001000400100040);
  for (size_t i = 0; i < kVectors; ++i) {
    const uint8_t* const from = bytes.data() + 20 * i;
    const __m256i in = _mm256_set_m128i(LoadShort<10>(from + 10), LoadShort<10>(from));
    const __m256i top = _mm256_mullo_epi16(_mm256_shuffle_epi8(in, places), to_top);
    const __m256i y = _mm256_and_si256(_mm256_srli_epi16(top, 1), All(0x3ff << 5));
    Put(f, i, _mm256_mulhrs_epi16(y, All(kQ)));
  }
}

COFFER_AVX2 void CompressV(const Poly& f, std::span<uint8_t, kCompressedVSize> bytes) {
  const __m256i join = _mm256_set1_epi32(0x00100001);  // c0 + 2^4 c1
  const __m256i sort = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  for (size_t i = 0; i < kVectors; i += 4) {
    __m256i pairs[4];
    for (size_t j = 0; j < 4; ++j) {
      pairs[j] = _mm256_madd_epi16(_mm256_and_si256(Compress<kDv>(Get(f, i + j)), All(15)), join);
    }
    const __m256i packed = _mm256_packus_epi16(_mm256_packus_epi32(pairs[0], pairs[1]),
                                               _mm256_packus_epi32(pairs[2], pairs[3]));
    Save(bytes.data() + 8 * i, _mm256_permutevar8x32_epi32(packed, sort));
  }
}

COFFER_AVX2 void DecompressV(std::span<const uint8_t, kCompressedVSize> bytes, Poly& f) {
  const __m256i places = _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,  //
                                          4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7);
  const __m256i keep = _mm256_set1_epi32(0x00f0000f);
  const __m256i to_top = _mm256_set1_epi32(0x00800800);  // both to bits 11 to 14
  for (size_t i = 0; i < kVectors; ++i) {
    long long eight;
    std::memcpy(&eight, bytes.data() + 8 * i, sizeof(eight));
    const __m256i words = _mm256_shuffle_epi8(_mm256_set1_epi64x(eight), places);
    const __m256i y = _mm256_mullo_epi16(_mm256_and_si256(words, keep), to_top);
    Put(f, i, _mm256_mulhrs_epi16(y, All(kQ)));
  }
}

COFFER_AVX2 void ToMessage(const Poly& f, std::span<uint8_t, kMessageSize> message) {
  for (size_t i = 0; i < kVectors; i += 2) {
    // The one bit to the sign of its word, which stays the sign of its byte.
    const __m256i even = _mm256_slli_epi16(Compress<1>(Get(f, i)), 15);
    const __m256i odd = _mm256_slli_epi16(Compress<1>(Get(f, i + 1)), 15);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi16(even, odd), 0xd8);
    const int bits = _mm256_movemask_epi8(packed);
    std::memcpy(message.data() + 2 * i, &bits, sizeof(bits));
  }
}

COFFER_AVX2 void FromMessage(std::span<const uint8_t, kMessageSize> message, Poly& f) {
  const __m256i places = _mm256_setr_epi64x(0, 0, 0x0101010101010101, 0x0101010101010101);
  const __m256i bits = _mm256_broadcastsi128_si256(
      _mm_setr_epi16(1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7));
  for (size_t i = 0; i < kVectors; ++i) {
    int16_t two;
    std::memcpy(&two, message.data() + 2 * i, sizeof(two));
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi16(two), places);
    const __m256i set = _mm256_cmpeq_epi16(_mm256_and_si256(bytes, bits), bits);
    Put(f, i, _mm256_and_si256(set, All((kQ + 1) / 2)));
  }
}

}  // namespace

const MlKemKernels kMlKemAvx2 = {
    .name = "avx2",
    .level = os::SimdLevel::kAvx2,
    .ntt = Ntt,
    .inverse_ntt = InverseNtt,
    .prepare = Prepare,
    .inner_product = InnerProduct,
    .add = AddPoly,
    .subtract = SubtractPoly,
    .canonicalise = Canonicalise,
    .sample_noise = SampleNoise,
    .sample_uniform = SampleUniform,
    .encode = Encode,
    .decode = Decode,
    .compress_u = CompressU,
    .decompress_u = DecompressU,
    .compress_v = CompressV,
    .decompress_v = DecompressV,
    .to_message = ToMessage,
    .from_message = FromMessage,
};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
