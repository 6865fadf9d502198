// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/coffer_kem.h"

#include <algorithm>
#include <utility>

#include "coffer/crypto/sha3.h"

namespace coffer::crypto {
namespace {

using Frodo = FrodoKem976Shake;

constexpr size_t kFrodoKeySize = 15632;
constexpr size_t kFrodoCiphertextSize = 15792;
static_assert(Frodo::Parameters::kCiphertextSize == kFrodoCiphertextSize);
static_assert(Frodo::Seeds::kSize == 24 + 48 + 16);

CofferShared Combine(const Frodo::SharedSecret& frodo, const XWingShared& xwing,
                     ByteSpan ciphertext, const std::array<uint8_t, 32>& key_hash) {
  const std::array<uint8_t, 32> ciphertext_hash = Sha3_256::HashPublic(ciphertext);
  CofferShared shared;
  Sha3_256::Hash(
      {frodo.Expose(), xwing.Expose(), ciphertext_hash, key_hash, AsBytes(kCofferKemLabel)},
      shared.ExposeMutable());
  return shared;
}

}  // namespace

CofferEncapsulationKey::CofferEncapsulationKey(Frodo::PublicKey frodo,
                                               const XWingEncapsulationKey& xwing)
    : frodo_(std::move(frodo)), xwing_(xwing), hash_(Sha3_256::HashPublic(bytes())) {
  frodo_.CacheHash();
}

Result<CofferEncapsulationKey> CofferEncapsulationKey::Parse(ByteSpan bytes) {
  if (bytes.size() != kCofferEncapsulationKeySize) {
    return Error(ErrorCode::kInvalidArgument, "wrong length of a coffer public key");
  }
  COFFER_ASSIGN_OR_RETURN(Frodo::PublicKey frodo,
                          Frodo::PublicKey::Create(bytes.first(kFrodoKeySize)));
  COFFER_ASSIGN_OR_RETURN(const XWingEncapsulationKey xwing,
                          XWingEncapsulationKey::Parse(bytes.subspan(kFrodoKeySize)));
  return CofferEncapsulationKey(std::move(frodo), xwing);
}

Bytes CofferEncapsulationKey::bytes() const {
  Bytes bytes;
  Append(bytes, frodo_.bytes());
  Append(bytes, xwing_.bytes());
  return bytes;
}

Result<CofferEncapsulation> CofferEncapsulationKey::Encapsulate(os::Random& random) const {
  COFFER_ASSIGN_OR_RETURN(Frodo::Encapsulated frodo, Frodo::Encapsulate(frodo_, random));
  COFFER_ASSIGN_OR_RETURN(const auto xwing, xwing_.Encapsulate(random));
  Bytes ciphertext = std::move(frodo.ciphertext);
  Append(ciphertext, xwing.ciphertext);
  CofferShared shared = Combine(frodo.shared_secret, xwing.shared, ciphertext, hash_);
  return CofferEncapsulation{std::move(ciphertext), std::move(shared)};
}

Result<CofferDecapsulationKey> CofferDecapsulationKey::FromSeed(const CofferSeed& seed) {
  XWingSeed xwing_seed;
  Frodo::Seeds frodo_seeds;
  Shake256 shake;
  shake.Absorb(AsBytes("coffer/identity/v1"));
  shake.Absorb(seed.Expose());
  shake.Squeeze(xwing_seed.ExposeMutable());
  shake.Squeeze(frodo_seeds.ExposeMutable());
  COFFER_ASSIGN_OR_RETURN(Frodo::PrivateKey frodo, Frodo::PrivateKey::FromSeeds(frodo_seeds));
  COFFER_ASSIGN_OR_RETURN(XWingDecapsulationKey xwing, XWingDecapsulationKey::FromSeed(xwing_seed));
  CofferEncapsulationKey public_key(frodo.PublicKeyOf(), xwing.encapsulation_key());
  return CofferDecapsulationKey(std::move(frodo), std::move(xwing), std::move(public_key));
}

Result<CofferShared> CofferDecapsulationKey::Decapsulate(ByteSpan ciphertext) const {
  if (ciphertext.size() != kCofferCiphertextSize) {
    return Error(ErrorCode::kInvalidArgument, "wrong length of a coffer ciphertext");
  }
  // X-Wing first: its only failure, a point of low order, is public.
  XWingCiphertext xwing_ciphertext;
  std::ranges::copy(ciphertext.subspan(kFrodoCiphertextSize), xwing_ciphertext.begin());
  COFFER_ASSIGN_OR_RETURN(const XWingShared xwing, xwing_.Decapsulate(xwing_ciphertext));
  COFFER_ASSIGN_OR_RETURN(const Frodo::SharedSecret frodo,
                          Frodo::Decapsulate(frodo_, ciphertext.first(kFrodoCiphertextSize)));
  return Combine(frodo, xwing, ciphertext, public_.hash_);
}

}  // namespace coffer::crypto
