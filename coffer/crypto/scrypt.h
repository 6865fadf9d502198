// SPDX-License-Identifier: Apache-2.0
// scrypt (RFC 7914).
#pragma once

#include <cstdint>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::crypto {

struct ScryptParameters {
  int log2_n;  // cost: 2^log2_n, 1 to 30
  uint32_t r = 8;
  uint32_t p = 1;
};

// Fills `out` from the passphrase. Needs 128 * r * 2^log2_n bytes of memory while it runs.
// kInvalidArgument for parameters out of range, kTooLarge if the memory cannot be had.
Status Scrypt(ByteSpan passphrase, ByteSpan salt, const ScryptParameters& parameters,
              MutableByteSpan out);

}  // namespace coffer::crypto
