// SPDX-License-Identifier: Apache-2.0
// What the native stanza types have in common: a file key sealed under a key that is used once, and
// arguments in base64. Private to the layer.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "coffer/age/header.h"
#include "coffer/age/keys.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::age::internal {

struct WrapKeyRole;
using WrapKey = SecretArray<32, WrapKeyRole>;

// A sealed file key: 16 bytes and a tag.
inline constexpr size_t kWrappedSize = FileKey::kSize + 16;

// ChaCha20-Poly1305 with the zero nonce.
Result<Bytes> SealFileKey(const WrapKey& key, const FileKey& file_key);
// Nothing if the tag is wrong. `body` has kWrappedSize bytes; see CheckBody.
Result<std::optional<FileKey>> OpenFileKey(const WrapKey& key, ByteSpan body);

// One message of HPKE in base mode on a secret that the KEM `kem` made, without additional data.
Result<Bytes> HpkeSealFileKey(uint16_t kem, ByteSpan shared, std::string_view info,
                              const FileKey& file_key);
Result<std::optional<FileKey>> HpkeOpenFileKey(uint16_t kem, ByteSpan shared, std::string_view info,
                                               ByteSpan body);

// kHeader, naming the stanza's type and the reason.
Error MalformedStanza(const Stanza& stanza, std::string_view reason);
Status CheckArgumentCount(const Stanza& stanza, size_t count);
// Checked before anything is decrypted: a body of another size could be made to open under many
// keys (partitioning oracle).
Status CheckBody(const Stanza& stanza);
// The first file key among the stanzas of `type`. `check` looks at the form of all of them before
// `open`, which gives a file key or nothing, is tried on the first. A KEM's error of
// kInvalidArgument is a point of low order, which `low_order` says for people.
template <class Check, class Open>
Result<std::optional<FileKey>> UnwrapFirst(std::span<const Stanza> stanzas, std::string_view type,
                                           std::string_view low_order, const Check& check,
                                           const Open& open) {
  for (const Stanza& stanza : stanzas) {
    if (stanza.type == type) COFFER_TRY(check(stanza));
  }
  for (const Stanza& stanza : stanzas) {
    if (stanza.type != type) continue;
    Result<std::optional<FileKey>> file_key = open(stanza);
    if (!file_key.ok() && file_key.error().code() == ErrorCode::kInvalidArgument) {
      return MalformedStanza(stanza, low_order);
    }
    if (!file_key.ok() || *file_key) return file_key;
  }
  return std::optional<FileKey>();
}
// Decodes the stanza's argument `index` into all of `out`.
Status DecodeArgument(const Stanza& stanza, size_t index, MutableByteSpan out);

}  // namespace coffer::age::internal
