// SPDX-License-Identifier: Apache-2.0
// HKDF with SHA-256 (RFC 5869).
#pragma once

#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::crypto {

struct HkdfInput {
  ByteSpan ikm;   // input keying material, secret
  ByteSpan salt;  // may be empty
  ByteSpan info;
};

// Fills `out`, at most 255 * 32 bytes, else kInvalidArgument. `out` and the inputs are apart.
Status HkdfSha256(const HkdfInput& input, MutableByteSpan out);

// The two halves, for constructions that use them apart (HPKE, RFC 9180 section 4).
Status HkdfSha256Extract(ByteSpan salt, ByteSpan ikm, std::span<uint8_t, 32> prk);
Status HkdfSha256Expand(std::span<const uint8_t, 32> prk, ByteSpan info, MutableByteSpan out);

}  // namespace coffer::crypto
