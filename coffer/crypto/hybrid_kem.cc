// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/hybrid_kem.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coffer/crypto/sha3.h"

namespace coffer::crypto {

Result<X25519Scalar> X25519Group::MakeScalar(std::span<const uint8_t, kScalarSeedSize> seed) {
  return X25519Scalar::CopyOf(seed);
}

Result<X25519Group::Element> X25519Group::Public(const Scalar& scalar) {
  return X25519Public(scalar);
}

Result<X25519Shared> X25519Group::Exchange(const Scalar& scalar, const Element& element) {
  return X25519(scalar, element);
}

// Any 32 bytes are a u-coordinate; one of low order shows in the exchange.
Status X25519Group::Check(const Element& /*element*/) { return OkStatus(); }

// The first of the candidates that is a scalar. That there is none has a probability below 2^-128.
Result<P256Scalar> P256Group::MakeScalar(std::span<const uint8_t, kScalarSeedSize> seed) {
  for (size_t at = 0; at < kScalarSeedSize; at += P256Scalar::kSize) {
    P256Scalar candidate = P256Scalar::CopyOf(seed.subspan(at).first<P256Scalar::kSize>());
    if (IsP256Scalar(candidate)) return candidate;
  }
  return Error(ErrorCode::kInvalidArgument, "P-256: the seed makes no private key");
}

Result<P256Group::Element> P256Group::Public(const Scalar& scalar) {
  COFFER_ASSIGN_OR_RETURN(const P256Point point, P256Public(scalar));
  Element element;
  std::ranges::copy(point.uncompressed(), element.begin());
  return element;
}

Result<P256Shared> P256Group::Exchange(const Scalar& scalar, const Element& element) {
  COFFER_ASSIGN_OR_RETURN(const P256Point point, P256Point::Parse(element));
  return P256(scalar, point);
}

Status P256Group::Check(const Element& element) {
  COFFER_TRY(P256Point::Parse(element));
  return OkStatus();
}

namespace {

// The combiner: only the curve's ciphertext and key go in, since ML-KEM binds its own.
template <class Group>
HybridShared Combine(const MlKemShared& ml_kem, const typename Group::Shared& curve,
                     const typename Group::Element& ciphertext,
                     const typename Group::Element& key) {
  HybridShared shared;
  Sha3_256::Hash({ml_kem.Expose(), curve.Expose(), ciphertext, key, AsBytes(Group::kLabel)},
                 shared.ExposeMutable());
  return shared;
}

}  // namespace

template <class Group>
Result<HybridEncapsulationKey<Group>> HybridEncapsulationKey<Group>::Parse(ByteSpan bytes) {
  if (bytes.size() != kSize) {
    return Error(ErrorCode::kInvalidArgument, "the public key has " + std::to_string(bytes.size()) +
                                                  " bytes, not " + std::to_string(kSize));
  }
  COFFER_ASSIGN_OR_RETURN(const MlKemEncapsulationKey ml_kem,
                          MlKemEncapsulationKey::Parse(bytes.first<kMlKemEncapsulationKeySize>()));
  typename Group::Element element;
  std::ranges::copy(bytes.subspan<kMlKemEncapsulationKeySize>(), element.begin());
  COFFER_TRY(Group::Check(element));
  return HybridEncapsulationKey(ml_kem, element);
}

template <class Group>
std::array<uint8_t, HybridEncapsulationKey<Group>::kSize> HybridEncapsulationKey<Group>::bytes()
    const {
  std::array<uint8_t, kSize> bytes;
  const auto end = std::ranges::copy(ml_kem_.bytes(), bytes.begin()).out;
  std::ranges::copy(element_, end);
  return bytes;
}

template <class Group>
Result<HybridEncapsulation<Group>> HybridEncapsulationKey<Group>::Encapsulate(
    os::Random& random) const {
  HybridRandomness<Group> randomness;
  random.Fill(randomness.ExposeMutable());
  return EncapsulateWith(randomness);
}

template <class Group>
Result<HybridEncapsulation<Group>> HybridEncapsulationKey<Group>::EncapsulateWith(
    const HybridRandomness<Group>& randomness) const {
  const auto bytes = randomness.Expose();
  COFFER_ASSIGN_OR_RETURN(
      const typename Group::Scalar ephemeral,
      Group::MakeScalar(bytes.template subspan<MlKemMessage::kSize, Group::kScalarSeedSize>()));
  COFFER_ASSIGN_OR_RETURN(const typename Group::Element element, Group::Public(ephemeral));
  COFFER_ASSIGN_OR_RETURN(const typename Group::Shared curve, Group::Exchange(ephemeral, element_));
  const MlKemEncapsulation ml_kem =
      ml_kem_.EncapsulateWith(MlKemMessage::CopyOf(bytes.template first<MlKemMessage::kSize>()));

  HybridEncapsulation<Group> result;
  const auto end = std::ranges::copy(ml_kem.ciphertext, result.ciphertext.begin()).out;
  std::ranges::copy(element, end);
  result.shared = Combine<Group>(ml_kem.shared, curve, element, element_);
  return result;
}

template <class Group>
Result<HybridDecapsulationKey<Group>> HybridDecapsulationKey<Group>::FromSeed(
    const HybridSeed& seed) {
  struct ExpandedRole;
  SecretArray<MlKemSeed::kSize + Group::kScalarSeedSize, ExpandedRole> expanded;
  Shake256 shake;
  shake.Absorb(seed.Expose());
  shake.Squeeze(expanded.ExposeMutable());
  const auto bytes = expanded.Expose();
  COFFER_ASSIGN_OR_RETURN(
      typename Group::Scalar scalar,
      Group::MakeScalar(bytes.template subspan<MlKemSeed::kSize, Group::kScalarSeedSize>()));
  COFFER_ASSIGN_OR_RETURN(const typename Group::Element element, Group::Public(scalar));
  return HybridDecapsulationKey(
      MlKemDecapsulationKey::FromSeed(MlKemSeed::CopyOf(bytes.template first<MlKemSeed::kSize>())),
      std::move(scalar), element);
}

template <class Group>
Result<HybridShared> HybridDecapsulationKey<Group>::Decapsulate(
    const HybridCiphertext<Group>& ciphertext) const {
  MlKemCiphertext ml_kem_ciphertext;
  typename Group::Element element;
  std::copy_n(ciphertext.begin(), kMlKemCiphertextSize, ml_kem_ciphertext.begin());
  std::copy_n(ciphertext.begin() + kMlKemCiphertextSize, Group::kElementSize, element.begin());
  COFFER_ASSIGN_OR_RETURN(const typename Group::Shared curve, Group::Exchange(scalar_, element));
  return Combine<Group>(ml_kem_.Decapsulate(ml_kem_ciphertext), curve, element, element_);
}

template class HybridEncapsulationKey<X25519Group>;
template class HybridDecapsulationKey<X25519Group>;
template class HybridEncapsulationKey<P256Group>;
template class HybridDecapsulationKey<P256Group>;

}  // namespace coffer::crypto
