// SPDX-License-Identifier: Apache-2.0
// FrodoKEM's three algorithms on bytes (draft-longa-cfrg-frodokem-03 section 8), on a given
// implementation of the inner loops. The public face is coffer/crypto/frodo_kem.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/crypto/frodo_parameters.h"
#include "coffer/crypto/internal/frodo_kernels.h"

namespace coffer::crypto::internal {

// Each fails only with kCrypto, when OpenSSL fails to expand A with AES; outputs are then wiped.
template <class P>
struct FrodoScheme {
  using Security = std::span<const uint8_t, P::kSecuritySize>;
  using PublicKey = std::span<const uint8_t, P::kPublicKeySize>;
  using PrivateKey = std::span<const uint8_t, P::kPrivateKeySize>;
  using Ciphertext = std::span<const uint8_t, P::kCiphertextSize>;
  using SharedSecret = std::span<uint8_t, P::kSharedSecretSize>;

  // Section 8.1.1: s || seedSE || z to s || seedA || b || S^T || pkh.
  static Status GenerateKey(const FrodoImplementation& implementation,
                            std::span<const uint8_t, P::kSeedsSize> seeds,
                            std::span<uint8_t, P::kPrivateKeySize> private_key);

  // pkh, the hash of a public key.
  static void HashPublicKey(const FrodoImplementation& implementation, PublicKey public_key,
                            std::span<uint8_t, P::kSecuritySize> pkh);

  // Section 8.2, with mu || salt given. `pkh` is the hash of the public key, or empty: then it is
  // computed on the way, for less than HashPublicKey costs.
  static Status Encapsulate(const FrodoImplementation& implementation, PublicKey public_key,
                            ByteSpan pkh, std::span<const uint8_t, P::kCoinsSize> coins,
                            std::span<uint8_t, P::kCiphertextSize> ciphertext,
                            SharedSecret shared_secret);

  // Section 8.3. A ciphertext that is not what its own content encapsulates to gives the secret of
  // implicit rejection, in the same time.
  static Status Decapsulate(const FrodoImplementation& implementation, PrivateKey private_key,
                            Ciphertext ciphertext, SharedSecret shared_secret);
};

#define COFFER_FRODO_FOR_EACH_SET(DO) \
  DO(FrodoKem640ShakeParameters)      \
  DO(FrodoKem976ShakeParameters)      \
  DO(FrodoKem1344ShakeParameters)     \
  DO(FrodoKem640AesParameters)        \
  DO(FrodoKem976AesParameters)        \
  DO(FrodoKem1344AesParameters)       \
  DO(EFrodoKem640ShakeParameters)     \
  DO(EFrodoKem976ShakeParameters)     \
  DO(EFrodoKem1344ShakeParameters)    \
  DO(EFrodoKem640AesParameters)       \
  DO(EFrodoKem976AesParameters)       \
  DO(EFrodoKem1344AesParameters)

#define COFFER_FRODO_DECLARE(P) extern template struct FrodoScheme<P>;
COFFER_FRODO_FOR_EACH_SET(COFFER_FRODO_DECLARE)
#undef COFFER_FRODO_DECLARE

}  // namespace coffer::crypto::internal
