// SPDX-License-Identifier: Apache-2.0
// The coffer recipient type, FrodoKEM-976 and ML-KEM-768 and X25519 in one stanza
// (docs/format/recipient.md):
//
//   -> coffer-frodo976-xwing base64(enc, 16912 bytes)
//   base64(file key sealed, 32 bytes)
//
// The file key is sealed as one message of HPKE's key schedule on the secret of
// coffer/crypto/coffer_kem.h.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "coffer/age/recipient.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/coffer_kem.h"

namespace coffer::age {

inline constexpr std::string_view kCofferStanzaType = "coffer-frodo976-xwing";

class CofferRecipient final : public Recipient {
 public:
  explicit CofferRecipient(crypto::CofferEncapsulationKey key) : key_(std::move(key)) {}

  // "age1coffer1..." in lower case. kInvalidArgument with the reason, without repeating the text.
  static Result<CofferRecipient> Parse(std::string_view text);
  [[nodiscard]] std::string ToString() const override;

  Result<WrappedFileKey> Wrap(const FileKey& file_key, os::Random& random) const override;

 private:
  crypto::CofferEncapsulationKey key_;
};

class CofferIdentity final : public Identity {
 public:
  // Proves the pair by one encapsulation and decapsulation; kCrypto if they do not agree.
  static Result<CofferIdentity> Generate(os::Random& random);
  // "AGE-PLUGIN-COFFER-1..." in upper case. kInvalidArgument with the reason, without repeating any
  // of the text.
  static Result<CofferIdentity> Parse(std::string_view text);

  explicit CofferIdentity(crypto::CofferSeed seed) : seed_(std::move(seed)) {}

  [[nodiscard]] SecretBuffer ToString() const;

  Result<std::optional<FileKey>> Unwrap(std::span<const Stanza> stanzas) override;
  Result<std::unique_ptr<Recipient>> ToRecipient() const override;

 private:
  // The expanded key, made when it is first needed: that costs a key generation.
  Result<const crypto::CofferDecapsulationKey*> Key() const;

  crypto::CofferSeed seed_;
  mutable std::unique_ptr<crypto::CofferDecapsulationKey> key_;
};

}  // namespace coffer::age
