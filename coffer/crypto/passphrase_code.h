// SPDX-License-Identifier: Apache-2.0
// Generated passphrases and recovery codes: 128 random bits and a checksum of 12, in Crockford's
// base32, lower case, seven groups of four joined by '-', e.g.
// "7k3m-q9zd-0f2x-...". The alphabet has no i, l, o or u, which are easily misread.
#pragma once

#include <cstdint>
#include <string_view>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

inline constexpr size_t kPassphraseCodeSize = 7 * 4 + 6;

Result<SecretBuffer> GeneratePassphraseCode(os::Random& random);

enum class PassphraseCodeCheck : uint8_t {
  kNotACode,       // something else; a passphrase that people made up
  kGood,           // as it was generated
  kWrongChecksum,  // has the shape of a code, but was mistyped
};

// Judges the shape and checksum of what somebody typed. Upper case is the shape of a code too, but
// not as it was generated, and so kWrongChecksum.
Result<PassphraseCodeCheck> CheckPassphraseCode(std::string_view text);

}  // namespace coffer::crypto
