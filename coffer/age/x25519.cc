// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/x25519.h"

#include <algorithm>
#include <utility>

#include "coffer/age/internal/key_text.h"
#include "coffer/age/internal/wrap.h"
#include "coffer/base/base64.h"
#include "coffer/base/bech32.h"
#include "coffer/crypto/hkdf.h"

namespace coffer::age {
namespace {

using crypto::kX25519Size;
using crypto::X25519Point;
using crypto::X25519Scalar;

constexpr std::string_view kType = "X25519";
constexpr std::string_view kRecipientHrp = "age";
constexpr std::string_view kIdentityHrp = "age-secret-key-";

Result<internal::WrapKey> DeriveWrapKey(const crypto::X25519Shared& shared,
                                        const X25519Point& share, const X25519Point& recipient) {
  std::array<uint8_t, 2 * kX25519Size> salt;
  std::ranges::copy(share, salt.begin());
  std::ranges::copy(recipient, salt.begin() + kX25519Size);
  internal::WrapKey key;
  COFFER_TRY(crypto::HkdfSha256(
      {.ikm = shared.Expose(), .salt = salt, .info = AsBytes("age-encryption.org/v1/X25519")},
      key.ExposeMutable()));
  return key;
}

Status CheckStanza(const Stanza& stanza, X25519Point& share) {
  COFFER_TRY(internal::CheckArgumentCount(stanza, 1));
  COFFER_TRY(internal::DecodeArgument(stanza, 0, share));
  return internal::CheckBody(stanza);
}

}  // namespace

Result<X25519Recipient> X25519Recipient::Parse(std::string_view text) {
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer bytes,
                          internal::ParseRecipientText(text, kRecipientHrp, kX25519Size, "X25519"));
  X25519Point point;
  std::ranges::copy(bytes.Expose(), point.begin());
  return X25519Recipient(point);
}

std::string X25519Recipient::ToString() const {
  return std::string(bech32::Encode(kRecipientHrp, point_).ExposeText());
}

Result<WrappedFileKey> X25519Recipient::Wrap(const FileKey& file_key, os::Random& random) const {
  X25519Scalar ephemeral;
  random.Fill(ephemeral.ExposeMutable());
  COFFER_ASSIGN_OR_RETURN(const X25519Point share, crypto::X25519Public(ephemeral));
  Result<crypto::X25519Shared> shared = crypto::X25519(ephemeral, point_);
  if (!shared.ok()) return std::move(shared).error().WithContext("unusable X25519 recipient");
  COFFER_ASSIGN_OR_RETURN(const internal::WrapKey key, DeriveWrapKey(*shared, share, point_));
  COFFER_ASSIGN_OR_RETURN(Bytes body, internal::SealFileKey(key, file_key));
  WrappedFileKey wrapped;
  wrapped.stanzas.push_back(
      {std::string(kType), {base64::Encode(share, base64::Padding::kNone)}, std::move(body)});
  return wrapped;
}

Result<X25519Identity> X25519Identity::FromScalar(X25519Scalar scalar) {
  COFFER_ASSIGN_OR_RETURN(const X25519Point point, crypto::X25519Public(scalar));
  return X25519Identity(std::move(scalar), point);
}

Result<X25519Identity> X25519Identity::Generate(os::Random& random) {
  X25519Scalar scalar;
  random.Fill(scalar.ExposeMutable());
  return FromScalar(std::move(scalar));
}

Result<X25519Identity> X25519Identity::Parse(std::string_view text) {
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer bytes,
                          internal::ParseIdentityText(text, kIdentityHrp, kX25519Size));
  return FromScalar(X25519Scalar::CopyOf(bytes.Expose().first<kX25519Size>()));
}

SecretBuffer X25519Identity::ToString() const {
  return bech32::EncodeUpperCase(kIdentityHrp, scalar_.Expose());
}

Result<std::optional<FileKey>> X25519Identity::Unwrap(std::span<const Stanza> stanzas) {
  X25519Point share;
  const auto check = [&](const Stanza& stanza) { return CheckStanza(stanza, share); };
  const auto open = [&](const Stanza& stanza) -> Result<std::optional<FileKey>> {
    COFFER_TRY(CheckStanza(stanza, share));
    COFFER_ASSIGN_OR_RETURN(const crypto::X25519Shared shared, crypto::X25519(scalar_, share));
    COFFER_ASSIGN_OR_RETURN(const internal::WrapKey key, DeriveWrapKey(shared, share, point_));
    return internal::OpenFileKey(key, stanza.body);
  };
  return internal::UnwrapFirst(stanzas, kType, "its share is a point of low order", check, open);
}

Result<std::unique_ptr<Recipient>> X25519Identity::ToRecipient() const {
  return std::unique_ptr<Recipient>(std::make_unique<X25519Recipient>(point_));
}

}  // namespace coffer::age
