// SPDX-License-Identifier: Apache-2.0
// The scrypt recipient type, a passphrase (C2SP age.md, "The scrypt recipient type"):
//
//   -> scrypt base64(salt, 16 bytes) log2(N)
//   base64(file key sealed, 32 bytes)
//
// The wrap key is scrypt with r = 8, p = 1 and salt "age-encryption.org/v1/scrypt" || salt. Such a
// stanza stands alone in its header: who knows the passphrase could otherwise pass for others.
#pragma once

#include <functional>
#include <string_view>

#include "coffer/age/recipient.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::age {

inline constexpr std::string_view kScryptType = "scrypt";
inline constexpr int kDefaultScryptLog2N = 18;
inline constexpr int kDefaultMaxScryptLog2N = 22;  // 4 GiB of memory
inline constexpr int kMaxScryptLog2N = 30;

// kHeader if a scrypt stanza is not the only one.
Status CheckScryptStandsAlone(std::span<const Stanza> stanzas);

class ScryptRecipient final : public Recipient {
 public:
  // `log2_n` is 1 to kMaxScryptLog2N.
  explicit ScryptRecipient(SecretBuffer passphrase, int log2_n = kDefaultScryptLog2N);

  // With a random label, so that no other recipient can stand beside it.
  Result<WrappedFileKey> Wrap(const FileKey& file_key, os::Random& random) const override;
  [[nodiscard]] std::string ToString() const override { return {}; }

 private:
  SecretBuffer passphrase_;
  int log2_n_;
};

class ScryptIdentity final : public Identity {
 public:
  // Called when a scrypt stanza is there, at most once.
  using PassphraseSource = std::function<Result<SecretBuffer>()>;

  // Refuses a stanza with more than `max_log2_n` as kHeader, before it costs anything.
  explicit ScryptIdentity(PassphraseSource source, int max_log2_n = kDefaultMaxScryptLog2N)
      : source_(std::move(source)), max_log2_n_(max_log2_n) {}

  Result<std::optional<FileKey>> Unwrap(std::span<const Stanza> stanzas) override;
  Result<std::unique_ptr<Recipient>> ToRecipient() const override;

 private:
  PassphraseSource source_;
  int max_log2_n_;
};

}  // namespace coffer::age
