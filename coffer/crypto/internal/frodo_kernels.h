// SPDX-License-Identifier: Apache-2.0
// The inner loops of FrodoKEM (draft-longa-cfrg-frodokem-03) and the table of their
// implementations.
//
// Matrices are row by row. Elements of Z_q are held in 16 bits and computed modulo 2^16; since q
// divides 2^16, reducing them later is exact: Pack and the comparison do. Everything but A, its
// rows and its seed is taken for secret: no branch and no address depends on it. No alignment is
// assumed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/os/cpu.h"

namespace coffer::crypto::internal {

inline constexpr size_t kFrodoNBar = 8;
inline constexpr size_t kFrodoGroup = 8;  // rows of A that are multiplied at a time

struct FrodoKernels {
  // B += S[., first .. first + 7] * A[first .. first + 7, .]: `s` is 8 x n, `rows` are the eight
  // rows of A, `b` is 8 x n. n is a multiple of 16.
  void (*accumulate_sa)(const uint16_t* s, size_t first, const uint16_t* rows, size_t n,
                        uint16_t* b);
  // P = R * T^T, 8 x 8: `rows` is R, 8 x n, and `t` is T, 8 x n. A * S from eight rows of A and
  // S^T, and B' * S from B' and S^T. n is a multiple of 16.
  void (*multiply_rows)(const uint16_t* rows, const uint16_t* t, size_t n, uint16_t* p);
  // V += S * B: `s` is 8 x n, `b` is n x 8, `v` is 8 x 8. n is a multiple of 16.
  void (*accumulate_sb)(const uint16_t* s, const uint16_t* b, size_t n, uint16_t* v);
  // Sample (section 7.5) in place: 16-bit random strings become elements of the distribution whose
  // table, without the last entry, is given. `count` is a multiple of 16.
  void (*sample)(uint16_t* values, size_t count, std::span<const uint16_t> table);
  // Pack and Unpack (section 7.4): `count` elements of D = 15 or 16 bits, which are the top bits
  // first. What is above the D bits is left out, or zero. `count` is a multiple of 16.
  void (*pack)(const uint16_t* values, size_t count, unsigned d, uint8_t* out);
  void (*unpack)(const uint8_t* in, size_t count, unsigned d, uint16_t* values);
  // Zero exactly if a and b are equal in all bits of `mask`: the or of all their differences.
  // `count` is a multiple of 16.
  uint16_t (*difference)(const uint16_t* a, const uint16_t* b, size_t count, uint16_t mask);
};

extern const FrodoKernels kFrodoKernelsPortable;
#if defined(__x86_64__)
extern const FrodoKernels kFrodoKernelsAvx2;
extern const FrodoKernels kFrodoKernelsAvx512;  // needs AVX512-VNNI too
#endif

// AES-128 with the round keys of the seed of A. The seed is public, and so is A.
struct FrodoAesKey {
  alignas(16) std::array<uint8_t, 11 * 16> round_keys;  // the seed itself is the first of them
};

// Gen with AES128 (section 7.7.1). `rows` makes `count` rows of A from `first` on; false if the
// cryptographic library failed.
struct FrodoAes {
  std::string_view name;
  os::SimdLevel level;
  bool (*supported)();
  void (*expand)(std::span<const uint8_t, 16> seed, FrodoAesKey& key);
  bool (*rows)(const FrodoAesKey& key, size_t first, size_t count, size_t n, uint16_t* out);
};

extern const FrodoAes kFrodoAesPortable;  // OpenSSL
#if defined(__x86_64__)
extern const FrodoAes kFrodoAesNi;
extern const FrodoAes kFrodoAesVaes256;
extern const FrodoAes kFrodoAesVaes512;
#endif

// All that this build has, portable first, by rising level and speed.
std::span<const FrodoAes* const> FrodoAesImplementations();

// Everything the scheme runs on.
struct FrodoImplementation {
  std::string_view name;
  os::SimdLevel level;
  bool (*supported)();  // what the processor needs beyond the level
  const KeccakImplementation* keccak;
  size_t lanes;  // of the Keccak that expands A: 4 or 8
  const FrodoKernels* kernels;
};

// All that this build has, portable first, by rising level.
std::span<const FrodoImplementation* const> FrodoImplementations();

// Whether the processor has what an entry of a table needs, and COFFER_CPU allows it.
template <class Entry>
bool FrodoMayRun(const Entry& entry) {
  return entry.level <= os::CpuLevel() && entry.supported();
}

// The best that may run here; chosen once.
const FrodoImplementation& Frodo();
// The best AES that may run here and is not above `level`.
const FrodoAes& FrodoBestAes(os::SimdLevel level);

}  // namespace coffer::crypto::internal
