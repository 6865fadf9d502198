// SPDX-License-Identifier: Apache-2.0
// Keccak with AVX2: four states, one in each 64-bit element of the vectors; eight are two times
// four. A single state runs the scalar round with BMI instructions.
#if defined(__x86_64__)

#include "coffer/base/endian.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/internal/keccak_scalar.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

COFFER_AVX2_INLINE __m256i Xor(__m256i a, __m256i b) { return _mm256_xor_si256(a, b); }

template <int kCount>
COFFER_AVX2_INLINE __m256i RotateLeft(__m256i a) {
  if constexpr (kCount == 0) return a;
  if constexpr (kCount == 8 || kCount == 56) {
    // Whole bytes move with one shuffle instead of two shifts and an or.
    constexpr long long kLow = kCount == 8 ? 0x0605040302010007 : 0x0007060504030201;
    constexpr long long kHigh = kLow + 0x0808080808080808;
    return _mm256_shuffle_epi8(a, _mm256_setr_epi64x(kLow, kHigh, kLow, kHigh));
  }
  return _mm256_or_si256(_mm256_slli_epi64(a, kCount), _mm256_srli_epi64(a, 64 - kCount));
}

template <size_t kX, size_t kY>
COFFER_AVX2_INLINE __m256i ThetaRhoPi(const __m256i* a, const __m256i* d) {
  constexpr size_t kFrom = KeccakPiSource(kX, kY);
  return RotateLeft<kKeccakRho[kFrom]>(Xor(a[kFrom], d[kFrom % 5]));
}

template <size_t kY>
COFFER_AVX2_INLINE void Row(const __m256i* a, const __m256i* d, __m256i* out) {
  const __m256i b0 = ThetaRhoPi<0, kY>(a, d);
  const __m256i b1 = ThetaRhoPi<1, kY>(a, d);
  const __m256i b2 = ThetaRhoPi<2, kY>(a, d);
  const __m256i b3 = ThetaRhoPi<3, kY>(a, d);
  const __m256i b4 = ThetaRhoPi<4, kY>(a, d);
  out[5 * kY + 0] = Xor(b0, _mm256_andnot_si256(b1, b2));
  out[5 * kY + 1] = Xor(b1, _mm256_andnot_si256(b2, b3));
  out[5 * kY + 2] = Xor(b2, _mm256_andnot_si256(b3, b4));
  out[5 * kY + 3] = Xor(b3, _mm256_andnot_si256(b4, b0));
  out[5 * kY + 4] = Xor(b4, _mm256_andnot_si256(b0, b1));
}

COFFER_AVX2_INLINE __m256i Column(const __m256i* a, size_t x) {
  return Xor(Xor(Xor(a[x], a[x + 5]), Xor(a[x + 10], a[x + 15])), a[x + 20]);
}

COFFER_AVX2_INLINE void Round(const __m256i* a, __m256i* out, uint64_t round_constant) {
  const __m256i c0 = Column(a, 0);
  const __m256i c1 = Column(a, 1);
  const __m256i c2 = Column(a, 2);
  const __m256i c3 = Column(a, 3);
  const __m256i c4 = Column(a, 4);
  const __m256i d[5] = {Xor(c4, RotateLeft<1>(c1)), Xor(c0, RotateLeft<1>(c2)),
                        Xor(c1, RotateLeft<1>(c3)), Xor(c2, RotateLeft<1>(c4)),
                        Xor(c3, RotateLeft<1>(c0))};
  Row<0>(a, d, out);
  Row<1>(a, d, out);
  Row<2>(a, d, out);
  Row<3>(a, d, out);
  Row<4>(a, d, out);
  out[0] = Xor(out[0], _mm256_set1_epi64x(static_cast<long long>(round_constant)));
}

COFFER_AVX2_INLINE __m256i LoadWords(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
COFFER_AVX2_INLINE void StoreWords(void* to, __m256i words) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), words);
}

// Four of the states whose words are `kStride` apart.
template <size_t kStride>
COFFER_AVX2 void PermuteFour(uint64_t* words, KeccakRounds rounds) {
  __m256i a[kKeccakWords];
  __m256i e[kKeccakWords];
  for (size_t w = 0; w < kKeccakWords; ++w) a[w] = LoadWords(words + w * kStride);
  for (size_t round = 24 - static_cast<size_t>(rounds); round < 24; round += 2) {
    Round(a, e, kKeccakRoundConstants[round]);
    Round(e, a, kKeccakRoundConstants[round + 1]);
  }
  for (size_t w = 0; w < kKeccakWords; ++w) StoreWords(words + w * kStride, a[w]);
}

