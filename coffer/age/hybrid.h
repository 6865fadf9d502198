// SPDX-License-Identifier: Apache-2.0
// The mlkem768x25519 recipient type (C2SP age.md, "The ML-KEM-768 + X25519 recipient type"), age's
// own post-quantum one:
//
//   -> mlkem768x25519 base64(enc, 1120 bytes)
//   base64(file key sealed, 32 bytes)
//
// enc and the sealed file key are one message of HPKE in base mode over X-Wing, with HKDF-SHA256
// and ChaCha20Poly1305, info "age-encryption.org/mlkem768x25519" and no additional data.
#pragma once

#include <string>
#include <string_view>

#include "coffer/age/recipient.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/xwing.h"

namespace coffer::age {

class HybridRecipient final : public Recipient {
 public:
  explicit HybridRecipient(const crypto::XWingEncapsulationKey& key) : key_(key) {}

  // "age1pq1..." in lower case. kInvalidArgument with the reason, without repeating the text.
  static Result<HybridRecipient> Parse(std::string_view text);
  [[nodiscard]] std::string ToString() const override;

  Result<WrappedFileKey> Wrap(const FileKey& file_key, os::Random& random) const override;

 private:
  crypto::XWingEncapsulationKey key_;
};

class HybridIdentity final : public Identity {
 public:
  static Result<HybridIdentity> Generate(os::Random& random);
  // "AGE-SECRET-KEY-PQ-1..." in upper case. kInvalidArgument with the reason, without repeating any
  // of the text.
  static Result<HybridIdentity> Parse(std::string_view text);

  [[nodiscard]] SecretBuffer ToString() const;

  Result<std::optional<FileKey>> Unwrap(std::span<const Stanza> stanzas) override;
  Result<std::unique_ptr<Recipient>> ToRecipient() const override;

 private:
  HybridIdentity(crypto::XWingSeed seed, crypto::XWingDecapsulationKey key)
      : seed_(std::move(seed)), key_(std::move(key)) {}

  static Result<HybridIdentity> FromSeed(crypto::XWingSeed seed);

  crypto::XWingSeed seed_;
  crypto::XWingDecapsulationKey key_;
};

}  // namespace coffer::age
