// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/hybrid.h"

#include <algorithm>
#include <utility>

#include "coffer/age/internal/key_text.h"
#include "coffer/age/internal/wrap.h"
#include "coffer/base/base64.h"
#include "coffer/base/bech32.h"

namespace coffer::age {
namespace {

constexpr std::string_view kType = "mlkem768x25519";
constexpr std::string_view kInfo = "age-encryption.org/mlkem768x25519";
constexpr std::string_view kRecipientHrp = "age1pq";
constexpr std::string_view kIdentityHrp = "age-secret-key-pq-";

Status CheckStanza(const Stanza& stanza, crypto::XWingCiphertext& enc) {
  COFFER_TRY(internal::CheckArgumentCount(stanza, 1));
  COFFER_TRY(internal::DecodeArgument(stanza, 0, enc));
  return internal::CheckBody(stanza);
}

}  // namespace

Result<HybridRecipient> HybridRecipient::Parse(std::string_view text) {
  COFFER_ASSIGN_OR_RETURN(
      const SecretBuffer bytes,
      internal::ParseRecipientText(text, kRecipientHrp, crypto::kXWingEncapsulationKeySize,
                                   kRecipientHrp));
  Result<crypto::XWingEncapsulationKey> key = crypto::XWingEncapsulationKey::Parse(bytes.Expose());
  if (!key.ok()) return std::move(key).error().WithContext("malformed age1pq recipient");
  return HybridRecipient(*key);
}

std::string HybridRecipient::ToString() const {
  return std::string(bech32::Encode(kRecipientHrp, key_.bytes()).ExposeText());
}

Result<WrappedFileKey> HybridRecipient::Wrap(const FileKey& file_key, os::Random& random) const {
  // X25519's secret is drawn before ML-KEM's message, as in age, so that its test vectors come out
  // byte for byte.
  crypto::XWingRandomness randomness;
  random.Fill(randomness.ExposeMutable().last<32>());
  random.Fill(randomness.ExposeMutable().first<32>());
  Result<crypto::XWingEncapsulation> encapsulation = key_.EncapsulateWith(randomness);
  if (!encapsulation.ok()) {
    return std::move(encapsulation).error().WithContext("unusable age1pq recipient");
  }
  COFFER_ASSIGN_OR_RETURN(
      Bytes body, internal::HpkeSealFileKey(crypto::X25519Group::kHpkeId,
                                            encapsulation->shared.Expose(), kInfo, file_key));
  WrappedFileKey wrapped;
  wrapped.stanzas.push_back({std::string(kType),
                             {base64::Encode(encapsulation->ciphertext, base64::Padding::kNone)},
                             std::move(body)});
  wrapped.labels.insert(std::string(kPostQuantumLabel));
  return wrapped;
}

Result<HybridIdentity> HybridIdentity::FromSeed(crypto::XWingSeed seed) {
  COFFER_ASSIGN_OR_RETURN(crypto::XWingDecapsulationKey key,
                          crypto::XWingDecapsulationKey::FromSeed(seed));
  return HybridIdentity(std::move(seed), std::move(key));
}

Result<HybridIdentity> HybridIdentity::Generate(os::Random& random) {
  crypto::XWingSeed seed;
  random.Fill(seed.ExposeMutable());
  return FromSeed(std::move(seed));
}

Result<HybridIdentity> HybridIdentity::Parse(std::string_view text) {
  COFFER_ASSIGN_OR_RETURN(
      const SecretBuffer bytes,
      internal::ParseIdentityText(text, kIdentityHrp, crypto::XWingSeed::kSize));
  return FromSeed(crypto::XWingSeed::CopyOf(bytes.Expose().first<crypto::XWingSeed::kSize>()));
}

SecretBuffer HybridIdentity::ToString() const {
  return bech32::EncodeUpperCase(kIdentityHrp, seed_.Expose());
}

Result<std::optional<FileKey>> HybridIdentity::Unwrap(std::span<const Stanza> stanzas) {
  crypto::XWingCiphertext enc;
  const auto check = [&](const Stanza& stanza) { return CheckStanza(stanza, enc); };
  const auto open = [&](const Stanza& stanza) -> Result<std::optional<FileKey>> {
    COFFER_TRY(CheckStanza(stanza, enc));
    COFFER_ASSIGN_OR_RETURN(const crypto::XWingShared shared, key_.Decapsulate(enc));
    return internal::HpkeOpenFileKey(crypto::X25519Group::kHpkeId, shared.Expose(), kInfo,
                                     stanza.body);
  };
  return internal::UnwrapFirst(stanzas, kType, "its X25519 share is a point of low order", check,
                               open);
}

Result<std::unique_ptr<Recipient>> HybridIdentity::ToRecipient() const {
  return std::unique_ptr<Recipient>(std::make_unique<HybridRecipient>(key_.encapsulation_key()));
}

}  // namespace coffer::age
