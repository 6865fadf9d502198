// SPDX-License-Identifier: Apache-2.0
// The two keys of an age file, and the constants they live by (C2SP age.md, "Header", "Payload").
#pragma once

#include <cstdint>
#include <span>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::age {

struct FileKeyRole;
struct PayloadKeyRole;

// Drawn at random for each file; what the stanzas wrap.
using FileKey = SecretArray<16, FileKeyRole>;
// Encrypts the chunks of one payload.
using PayloadKey = SecretArray<32, PayloadKeyRole>;

inline constexpr size_t kPayloadNonceSize = 16;
using PayloadNonce = std::span<const uint8_t, kPayloadNonceSize>;

// HKDF-SHA-256 of the file key with the nonce as salt and "payload" as info.
Result<PayloadKey> DerivePayloadKey(const FileKey& file_key, PayloadNonce nonce);

}  // namespace coffer::age
