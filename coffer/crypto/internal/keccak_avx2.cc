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

// Word w of four states stands at [kStep * w].
template <size_t kStep, size_t kX, size_t kY>
COFFER_AVX2_INLINE __m256i ThetaRhoPi(const __m256i* a, const __m256i* d) {
  constexpr size_t kFrom = KeccakPiSource(kX, kY);
  return RotateLeft<kKeccakRho[kFrom]>(Xor(a[kStep * kFrom], d[kFrom % 5]));
}

// Row y of the result, which also goes into the parities of the columns, theta's C, for the next
// round: computed apart, they would have to load the whole state once more.
template <size_t kStep, size_t kY>
COFFER_AVX2_INLINE void Row(const __m256i* a, const __m256i* d, __m256i round_constant,
                            __m256i* out, __m256i* parity) {
  const __m256i b[5] = {ThetaRhoPi<kStep, 0, kY>(a, d), ThetaRhoPi<kStep, 1, kY>(a, d),
                        ThetaRhoPi<kStep, 2, kY>(a, d), ThetaRhoPi<kStep, 3, kY>(a, d),
                        ThetaRhoPi<kStep, 4, kY>(a, d)};
  for (size_t x = 0; x < 5; ++x) {
    __m256i word = Xor(b[x], _mm256_andnot_si256(b[(x + 1) % 5], b[(x + 2) % 5]));
    if (kY == 0 && x == 0) word = Xor(word, round_constant);
    parity[x] = kY == 0 ? word : Xor(parity[x], word);
    out[kStep * (5 * kY + x)] = word;
  }
}

template <size_t kStep>
COFFER_AVX2_INLINE void Parities(const __m256i* a, __m256i* parity) {
  for (size_t x = 0; x < 5; ++x) {
    parity[x] = Xor(
        Xor(Xor(a[kStep * x], a[kStep * (x + 5)]), Xor(a[kStep * (x + 10)], a[kStep * (x + 15)])),
        a[kStep * (x + 20)]);
  }
}

template <size_t kStep>
COFFER_AVX2_INLINE void Round(const __m256i* a, __m256i* out, __m256i* parity, size_t round) {
  const __m256i d[5] = {
      Xor(parity[4], RotateLeft<1>(parity[1])), Xor(parity[0], RotateLeft<1>(parity[2])),
      Xor(parity[1], RotateLeft<1>(parity[3])), Xor(parity[2], RotateLeft<1>(parity[4])),
      Xor(parity[3], RotateLeft<1>(parity[0]))};
  const __m256i round_constant =
      _mm256_set1_epi64x(static_cast<long long>(kKeccakRoundConstants[round]));
  Row<kStep, 0>(a, d, round_constant, out, parity);
  Row<kStep, 1>(a, d, round_constant, out, parity);
  Row<kStep, 2>(a, d, round_constant, out, parity);
  Row<kStep, 3>(a, d, round_constant, out, parity);
  Row<kStep, 4>(a, d, round_constant, out, parity);
}

COFFER_AVX2_INLINE __m256i LoadWords(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
COFFER_AVX2_INLINE void StoreWords(void* to, __m256i words) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), words);
}

// Every second round is from the state to `other`, every second one back.
COFFER_AVX2 void PermuteX4(KeccakX4& states, KeccakRounds rounds) {
  auto* const a = reinterpret_cast<__m256i*>(states.word);
  __m256i other[kKeccakWords];
  __m256i parity[5];
  Parities<1>(a, parity);
  for (size_t round = 24 - static_cast<size_t>(rounds); round < 24; round += 2) {
    Round<1>(a, other, parity, round);
    Round<1>(other, a, parity, round + 1);
  }
}

// Two times four states, whose rounds take turns: while the last words of one wait for each other,
// the first of the other can go.
COFFER_AVX2 void PermuteX8(KeccakX8& states, KeccakRounds rounds) {
  auto* const a = reinterpret_cast<__m256i*>(states.word);
  __m256i other[2 * kKeccakWords];
  __m256i low[5];
  __m256i high[5];
  Parities<2>(a, low);
  Parities<2>(a + 1, high);
  for (size_t round = 24 - static_cast<size_t>(rounds); round < 24; round += 2) {
    Round<2>(a, other, low, round);
    Round<2>(a + 1, other + 1, high, round);
    Round<2>(other, a, low, round + 1);
    Round<2>(other + 1, a + 1, high, round + 1);
  }
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
