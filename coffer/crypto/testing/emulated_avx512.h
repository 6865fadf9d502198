// SPDX-License-Identifier: Apache-2.0
// The intrinsics of AVX-512 as plain C++, for processors without it and for memcheck: those of
// SIMDe, and those that it lacks (0.7.4), from their descriptions in Intel's Intrinsics Guide.
//
// Only what the kernels use is here, as they use it: masked loads and stores touch no byte whose
// mask bit is clear, since memory may end there.
#pragma once

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// The names are those that it stands in for.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
#define SIMDE_ENABLE_NATIVE_ALIASES
// clang has a type of this name at every level, and SIMDe another.
#define __m128bh SimdeBfloat16x8
#include <simde/x86/avx512.h>
#undef __m128bh

using __mmask8 = simde__mmask8;
using __mmask32 = simde__mmask32;

namespace coffer::crypto::testing {

// Elements of type T of `Vector` from memory where the mask has a one, else zero.
template <class Vector, class T>
Vector LoadElements(uint64_t mask, const void* from) {
  T elements[sizeof(Vector) / sizeof(T)] = {};
  for (size_t i = 0; i < sizeof(Vector) / sizeof(T); ++i) {
    if ((mask >> i & 1) == 0) continue;
    std::memcpy(&elements[i], static_cast<const unsigned char*>(from) + i * sizeof(T), sizeof(T));
  }
  Vector loaded;
  std::memcpy(&loaded, elements, sizeof(loaded));
  return loaded;
}

template <class T, class Vector>
void StoreElements(uint64_t mask, const Vector& vector, void* to) {
  T elements[sizeof(Vector) / sizeof(T)];
  std::memcpy(elements, &vector, sizeof(vector));
  for (size_t i = 0; i < sizeof(Vector) / sizeof(T); ++i) {
    if ((mask >> i & 1) == 0) continue;
    std::memcpy(static_cast<unsigned char*>(to) + i * sizeof(T), &elements[i], sizeof(T));
  }
}

// A round of AES on each block, by the instruction for one block.
enum class AesRound : uint8_t { kMiddle, kLast };
template <AesRound kRound>
simde__m512i EncryptBlocks(const simde__m512i& state, const simde__m512i& round_keys) {
  __m128i blocks[4];
  __m128i keys[4];
  std::memcpy(blocks, &state, sizeof(blocks));
  std::memcpy(keys, &round_keys, sizeof(keys));
  for (size_t i = 0; i < 4; ++i) {
    if constexpr (kRound == AesRound::kMiddle) {
      __asm__("aesenc %1, %0" : "+x"(blocks[i]) : "x"(keys[i]));
    } else {
      __asm__("aesenclast %1, %0" : "+x"(blocks[i]) : "x"(keys[i]));
    }
  }
  simde__m512i encrypted;
  std::memcpy(&encrypted, blocks, sizeof(encrypted));
  return encrypted;
}

inline int AddElements(const simde__m512i& a) {
  uint32_t elements[16];
  std::memcpy(elements, &a, sizeof(elements));
  uint32_t sum = 0;
  for (uint32_t element : elements) sum += element;
  return static_cast<int>(sum);
}

}  // namespace coffer::crypto::testing

#define _mm512_maskz_loadu_epi64(mask, from) \
  (coffer::crypto::testing::LoadElements<simde__m512i, uint64_t>(mask, from))
#define _mm256_maskz_loadu_epi64(mask, from) \
  (coffer::crypto::testing::LoadElements<simde__m256i, uint64_t>(mask, from))
#undef _mm512_maskz_loadu_epi16
#define _mm512_maskz_loadu_epi16(mask, from) \
  (coffer::crypto::testing::LoadElements<simde__m512i, uint16_t>(mask, from))
#define _mm512_mask_storeu_epi64(to, mask, a) \
  coffer::crypto::testing::StoreElements<uint64_t>(mask, a, to)
#define _mm256_mask_storeu_epi64(to, mask, a) \
  coffer::crypto::testing::StoreElements<uint64_t>(mask, a, to)
#undef _mm512_mask_storeu_epi16
#define _mm512_mask_storeu_epi16(to, mask, a) \
  coffer::crypto::testing::StoreElements<uint16_t>(mask, a, to)
// SIMDe has it under its own name only.
#define _mm512_shuffle_i64x2(a, b, control) simde_mm512_shuffle_i64x2(a, b, control)
#define _mm512_reduce_add_epi32(a) coffer::crypto::testing::AddElements(a)
#define _mm512_aesenc_epi128(a, round_key) \
  coffer::crypto::testing::EncryptBlocks<coffer::crypto::testing::AesRound::kMiddle>(a, round_key)
#define _mm512_aesenclast_epi128(a, round_key) \
  coffer::crypto::testing::EncryptBlocks<coffer::crypto::testing::AesRound::kLast>(a, round_key)
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
