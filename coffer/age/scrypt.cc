// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/scrypt.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "coffer/age/internal/wrap.h"
#include "coffer/base/base64.h"
#include "coffer/base/check.h"
#include "coffer/base/hex.h"
#include "coffer/crypto/scrypt.h"

namespace coffer::age {
namespace {

constexpr size_t kSaltSize = 16;
constexpr std::string_view kSaltPrefix = "age-encryption.org/v1/scrypt";

Result<internal::WrapKey> DeriveWrapKey(const SecretBuffer& passphrase,
                                        std::span<const uint8_t, kSaltSize> salt, int log2_n) {
  Bytes labelled_salt;
  Append(labelled_salt, AsBytes(kSaltPrefix));
  Append(labelled_salt, salt);
  internal::WrapKey key;
  COFFER_TRY(
      crypto::Scrypt(passphrase.Expose(), labelled_salt, {.log2_n = log2_n}, key.ExposeMutable()));
  return key;
}

// The work factor in decimal without sign or leading zeros, 1 to 64; nothing otherwise.
std::optional<int> ParseWorkFactor(std::string_view text) {
  if (text.empty() || text.size() > 2 || text.front() == '0') return std::nullopt;
  int value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (value > 64) return std::nullopt;
  return value;
}

Error TooMuchWork(int log2_n, int limit) {
  const std::string factor = std::to_string(log2_n);
  return Error(ErrorCode::kHeader,
               "the passphrase of this file has work factor " + factor +
                   (log2_n > kMaxScryptLog2N
                        ? ", more than can be computed: at most " + std::to_string(kMaxScryptLog2N)
                        : ", more than the limit of " + std::to_string(limit) +
                              "; allow it with --max-work-factor " + factor));
}

}  // namespace

Status CheckScryptStandsAlone(std::span<const Stanza> stanzas) {
  if (stanzas.size() == 1) return OkStatus();
  for (const Stanza& stanza : stanzas) {
    if (stanza.type == kScryptType) {
      return internal::MalformedStanza(stanza, "a passphrase must be the only recipient of a file");
    }
  }
  return OkStatus();
}

ScryptRecipient::ScryptRecipient(SecretBuffer passphrase, int log2_n)
    : passphrase_(std::move(passphrase)), log2_n_(log2_n) {
  COFFER_CHECK(log2_n >= 1 && log2_n <= kMaxScryptLog2N);
}

Result<WrappedFileKey> ScryptRecipient::Wrap(const FileKey& file_key, os::Random& random) const {
  std::array<uint8_t, kSaltSize> salt;
  random.Fill(salt);
  COFFER_ASSIGN_OR_RETURN(const internal::WrapKey key, DeriveWrapKey(passphrase_, salt, log2_n_));
  COFFER_ASSIGN_OR_RETURN(Bytes body, internal::SealFileKey(key, file_key));
  WrappedFileKey wrapped;
  wrapped.stanzas.push_back(
      {std::string(kScryptType),
       {base64::Encode(salt, base64::Padding::kNone), std::to_string(log2_n_)},
       std::move(body)});
  // The salt is random and public already: as a label it is equal to no other one.
  wrapped.labels.insert(hex::Encode(salt));
  return wrapped;
}

Result<std::optional<FileKey>> ScryptIdentity::Unwrap(std::span<const Stanza> stanzas) {
  COFFER_TRY(CheckScryptStandsAlone(stanzas));
  if (stanzas.empty() || stanzas.front().type != kScryptType) return std::optional<FileKey>();
  const Stanza& stanza = stanzas.front();
  COFFER_TRY(internal::CheckArgumentCount(stanza, 2));
  std::array<uint8_t, kSaltSize> salt;
  COFFER_TRY(internal::DecodeArgument(stanza, 0, salt));
  const std::optional<int> log2_n = ParseWorkFactor(stanza.arguments[1]);
  if (!log2_n)
    return internal::MalformedStanza(stanza, "its work factor is not a number from 1 on");
  COFFER_TRY(internal::CheckBody(stanza));
  if (*log2_n > max_log2_n_) return TooMuchWork(*log2_n, max_log2_n_);
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer passphrase, source_());
  COFFER_ASSIGN_OR_RETURN(const internal::WrapKey key, DeriveWrapKey(passphrase, salt, *log2_n));
  return internal::OpenFileKey(key, stanza.body);
}

Result<std::unique_ptr<Recipient>> ScryptIdentity::ToRecipient() const {
  return Error(ErrorCode::kInvalidArgument, "a passphrase has no public recipient");
}

}  // namespace coffer::age
