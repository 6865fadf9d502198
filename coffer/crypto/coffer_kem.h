// SPDX-License-Identifier: Apache-2.0
// The key encapsulation of the coffer recipient: FrodoKEM-976-SHAKE in its salted form together
// with X-Wing, so with ML-KEM-768 and X25519. Its secret holds while one of the three does. Keys
// and ciphertexts are bound whole into the secret. docs/format/recipient.md has the bytes and a
// vector.
//
//   seed[32];  SHAKE256("coffer/identity/v1" || seed) = X-Wing seed[32] || s[24] seedSE[48] z[16]
//   ek  = FrodoKEM public key[15632] || X-Wing public key[1216]
//   enc = FrodoKEM ciphertext[15792] || X-Wing ciphertext[1120]
//   secret = SHA3-256(ss_frodo[24] || ss_xwing[32] || SHA3-256(enc) || SHA3-256(ek) ||
//                     "coffer/frodo976-mlkem768-x25519/v1")
#pragma once

#include <array>
#include <cstdint>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/frodo_kem.h"
#include "coffer/crypto/xwing.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

struct CofferSeedRole;
struct CofferSharedRole;
using CofferSeed = SecretArray<32, CofferSeedRole>;
using CofferShared = SecretArray<32, CofferSharedRole>;

inline constexpr std::string_view kCofferKemLabel = "coffer/frodo976-mlkem768-x25519/v1";
// Our HPKE identifier of this KEM: from the range that nobody assigns.
inline constexpr uint16_t kCofferKemHpkeId = 0xff01;

inline constexpr size_t kCofferEncapsulationKeySize = 15632 + kXWingEncapsulationKeySize;
inline constexpr size_t kCofferCiphertextSize = 15792 + kXWingCiphertextSize;

struct CofferEncapsulation {
  Bytes ciphertext;  // kCofferCiphertextSize
  CofferShared shared;
};

class CofferEncapsulationKey {
 public:
  // kInvalidArgument for a wrong size or a malformed ML-KEM key.
  static Result<CofferEncapsulationKey> Parse(ByteSpan bytes);

  [[nodiscard]] Bytes bytes() const;

  // Draws the coins of FrodoKEM, then those of X-Wing. kInvalidArgument if X25519 gives no secret.
  Result<CofferEncapsulation> Encapsulate(os::Random& random) const;

 private:
  friend class CofferDecapsulationKey;
  CofferEncapsulationKey(FrodoKem976Shake::PublicKey frodo, const XWingEncapsulationKey& xwing);

  FrodoKem976Shake::PublicKey frodo_;
  XWingEncapsulationKey xwing_;
  std::array<uint8_t, 32> hash_;  // SHA3-256 of the whole key
};

class CofferDecapsulationKey {
 public:
  // Costs a FrodoKEM key generation.
  static Result<CofferDecapsulationKey> FromSeed(const CofferSeed& seed);

  [[nodiscard]] const CofferEncapsulationKey& encapsulation_key() const { return public_; }

  // kInvalidArgument if the size is wrong or X25519 gives no secret. Any other ciphertext gives a
  // secret; whether it is the sender's shows only where that is used.
  Result<CofferShared> Decapsulate(ByteSpan ciphertext) const;

 private:
  CofferDecapsulationKey(FrodoKem976Shake::PrivateKey frodo, XWingDecapsulationKey xwing,
                         CofferEncapsulationKey public_key)
      : frodo_(std::move(frodo)), xwing_(std::move(xwing)), public_(std::move(public_key)) {}

  FrodoKem976Shake::PrivateKey frodo_;
  XWingDecapsulationKey xwing_;
  CofferEncapsulationKey public_;
};

}  // namespace coffer::crypto