// Rows become columns: row i holds four words of state i, column w holds word w of the four states.
COFFER_AVX2_INLINE void Transpose(__m256i (&m)[4]) {
  const __m256i low01 = _mm256_unpacklo_epi64(m[0], m[1]);
  const __m256i high01 = _mm256_unpackhi_epi64(m[0], m[1]);
  const __m256i low23 = _mm256_unpacklo_epi64(m[2], m[3]);
  const __m256i high23 = _mm256_unpackhi_epi64(m[2], m[3]);
  m[0] = _mm256_permute2x128_si256(low01, low23, 0x20);
  m[1] = _mm256_permute2x128_si256(high01, high23, 0x20);
  m[2] = _mm256_permute2x128_si256(low01, low23, 0x31);
  m[3] = _mm256_permute2x128_si256(high01, high23, 0x31);
}

template <size_t kStride>
COFFER_AVX2 void AddFour(uint64_t* states, const uint8_t* const* in, size_t words) {
  size_t w = 0;
  for (; w + 4 <= words; w += 4) {
    __m256i m[4];
    for (size_t i = 0; i < 4; ++i) m[i] = LoadWords(in[i] + 8 * w);
    Transpose(m);
    for (size_t i = 0; i < 4; ++i) {
      uint64_t* const place = states + (w + i) * kStride;
      StoreWords(place, Xor(LoadWords(place), m[i]));
    }
  }
  for (; w < words; ++w) {
    for (size_t i = 0; i < 4; ++i) {
      states[w * kStride + i] ^=
          LoadLittleEndian<uint64_t>(std::span<const uint8_t, 8>(in[i] + 8 * w, 8));
    }
  }
}

template <size_t kStride>
COFFER_AVX2 void ExtractFour(const uint64_t* states, uint8_t* const* out, size_t words) {
  size_t w = 0;
  for (; w + 4 <= words; w += 4) {
    __m256i m[4];
    for (size_t i = 0; i < 4; ++i) m[i] = LoadWords(states + (w + i) * kStride);
    Transpose(m);
    for (size_t i = 0; i < 4; ++i) StoreWords(out[i] + 8 * w, m[i]);
  }
  for (; w < words; ++w) {
    for (size_t i = 0; i < 4; ++i) {
      StoreLittleEndian(states[w * kStride + i], std::span<uint8_t, 8>(out[i] + 8 * w, 8));
    }
  }
}

COFFER_AVX2 void PermuteX1(KeccakX1& state, KeccakRounds rounds) {
  KeccakScalarPermute<1>(&state.word[0][0], rounds);
}

void PermuteX4(KeccakX4& states, KeccakRounds rounds) {
  PermuteFour<4>(&states.word[0][0], rounds);
}

void PermuteX8(KeccakX8& states, KeccakRounds rounds) {
  PermuteFour<8>(&states.word[0][0], rounds);
  PermuteFour<8>(&states.word[0][4], rounds);
}

void AddX4(KeccakX4& states, const KeccakInputs<4>& in, size_t words) {
  AddFour<4>(&states.word[0][0], in.data(), words);
}

void AddX8(KeccakX8& states, const KeccakInputs<8>& in, size_t words) {
  AddFour<8>(&states.word[0][0], in.data(), words);
  AddFour<8>(&states.word[0][4], in.data() + 4, words);
}

void ExtractX4(const KeccakX4& states, const KeccakOutputs<4>& out, size_t words) {
  ExtractFour<4>(&states.word[0][0], out.data(), words);
}

void ExtractX8(const KeccakX8& states, const KeccakOutputs<8>& out, size_t words) {
  ExtractFour<8>(&states.word[0][0], out.data(), words);
  ExtractFour<8>(&states.word[0][4], out.data() + 4, words);
}

}  // namespace

const KeccakImplementation kKeccakAvx2 = {
    .name = "avx2",
    .level = os::SimdLevel::kAvx2,
    .permute_x1 = PermuteX1,
    .permute_x4 = PermuteX4,
    .permute_x8 = PermuteX8,
    .add_x4 = AddX4,
    .add_x8 = AddX8,
    .extract_x4 = ExtractX4,
    .extract_x8 = ExtractX8,
};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
