// SPDX-License-Identifier: Apache-2.0
// K-PKE, the encryption inside ML-KEM-768 (FIPS 203 section 5), and the hashing that goes with it.
//
// Making the matrix takes nine sponges of three blocks each, one row of three sponges at a time.
// The fourth lane of the four-lane Keccak is free for nine steps in a row: exactly enough for H(ek)
// in an encapsulation, for J(z, c) in a decapsulation, and for the noise of a key generation. Those
// cost almost nothing there, and a third of the whole operation anywhere else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/internal/ml_kem_kernels.h"
#include "coffer/crypto/keccak_states.h"

namespace coffer::crypto::internal {

inline constexpr size_t kPkeSeedSize = 32;  // d, rho, sigma, and r of encryption
inline constexpr size_t kPkeDecryptionKeySize = kK * kEncodedPolySize;
inline constexpr size_t kPkeEncryptionKeySize = kK * kEncodedPolySize + kPkeSeedSize;
inline constexpr size_t kPkeCiphertextSize = kK * kCompressedUSize + kCompressedVSize;

using PkeSeed = std::span<const uint8_t, kPkeSeedSize>;
using PkeMessage = std::span<const uint8_t, kMessageSize>;
using PkeEncryptionKey = std::span<const uint8_t, kPkeEncryptionKeySize>;
using PkeDecryptionKey = std::span<const uint8_t, kPkeDecryptionKeySize>;
using PkeCiphertext = std::span<const uint8_t, kPkeCiphertextSize>;

// A T that is wiped at its end.
template <class T>
struct Wiped : T {
  Wiped() = default;
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;
  ~Wiped() { SecureWipe(static_cast<T*>(this), sizeof(T)); }
};

// What the free lane does while a matrix is made. Blocks and results are taken for secret.
class SideHash {
 public:
  static constexpr size_t kSteps = 9;
  static constexpr size_t kRate = 136;  // of SHA3-256 and of SHAKE256 alike

  SideHash() = default;
  SideHash(const SideHash&) = delete;
  SideHash& operator=(const SideHash&) = delete;
  ~SideHash() { SecureWipe(blocks_); }

  // One message of exactly kSteps blocks with its padding; 32 bytes of its hash.
  void HashOne(std::initializer_list<ByteSpan> parts, uint8_t suffix,
               std::span<uint8_t, 32> digest);
  // PRF_2(key, n) of section 4.1 for n = 0 to count - 1, at most kSteps; kNoiseSize bytes of each.
  void ExpandNoise(PkeSeed key, uint8_t count, MutableByteSpan noise);

  // Before and after permutation `step`; `squeezed` is the beginning of the state after it.
  void Feed(size_t step, KeccakStates<4>& states);
  void Take(size_t step, std::span<const uint8_t, kRate> squeezed);

 private:
  void Pad(size_t begin, size_t end, uint8_t suffix);

  std::array<uint8_t, kSteps * kRate> blocks_{};
  size_t step_count_ = 0;
  bool one_message_ = false;
  MutableByteSpan out_;
};

struct Matrix {
  PolyVector row[kK];
};

enum class MatrixForm : uint8_t { kPlain, kTransposed };

// A, or its transpose, from rho (algorithm 13, steps 3 to 7), with the side hash run to its end.
void SampleMatrix(PkeSeed rho, MatrixForm form, SideHash& side, Matrix& matrix);

// Algorithm 13. Both keys are written; the encryption key is public from then on.
void PkeKeyGen(PkeSeed d, std::span<uint8_t, kPkeEncryptionKeySize> ek,
               std::span<uint8_t, kPkeDecryptionKeySize> dk);

// Algorithm 14, given the transpose of the key's matrix. The key was checked (PkeKeyIsReduced).
void PkeEncrypt(PkeEncryptionKey ek, const Matrix& transposed, PkeMessage m, PkeSeed r,
                std::span<uint8_t, kPkeCiphertextSize> c);

// Algorithm 15.
void PkeDecrypt(PkeDecryptionKey dk, PkeCiphertext c, std::span<uint8_t, kMessageSize> m);

// The modulus check of section 7.2: every coefficient of the key is below q.
bool PkeKeyIsReduced(PkeEncryptionKey ek);

}  // namespace coffer::crypto::internal
