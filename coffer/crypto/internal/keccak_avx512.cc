// SPDX-License-Identifier: Apache-2.0
// Keccak with AVX-512: eight states in zmm registers, or four in ymm registers (AVX-512VL). All 25
// words stay in registers; vpternlogq does theta's and chi's three-operand steps and vprolq rho's.
// A single state runs the scalar round with BMI instructions.
#if defined(__x86_64__)

#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/internal/keccak_scalar.h"
#include "coffer/crypto/internal/x86.h"

namespace coffer::crypto::internal {
namespace {

// Truth tables of vpternlogq, whose operands a, b, c are 0xf0, 0xcc, 0xaa.
constexpr int kXor3 = 0xf0 ^ 0xcc ^ 0xaa;
constexpr int kChi = 0xf0 ^ (0x33 & 0xaa);  // a ^ (~b & c)

// Four words in a ymm register, or eight in a zmm register.
struct Four {
  using Vector = __m256i;
  static constexpr size_t kLanes = 4;
  COFFER_AVX512_INLINE static Vector Load(const uint64_t* from) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  }
  COFFER_AVX512_INLINE static void Store(uint64_t* to, Vector a) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), a);
  }
  COFFER_AVX512_INLINE static Vector Broadcast(uint64_t a) {
    return _mm256_set1_epi64x(static_cast<long long>(a));
  }
  COFFER_AVX512_INLINE static Vector Xor(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
  template <int kTable>
  COFFER_AVX512_INLINE static Vector Ternary(Vector a, Vector b, Vector c) {
    return _mm256_ternarylogic_epi64(a, b, c, kTable);
  }
  template <int kCount>
  COFFER_AVX512_INLINE static Vector RotateLeft(Vector a) {
    return _mm256_rol_epi64(a, kCount);
  }
};

