// SPDX-License-Identifier: Apache-2.0
// Bech32: what decodes encodes to the same text in the case it had, and any bytes encode to a text
// that decodes to them.
#include <algorithm>
#include <string>

#include "coffer/base/bech32.h"
#include "coffer/base/check.h"

using coffer::AsText;
using coffer::ByteSpan;
using coffer::SecretBuffer;
namespace bech32 = coffer::bech32;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = AsText(ByteSpan(data, size));
  const auto decoded = bech32::Decode(text);
  if (decoded.ok()) {
    const bool upper = std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
    const SecretBuffer encoded = upper
                                     ? bech32::EncodeUpperCase(decoded->hrp, decoded->data.Expose())
                                     : bech32::Encode(decoded->hrp, decoded->data.Expose());
    COFFER_CHECK(encoded.ExposeText() == text);
  }
  const SecretBuffer encoded = bech32::Encode("fuzz", ByteSpan(data, size));
  const auto again = bech32::Decode(encoded.ExposeText());
  COFFER_CHECK(again.ok() && again->hrp == "fuzz");
  COFFER_CHECK(std::ranges::equal(again->data.Expose(), ByteSpan(data, size)));
  return 0;
}
