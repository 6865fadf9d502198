// SPDX-License-Identifier: Apache-2.0
// FrodoKEM, the conservative key encapsulation: ISO/IEC 18033-2:2006/Amd 2, in the open text of
// draft-longa-cfrg-frodokem-03. Twelve sets; see coffer/crypto/frodo_parameters.h.
//
//   using Kem = FrodoKem976Shake;
//   Kem::PrivateKey key = COFFER_..(Kem::GenerateKey(random));
//   Kem::Encapsulated sent = COFFER_..(Kem::Encapsulate(key.PublicKeyOf(), random));
//   Kem::SharedSecret same = COFFER_..(Kem::Decapsulate(key, sent.ciphertext));
//
// A key or a ciphertext is wrong only by its length: kInvalidArgument. A ciphertext that was
// changed or was made for another key decapsulates to a secret that nobody else has (implicit
// rejection). The AES sets fail with kCrypto if OpenSSL fails. Use it next to a classical scheme
// (section 11 of the draft).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/frodo_parameters.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

template <class P>
struct FrodoSharedSecretRole;
template <class P>
struct FrodoSeedsRole;
template <class P>
struct FrodoCoinsRole;

template <class P>
class FrodoKem {
 public:
  using Parameters = P;
  using SharedSecret = SecretArray<P::kSharedSecretSize, FrodoSharedSecretRole<P>>;
  // s || seedSE || z: all that a private key is made from (section 8.1), and the way to store one.
  using Seeds = SecretArray<P::kSeedsSize, FrodoSeedsRole<P>>;
  // mu || salt: all that an encapsulation draws. The salt becomes public, mu is secret.
  using Coins = SecretArray<P::kCoinsSize, FrodoCoinsRole<P>>;

  // seedA || b.
  class PublicKey {
   public:
    static Result<PublicKey> Create(ByteSpan bytes);

    [[nodiscard]] ByteSpan bytes() const { return bytes_; }

    // Computes and keeps the hash of the key (pkh), which every encapsulation needs. Worth it for a
    // key that is used more than once; one encapsulation by itself has it for less.
    void CacheHash();
    // The hash if it is kept, else empty.
    [[nodiscard]] ByteSpan hash() const { return hash_ ? ByteSpan(*hash_) : ByteSpan(); }

   private:
    friend class FrodoKem;
    PublicKey() = default;

    Bytes bytes_;
    std::optional<std::array<uint8_t, P::kSecuritySize>> hash_;
  };

  // s || seedA || b || S^T || pkh, the expanded form.
  class PrivateKey {
   public:
    // KeyGenInternal of the draft. Costs as much as making a new key.
    static Result<PrivateKey> FromSeeds(const Seeds& seeds);
    // Takes the expanded form, which is not checked beyond its size.
    static Result<PrivateKey> Create(ByteSpan expanded);

    [[nodiscard]] PublicKey PublicKeyOf() const;  // with its hash
    [[nodiscard]] ByteSpan ExposeExpanded() const { return expanded_.Expose(); }

   private:
    friend class FrodoKem;
    PrivateKey() = default;

    SecretBuffer expanded_;
  };

  struct Encapsulated {
    Bytes ciphertext;  // c1 || c2 || salt, kCiphertextSize bytes
    SharedSecret shared_secret;
  };

  // Both draw all their randomness in one request.
  static Result<PrivateKey> GenerateKey(os::Random& random);
  static Result<Encapsulated> Encapsulate(const PublicKey& key, os::Random& random);

  // With given coins, which are for one use: the same coins twice give the same secret.
  static Result<Encapsulated> EncapsulateWith(const PublicKey& key, const Coins& coins);

  static Result<SharedSecret> Decapsulate(const PrivateKey& key, ByteSpan ciphertext);
};

using FrodoKem640Shake = FrodoKem<FrodoKem640ShakeParameters>;
using FrodoKem976Shake = FrodoKem<FrodoKem976ShakeParameters>;
using FrodoKem1344Shake = FrodoKem<FrodoKem1344ShakeParameters>;
using FrodoKem640Aes = FrodoKem<FrodoKem640AesParameters>;
using FrodoKem976Aes = FrodoKem<FrodoKem976AesParameters>;
using FrodoKem1344Aes = FrodoKem<FrodoKem1344AesParameters>;
using EFrodoKem640Shake = FrodoKem<EFrodoKem640ShakeParameters>;
using EFrodoKem976Shake = FrodoKem<EFrodoKem976ShakeParameters>;
using EFrodoKem1344Shake = FrodoKem<EFrodoKem1344ShakeParameters>;
using EFrodoKem640Aes = FrodoKem<EFrodoKem640AesParameters>;
using EFrodoKem976Aes = FrodoKem<EFrodoKem976AesParameters>;
using EFrodoKem1344Aes = FrodoKem<EFrodoKem1344AesParameters>;

extern template class FrodoKem<FrodoKem640ShakeParameters>;
extern template class FrodoKem<FrodoKem976ShakeParameters>;
extern template class FrodoKem<FrodoKem1344ShakeParameters>;
extern template class FrodoKem<FrodoKem640AesParameters>;
extern template class FrodoKem<FrodoKem976AesParameters>;
extern template class FrodoKem<FrodoKem1344AesParameters>;
extern template class FrodoKem<EFrodoKem640ShakeParameters>;
extern template class FrodoKem<EFrodoKem976ShakeParameters>;
extern template class FrodoKem<EFrodoKem1344ShakeParameters>;
extern template class FrodoKem<EFrodoKem640AesParameters>;
extern template class FrodoKem<EFrodoKem976AesParameters>;
extern template class FrodoKem<EFrodoKem1344AesParameters>;

}  // namespace coffer::crypto
