// SPDX-License-Identifier: Apache-2.0
// Bech32 (BIP 173) with its original checksum constant and without the limit of 90 characters, as
// the age format uses it. Strict: one case throughout, a valid checksum, zero padding bits.
//
// Identity strings are secret, so everything after the human-readable part is handled without
// branches or table indexes that depend on it; only whether the whole string is valid shows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::bech32 {

struct Decoded {
  std::string hrp;    // human-readable part, in lower case
  SecretBuffer data;  // the bytes it carries
};

// kInvalidArgument if `text` is not well formed. The message never repeats any of it.
Result<Decoded> Decode(std::string_view text);

// Lower case throughout. `hrp` is one or more of the characters 33 to 126 without upper-case
// letters. The result is secret if `data` is.
SecretBuffer Encode(std::string_view hrp, ByteSpan data);

// The same in upper case, as identities are written.
SecretBuffer EncodeUpperCase(std::string_view hrp, ByteSpan data);

}  // namespace coffer::bech32
