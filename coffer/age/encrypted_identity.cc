// SPDX-License-Identifier: Apache-2.0
// Identity files that are age files themselves, encrypted with a passphrase.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "coffer/age/armor.h"
#include "coffer/age/decrypt.h"
#include "coffer/age/key_files.h"
#include "coffer/base/buffered_reader.h"

namespace coffer::age {
namespace {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteSpan bytes) : rest_(bytes) {}

  Result<size_t> Read(MutableByteSpan out) override {
    const size_t size = std::min(out.size(), rest_.size());
    if (size != 0) std::memcpy(out.data(), rest_.data(), size);
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  ByteSpan rest_;
};

Result<SecretBuffer> ReadAll(ByteSource& source) {
  SecretBuffer all;
  SecretBuffer chunk(kChunkSize);
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const size_t size, source.Read(chunk.ExposeMutable()));
    if (size == 0) return all;
    if (all.size() + size > kMaxKeyFileSize) {
      return Error(ErrorCode::kTooLarge, "the identity file is larger than 16 MiB");
    }
    all.Append(chunk.Expose().first(size));
  }
}

class EncryptedIdentity final : public Identity {
 public:
  EncryptedIdentity(std::string name, SecretBuffer content,
                    ScryptIdentity::PassphraseSource passphrase, int max_log2_n)
      : name_(std::move(name)),
        content_(std::move(content)),
        passphrase_(std::move(passphrase)),
        max_log2_n_(max_log2_n) {}

  Result<std::optional<FileKey>> Unwrap(std::span<const Stanza> stanzas) override {
    COFFER_TRY(Open());
    for (const auto& identity : identities_) {
      COFFER_ASSIGN_OR_RETURN(std::optional<FileKey> file_key, identity->Unwrap(stanzas));
      if (file_key) return file_key;
    }
    return std::optional<FileKey>();
  }

  Result<std::unique_ptr<Recipient>> ToRecipient() const override {
    return Error(ErrorCode::kInvalidArgument, name_ + ": it is encrypted");
  }

  Result<Recipients> ToRecipients() override {
    COFFER_TRY(Open());
    Recipients recipients;
    for (const auto& identity : identities_) {
      COFFER_ASSIGN_OR_RETURN(std::unique_ptr<Recipient> recipient, identity->ToRecipient());
      recipients.push_back(std::move(recipient));
    }
    return recipients;
  }

 private:
  // Errors here are about the identity file, so that none of them reads like one of the file that
  // is to be decrypted.
  Status Open() {
    if (!identities_.empty()) return OkStatus();
    Result<SecretBuffer> text = Decrypt();
    if (!text.ok()) {
      const Error& cause = text.error();
      const bool wrong = cause.code() == ErrorCode::kNoMatch;
      const bool cancelled = cause.code() == ErrorCode::kCancelled;
      return Error(cancelled ? ErrorCode::kCancelled : ErrorCode::kInvalidArgument,
                   name_ + ": " + (wrong ? "incorrect passphrase" : cause.message()));
    }
    Result<Identities> identities = ParseIdentityFile(text->ExposeText());
    if (!identities.ok()) return std::move(identities).error().WithContext(name_);
    identities_ = std::move(*identities);
    content_.Clear();
    return OkStatus();
  }

  Result<SecretBuffer> Decrypt() {
    MemorySource memory(content_.Expose());
    BufferedReader outer(memory);
    ArmorReader armor(outer);
    BufferedReader inner(armor);
    COFFER_ASSIGN_OR_RETURN(const bool armored, StartsWithArmor(outer));
    BufferedReader& reader = armored ? inner : outer;
    COFFER_ASSIGN_OR_RETURN(const Header header, ReadHeader(reader));
    if (header.stanzas.front().type != kScryptType) {
      return Error(ErrorCode::kInvalidArgument, "it is encrypted, but not with a passphrase");
    }
    Identities passphrase;
    passphrase.push_back(std::make_unique<ScryptIdentity>(passphrase_, max_log2_n_));
    COFFER_ASSIGN_OR_RETURN(const FileKey file_key, UnwrapFileKey(header, passphrase));
    COFFER_ASSIGN_OR_RETURN(Decryptor decryptor, Decryptor::BeginPayload(file_key, reader));
    return ReadAll(decryptor);
  }

  std::string name_;
  SecretBuffer content_;
  ScryptIdentity::PassphraseSource passphrase_;
  int max_log2_n_;
  Identities identities_;
};

}  // namespace

bool IsEncryptedIdentityFile(std::string_view content) {
  return content.starts_with("age-encryption") || content.starts_with("-----BEGIN AGE");
}

std::unique_ptr<Identity> MakeEncryptedIdentity(std::string name, SecretBuffer content,
                                                ScryptIdentity::PassphraseSource passphrase,
                                                int max_log2_n) {
  return std::make_unique<EncryptedIdentity>(std::move(name), std::move(content),
                                             std::move(passphrase), max_log2_n);
}

}  // namespace coffer::age