struct Eight {
  using Vector = __m512i;
  static constexpr size_t kLanes = 8;
  COFFER_AVX512_INLINE static Vector Load(const uint64_t* from) { return _mm512_load_si512(from); }
  COFFER_AVX512_INLINE static void Store(uint64_t* to, Vector a) { _mm512_store_si512(to, a); }
  COFFER_AVX512_INLINE static Vector Broadcast(uint64_t a) {
    return _mm512_set1_epi64(static_cast<long long>(a));
  }
  COFFER_AVX512_INLINE static Vector Xor(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
  template <int kTable>
  COFFER_AVX512_INLINE static Vector Ternary(Vector a, Vector b, Vector c) {
    return _mm512_ternarylogic_epi64(a, b, c, kTable);
  }
  template <int kCount>
  COFFER_AVX512_INLINE static Vector RotateLeft(Vector a) {
    return _mm512_rol_epi64(a, kCount);
  }
};

// What theta adds to a lane comes as two terms, so that one vpternlogq adds both.
template <class V>
struct Theta {
  typename V::Vector left[5];     // C[x - 1]
  typename V::Vector rotated[5];  // C[x + 1] rotated by one
};

template <class V, size_t kX, size_t kY>
COFFER_AVX512_INLINE typename V::Vector ThetaRhoPi(const typename V::Vector* a,
                                                   const Theta<V>& theta) {
  constexpr size_t kFrom = KeccakPiSource(kX, kY);
  return V::template RotateLeft<kKeccakRho[kFrom]>(
      V::template Ternary<kXor3>(a[kFrom], theta.left[kFrom % 5], theta.rotated[kFrom % 5]));
}

template <class V, size_t kY>
COFFER_AVX512_INLINE void Row(const typename V::Vector* a, const Theta<V>& theta,
                              typename V::Vector* out) {
  const auto b0 = ThetaRhoPi<V, 0, kY>(a, theta);
  const auto b1 = ThetaRhoPi<V, 1, kY>(a, theta);
  const auto b2 = ThetaRhoPi<V, 2, kY>(a, theta);
  const auto b3 = ThetaRhoPi<V, 3, kY>(a, theta);
  const auto b4 = ThetaRhoPi<V, 4, kY>(a, theta);
  out[5 * kY + 0] = V::template Ternary<kChi>(b0, b1, b2);
  out[5 * kY + 1] = V::template Ternary<kChi>(b1, b2, b3);
  out[5 * kY + 2] = V::template Ternary<kChi>(b2, b3, b4);
  out[5 * kY + 3] = V::template Ternary<kChi>(b3, b4, b0);
  out[5 * kY + 4] = V::template Ternary<kChi>(b4, b0, b1);
}

template <class V>
COFFER_AVX512_INLINE typename V::Vector Column(const typename V::Vector* a, size_t x) {
  const auto upper = V::template Ternary<kXor3>(a[x], a[x + 5], a[x + 10]);
  return V::template Ternary<kXor3>(upper, a[x + 15], a[x + 20]);
}

template <class V>
COFFER_AVX512_INLINE void Round(const typename V::Vector* a, typename V::Vector* out,
                                uint64_t round_constant) {
  const auto c0 = Column<V>(a, 0);
  const auto c1 = Column<V>(a, 1);
  const auto c2 = Column<V>(a, 2);
  const auto c3 = Column<V>(a, 3);
  const auto c4 = Column<V>(a, 4);
  const Theta<V> theta = {.left = {c4, c0, c1, c2, c3},
                          .rotated = {V::template RotateLeft<1>(c1), V::template RotateLeft<1>(c2),
                                      V::template RotateLeft<1>(c3), V::template RotateLeft<1>(c4),
                                      V::template RotateLeft<1>(c0)}};
  Row<V, 0>(a, theta, out);
  Row<V, 1>(a, theta, out);
  Row<V, 2>(a, theta, out);
  Row<V, 3>(a, theta, out);
  Row<V, 4>(a, theta, out);
  out[0] = V::Xor(out[0], V::Broadcast(round_constant));
}

template <class V>
COFFER_AVX512 void Permute(KeccakStates<V::kLanes>& states, KeccakRounds rounds) {
  typename V::Vector a[kKeccakWords];
  typename V::Vector e[kKeccakWords];
  for (size_t w = 0; w < kKeccakWords; ++w) a[w] = V::Load(states.word[w]);
  for (size_t round = 24 - static_cast<size_t>(rounds); round < 24; round += 2) {
    Round<V>(a, e, kKeccakRoundConstants[round]);
    Round<V>(e, a, kKeccakRoundConstants[round + 1]);
  }
  for (size_t w = 0; w < kKeccakWords; ++w) V::Store(states.word[w], a[w]);
}

// Rows become columns: row i holds eight words of state i.
COFFER_AVX512_INLINE void Transpose(__m512i (&m)[8]) {
  __m512i pair[8];
  for (size_t i = 0; i < 8; i += 2) {
    pair[i] = _mm512_unpacklo_epi64(m[i], m[i + 1]);
    pair[i + 1] = _mm512_unpackhi_epi64(m[i], m[i + 1]);
  }
  // pair[i] holds words 0 2 4 6 (i even) or 1 3 5 7 (i odd) of two states, 128 bits for each word.
  __m512i quad[8];
  for (size_t i = 0; i < 2; ++i) {
    quad[i] = _mm512_shuffle_i64x2(pair[i], pair[i + 2], 0x88);          // words 0 4, states 0-3
    quad[i + 2] = _mm512_shuffle_i64x2(pair[i], pair[i + 2], 0xdd);      // words 2 6
    quad[i + 4] = _mm512_shuffle_i64x2(pair[i + 4], pair[i + 6], 0x88);  // states 4-7
    quad[i + 6] = _mm512_shuffle_i64x2(pair[i + 4], pair[i + 6], 0xdd);
  }
  for (size_t w = 0; w < 4; ++w) {
    m[w] = _mm512_shuffle_i64x2(quad[w], quad[w + 4], 0x88);
    m[w + 4] = _mm512_shuffle_i64x2(quad[w], quad[w + 4], 0xdd);
  }
}

// Which of the eight words from `w` on are below `words`.
COFFER_AVX512_INLINE __mmask8 WordsLeft(size_t w, size_t words) {
  const size_t left = words - w;
  return left >= 8 ? __mmask8{0xff} : static_cast<__mmask8>((1U << left) - 1);
}

COFFER_AVX512 void AddX8(KeccakX8& states, const KeccakInputs<8>& in, size_t words) {
  for (size_t w = 0; w < words; w += 8) {
    const __mmask8 mask = WordsLeft(w, words);
    __m512i m[8];
    for (size_t i = 0; i < 8; ++i) m[i] = _mm512_maskz_loadu_epi64(mask, in[i] + 8 * w);
    Transpose(m);
    for (size_t i = 0; i < 8 && w + i < words; ++i) {
      Eight::Store(states.word[w + i], Eight::Xor(Eight::Load(states.word[w + i]), m[i]));
    }
  }
}

COFFER_AVX512 void ExtractX8(const KeccakX8& states, const KeccakOutputs<8>& out, size_t words) {
  for (size_t w = 0; w < words; w += 8) {
    const __mmask8 mask = WordsLeft(w, words);
    __m512i m[8] = {};
    for (size_t i = 0; i < 8 && w + i < words; ++i) m[i] = Eight::Load(states.word[w + i]);
    Transpose(m);
    for (size_t i = 0; i < 8; ++i) _mm512_mask_storeu_epi64(out[i] + 8 * w, mask, m[i]);
  }
}

COFFER_AVX512_INLINE void Transpose(__m256i (&m)[4]) {
  const __m256i low01 = _mm256_unpacklo_epi64(m[0], m[1]);
  const __m256i high01 = _mm256_unpackhi_epi64(m[0], m[1]);
  const __m256i low23 = _mm256_unpacklo_epi64(m[2], m[3]);
  const __m256i high23 = _mm256_unpackhi_epi64(m[2], m[3]);
  m[0] = _mm256_permute2x128_si256(low01, low23, 0x20);
  m[1] = _mm256_permute2x128_si256(high01, high23, 0x20);
  m[2] = _mm256_permute2x128_si256(low01, low23, 0x31);
  m[3] = _mm256_permute2x128_si256(high01, high23, 0x31);
}

COFFER_AVX512 void AddX4(KeccakX4& states, const KeccakInputs<4>& in, size_t words) {
  for (size_t w = 0; w < words; w += 4) {
    const __mmask8 mask = WordsLeft(w, words) & 0xf;
    __m256i m[4];
    for (size_t i = 0; i < 4; ++i) m[i] = _mm256_maskz_loadu_epi64(mask, in[i] + 8 * w);
    Transpose(m);
    for (size_t i = 0; i < 4 && w + i < words; ++i) {
      Four::Store(states.word[w + i], Four::Xor(Four::Load(states.word[w + i]), m[i]));
    }
  }
}

COFFER_AVX512 void ExtractX4(const KeccakX4& states, const KeccakOutputs<4>& out, size_t words) {
  for (size_t w = 0; w < words; w += 4) {
    const __mmask8 mask = WordsLeft(w, words) & 0xf;
    __m256i m[4] = {};
    for (size_t i = 0; i < 4 && w + i < words; ++i) m[i] = Four::Load(states.word[w + i]);
    Transpose(m);
    for (size_t i = 0; i < 4; ++i) _mm256_mask_storeu_epi64(out[i] + 8 * w, mask, m[i]);
  }
}

COFFER_AVX512 void PermuteX1(KeccakX1& state, KeccakRounds rounds) {
  KeccakScalarPermute<1>(&state.word[0][0], rounds);
}

}  // namespace

const KeccakImplementation kKeccakAvx512 = {
    .name = "avx512",
    .level = os::SimdLevel::kAvx512,
    .permute_x1 = PermuteX1,
    .permute_x4 = Permute<Four>,
    .permute_x8 = Permute<Eight>,
    .add_x4 = AddX4,
    .add_x8 = AddX8,
    .extract_x4 = ExtractX4,
    .extract_x8 = ExtractX8,
};

}  // namespace coffer::crypto::internal

#endif  // defined(__x86_64__)
