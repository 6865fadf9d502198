// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/coffer_recipient.h"

#include <algorithm>
#include <utility>

#include "coffer/age/internal/key_text.h"
#include "coffer/age/internal/wrap.h"
#include "coffer/base/base64.h"
#include "coffer/base/bech32.h"
#include "coffer/base/ct.h"

namespace coffer::age {
namespace {

constexpr std::string_view kRecipientHrp = "age1coffer";
constexpr std::string_view kIdentityHrp = "age-plugin-coffer-";

Result<Bytes> CheckStanza(const Stanza& stanza) {
  COFFER_TRY(internal::CheckArgumentCount(stanza, 1));
  Bytes enc(crypto::kCofferCiphertextSize);
  COFFER_TRY(internal::DecodeArgument(stanza, 0, enc));
  COFFER_TRY(internal::CheckBody(stanza));
  return enc;
}

}  // namespace

Result<CofferRecipient> CofferRecipient::Parse(std::string_view text) {
  COFFER_ASSIGN_OR_RETURN(
      const SecretBuffer bytes,
      internal::ParseRecipientText(text, kRecipientHrp, crypto::kCofferEncapsulationKeySize,
                                   kRecipientHrp));
  auto key = crypto::CofferEncapsulationKey::Parse(bytes.Expose());
  if (!key.ok()) return std::move(key).error().WithContext("malformed age1coffer recipient");
  return CofferRecipient(std::move(*key));
}

std::string CofferRecipient::ToString() const {
  return std::string(bech32::Encode(kRecipientHrp, key_.bytes()).ExposeText());
}

Result<WrappedFileKey> CofferRecipient::Wrap(const FileKey& file_key, os::Random& random) const {
  Result<crypto::CofferEncapsulation> encapsulation = key_.Encapsulate(random);
  if (!encapsulation.ok()) {
    return std::move(encapsulation).error().WithContext("unusable age1coffer recipient");
  }
  COFFER_ASSIGN_OR_RETURN(Bytes body, internal::HpkeSealFileKey(crypto::kCofferKemHpkeId,
                                                                encapsulation->shared.Expose(),
                                                                crypto::kCofferKemLabel, file_key));
  WrappedFileKey wrapped;
  wrapped.stanzas.push_back({std::string(kCofferStanzaType),
                             {base64::Encode(encapsulation->ciphertext, base64::Padding::kNone)},
                             std::move(body)});
  wrapped.labels.insert(std::string(kPostQuantumLabel));
  return wrapped;
}

Result<CofferIdentity> CofferIdentity::Generate(os::Random& random) {
  crypto::CofferSeed seed;
  random.Fill(seed.ExposeMutable());
  CofferIdentity identity(std::move(seed));
  COFFER_ASSIGN_OR_RETURN(const crypto::CofferDecapsulationKey* key, identity.Key());
  COFFER_ASSIGN_OR_RETURN(const crypto::CofferEncapsulation sent,
                          key->encapsulation_key().Encapsulate(random));
  COFFER_ASSIGN_OR_RETURN(const crypto::CofferShared received, key->Decapsulate(sent.ciphertext));
  if (!ct::Equal(sent.shared.Expose(), received.Expose())) {
    return Error(ErrorCode::kCrypto,
                 "the new key does not decapsulate what it encapsulates; this "
                 "machine computes wrongly");
  }
  return identity;
}

Result<CofferIdentity> CofferIdentity::Parse(std::string_view text) {
  COFFER_ASSIGN_OR_RETURN(
      const SecretBuffer bytes,
      internal::ParseIdentityText(text, kIdentityHrp, crypto::CofferSeed::kSize));
  return CofferIdentity(
      crypto::CofferSeed::CopyOf(bytes.Expose().first<crypto::CofferSeed::kSize>()));
}

SecretBuffer CofferIdentity::ToString() const {
  return bech32::EncodeUpperCase(kIdentityHrp, seed_.Expose());
}

Result<const crypto::CofferDecapsulationKey*> CofferIdentity::Key() const {
  if (!key_) {
    COFFER_ASSIGN_OR_RETURN(auto key, crypto::CofferDecapsulationKey::FromSeed(seed_));
    key_ = std::make_unique<crypto::CofferDecapsulationKey>(std::move(key));
  }
  return key_.get();
}

Result<std::optional<FileKey>> CofferIdentity::Unwrap(std::span<const Stanza> stanzas) {
  const auto check = [](const Stanza& stanza) -> Status {
    COFFER_TRY(CheckStanza(stanza));
    return OkStatus();
  };
  const auto open = [&](const Stanza& stanza) -> Result<std::optional<FileKey>> {
    COFFER_ASSIGN_OR_RETURN(const Bytes enc, CheckStanza(stanza));
    COFFER_ASSIGN_OR_RETURN(const crypto::CofferDecapsulationKey* key, Key());
    COFFER_ASSIGN_OR_RETURN(const crypto::CofferShared shared, key->Decapsulate(enc));
    return internal::HpkeOpenFileKey(crypto::kCofferKemHpkeId, shared.Expose(),
                                     crypto::kCofferKemLabel, stanza.body);
  };
  return internal::UnwrapFirst(stanzas, kCofferStanzaType,
                               "its X25519 share is a point of low order", check, open);
}

Result<std::unique_ptr<Recipient>> CofferIdentity::ToRecipient() const {
  COFFER_ASSIGN_OR_RETURN(const crypto::CofferDecapsulationKey* key, Key());
  return std::unique_ptr<Recipient>(std::make_unique<CofferRecipient>(key->encapsulation_key()));
}

}  // namespace coffer::age
