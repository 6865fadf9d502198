// SPDX-License-Identifier: Apache-2.0
// Bytes for tests.
#pragma once

#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/check.h"
#include "coffer/base/hex.h"

namespace coffer::testing {

// The bytes of a literal in hexadecimal; one that is malformed ends the test.
inline Bytes FromHex(std::string_view text) {
  std::optional<Bytes> bytes = hex::Decode(text);
  COFFER_CHECK(bytes.has_value());
  return *std::move(bytes);
}

// Bytes that differ from their neighbours: (7 i + seed) mod 256.
inline Bytes Pattern(size_t size, uint8_t seed = 0) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(7 * i + seed);
  return bytes;
}

}  // namespace coffer::testing
