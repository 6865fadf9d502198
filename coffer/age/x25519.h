// SPDX-License-Identifier: Apache-2.0
// The X25519 recipient type (C2SP age.md, "The X25519 recipient type"):
//
//   -> X25519 base64(ephemeral share, 32 bytes)
//   base64(file key sealed, 32 bytes)
//
// The wrap key is HKDF-SHA-256 of X25519(ephemeral secret, recipient), with salt ephemeral share ||
// recipient and info "age-encryption.org/v1/X25519".
#pragma once

#include <string>
#include <string_view>

#include "coffer/age/recipient.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/x25519.h"

namespace coffer::age {

class X25519Recipient final : public Recipient {
 public:
  explicit X25519Recipient(const crypto::X25519Point& point) : point_(point) {}

  // "age1..." in lower case. kInvalidArgument with the reason, without repeating the text.
  static Result<X25519Recipient> Parse(std::string_view text);
  [[nodiscard]] std::string ToString() const override;

  Result<WrappedFileKey> Wrap(const FileKey& file_key, os::Random& random) const override;

 private:
  crypto::X25519Point point_;
};

class X25519Identity final : public Identity {
 public:
  static Result<X25519Identity> Generate(os::Random& random);
  // "AGE-SECRET-KEY-1..." in upper case. kInvalidArgument with the reason, without repeating any of
  // the text.
  static Result<X25519Identity> Parse(std::string_view text);

  [[nodiscard]] SecretBuffer ToString() const;
  [[nodiscard]] X25519Recipient recipient() const { return X25519Recipient(point_); }

  Result<std::optional<FileKey>> Unwrap(std::span<const Stanza> stanzas) override;
  Result<std::unique_ptr<Recipient>> ToRecipient() const override;

 private:
  X25519Identity(crypto::X25519Scalar scalar, const crypto::X25519Point& point)
      : scalar_(std::move(scalar)), point_(point) {}

  static Result<X25519Identity> FromScalar(crypto::X25519Scalar scalar);

  crypto::X25519Scalar scalar_;
  crypto::X25519Point point_;
};

}  // namespace coffer::age
