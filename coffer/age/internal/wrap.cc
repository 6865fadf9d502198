// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/internal/wrap.h"

#include <array>
#include <string>

#include "coffer/base/base64.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/crypto/hpke.h"

namespace coffer::age::internal {
namespace {

using crypto::ChaCha20Poly1305;

// Each key seals one file key, so the nonce need not differ.
constexpr std::array<uint8_t, ChaCha20Poly1305::kNonceSize> kZeroNonce{};

}  // namespace

Result<Bytes> SealFileKey(const WrapKey& key, const FileKey& file_key) {
  COFFER_ASSIGN_OR_RETURN(auto cipher, ChaCha20Poly1305::Create(key.Expose()));
  Bytes body(kWrappedSize);
  COFFER_TRY(cipher.Seal(kZeroNonce, {}, file_key.Expose(), body));
  return body;
}

Result<std::optional<FileKey>> OpenFileKey(const WrapKey& key, ByteSpan body) {
  COFFER_ASSIGN_OR_RETURN(auto cipher, ChaCha20Poly1305::Create(key.Expose()));
  FileKey file_key;
  COFFER_ASSIGN_OR_RETURN(const bool authentic,
                          cipher.Open(kZeroNonce, {}, body, file_key.ExposeMutable()));
  std::optional<FileKey> opened;
  if (authentic) opened = std::move(file_key);
  return opened;
}

Result<Bytes> HpkeSealFileKey(uint16_t kem, ByteSpan shared, std::string_view info,
                              const FileKey& file_key) {
  COFFER_ASSIGN_OR_RETURN(auto context, crypto::HpkeContext::Create(kem, shared, AsBytes(info)));
  Bytes body(kWrappedSize);
  COFFER_TRY(context.Seal({}, file_key.Expose(), body));
  return body;
}

Result<std::optional<FileKey>> HpkeOpenFileKey(uint16_t kem, ByteSpan shared, std::string_view info,
                                               ByteSpan body) {
  COFFER_ASSIGN_OR_RETURN(auto context, crypto::HpkeContext::Create(kem, shared, AsBytes(info)));
  FileKey file_key;
  COFFER_ASSIGN_OR_RETURN(const bool authentic, context.Open({}, body, file_key.ExposeMutable()));
  std::optional<FileKey> opened;
  if (authentic) opened = std::move(file_key);
  return opened;
}

Error MalformedStanza(const Stanza& stanza, std::string_view reason) {
  return Error(ErrorCode::kHeader,
               "invalid header: malformed " + stanza.type + " stanza: " + std::string(reason));
}

Status CheckArgumentCount(const Stanza& stanza, size_t count) {
  if (stanza.arguments.size() == count) return OkStatus();
  return MalformedStanza(stanza, "it has " + std::to_string(stanza.arguments.size()) +
                                     " arguments after the type instead of " +
                                     std::to_string(count));
}

Status CheckBody(const Stanza& stanza) {
  if (stanza.body.size() == kWrappedSize) return OkStatus();
  return MalformedStanza(stanza, "its body has " + std::to_string(stanza.body.size()) +
                                     " bytes instead of " + std::to_string(kWrappedSize));
}

Status DecodeArgument(const Stanza& stanza, size_t index, MutableByteSpan out) {
  const std::string& argument = stanza.arguments.at(index);
  if (base64::DecodedSize(argument, base64::Padding::kNone) != out.size() ||
      !base64::DecodeTo(argument, base64::Padding::kNone, out)) {
    return MalformedStanza(stanza, "argument " + std::to_string(index + 1) + " is not " +
                                       std::to_string(out.size()) + " bytes in canonical base64");
  }
  return OkStatus();
}

}  // namespace coffer::age::internal
