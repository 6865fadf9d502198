// SPDX-License-Identifier: Apache-2.0
// ML-KEM-768 together with Diffie-Hellman on a curve, as in draft-irtf-cfrg-concrete-hybrid-kems
// and draft-ietf-hpke-pq: the secret holds while one of the two does. With X25519 it is X-Wing
// (draft-connolly-cfrg-xwing-kem, coffer/crypto/xwing.h), with P-256 MLKEM768-P256.
//
// A private key is a seed of 32 bytes. A public key is the ML-KEM key and the curve's element; a
// ciphertext the ML-KEM ciphertext and an element.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/ml_kem.h"
#include "coffer/crypto/p256.h"
#include "coffer/crypto/x25519.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

// What a curve does here. A scalar is made of seed bytes; Exchange fails with kInvalidArgument for
// an element that is malformed or gives no secret.
struct X25519Group {
  static constexpr std::string_view kLabel = "\\.//^\\";
  static constexpr uint16_t kHpkeId = 0x647a;
  static constexpr size_t kElementSize = kX25519Size;
  static constexpr size_t kScalarSeedSize = 32;
  using Scalar = X25519Scalar;
  using Shared = X25519Shared;
  using Element = std::array<uint8_t, kElementSize>;

  static Result<Scalar> MakeScalar(std::span<const uint8_t, kScalarSeedSize> seed);
  static Result<Element> Public(const Scalar& scalar);
  static Result<Shared> Exchange(const Scalar& scalar, const Element& element);
  static Status Check(const Element& element);
};

struct P256Group {
  static constexpr std::string_view kLabel = "MLKEM768-P256";
  static constexpr uint16_t kHpkeId = 0x0050;
  static constexpr size_t kElementSize = P256Point::kUncompressedSize;
  static constexpr size_t kScalarSeedSize = 128;  // four candidates for a scalar
  using Scalar = P256Scalar;
  using Shared = P256Shared;
  using Element = std::array<uint8_t, kElementSize>;

  static Result<Scalar> MakeScalar(std::span<const uint8_t, kScalarSeedSize> seed);
  static Result<Element> Public(const Scalar& scalar);
  static Result<Shared> Exchange(const Scalar& scalar, const Element& element);
  static Status Check(const Element& element);
};

struct HybridSeedRole;
struct HybridSharedRole;
template <class Group>
struct HybridRandomnessRole;

using HybridSeed = SecretArray<32, HybridSeedRole>;
using HybridShared = SecretArray<32, HybridSharedRole>;
template <class Group>
using HybridCiphertext = std::array<uint8_t, kMlKemCiphertextSize + Group::kElementSize>;
// m of ML-KEM, then the seed of the ephemeral scalar.
template <class Group>
using HybridRandomness =
    SecretArray<MlKemMessage::kSize + Group::kScalarSeedSize, HybridRandomnessRole<Group>>;

template <class Group>
struct HybridEncapsulation {
  HybridCiphertext<Group> ciphertext;
  HybridShared shared;
};

template <class Group>
class HybridEncapsulationKey {
 public:
  static constexpr size_t kSize = kMlKemEncapsulationKeySize + Group::kElementSize;

  // kInvalidArgument if the size is wrong or either key is malformed.
  static Result<HybridEncapsulationKey> Parse(ByteSpan bytes);

  [[nodiscard]] std::array<uint8_t, kSize> bytes() const;

  // kInvalidArgument if the curve's key gives no secret (X25519 with a point of low order).
  Result<HybridEncapsulation<Group>> Encapsulate(os::Random& random) const;
  // The same with given randomness, which is used once.
  Result<HybridEncapsulation<Group>> EncapsulateWith(
      const HybridRandomness<Group>& randomness) const;

 private:
  template <class>
  friend class HybridDecapsulationKey;
  HybridEncapsulationKey(const MlKemEncapsulationKey& ml_kem,
                         const typename Group::Element& element)
      : ml_kem_(ml_kem), element_(element) {}

  MlKemEncapsulationKey ml_kem_;
  typename Group::Element element_;
};

template <class Group>
class HybridDecapsulationKey {
 public:
  static Result<HybridDecapsulationKey> FromSeed(const HybridSeed& seed);

  [[nodiscard]] HybridEncapsulationKey<Group> encapsulation_key() const {
    return {ml_kem_.encapsulation_key(), element_};
  }

  // kInvalidArgument if the ciphertext's element is malformed or gives no secret. Any other
  // ciphertext gives a secret; whether it is the sender's shows only where that is used.
  Result<HybridShared> Decapsulate(const HybridCiphertext<Group>& ciphertext) const;

 private:
  HybridDecapsulationKey(MlKemDecapsulationKey ml_kem, typename Group::Scalar scalar,
                         const typename Group::Element& element)
      : ml_kem_(std::move(ml_kem)), scalar_(std::move(scalar)), element_(element) {}

  MlKemDecapsulationKey ml_kem_;
  typename Group::Scalar scalar_;
  typename Group::Element element_;
};

extern template class HybridEncapsulationKey<X25519Group>;
extern template class HybridDecapsulationKey<X25519Group>;
extern template class HybridEncapsulationKey<P256Group>;
extern template class HybridDecapsulationKey<P256Group>;

using MlKemP256EncapsulationKey = HybridEncapsulationKey<P256Group>;
using MlKemP256DecapsulationKey = HybridDecapsulationKey<P256Group>;

}  // namespace coffer::crypto
