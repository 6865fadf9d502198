// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/hex.h"

namespace coffer::hex {
namespace {

std::optional<uint8_t> Digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

}  // namespace

std::string Encode(ByteSpan bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (uint8_t byte : bytes) {
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

std::optional<Bytes> Decode(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  Bytes out;
  out.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const std::optional<uint8_t> high = Digit(text[i]);
    const std::optional<uint8_t> low = Digit(text[i + 1]);
    if (!high || !low) return std::nullopt;
    out.push_back(static_cast<uint8_t>(*high << 4 | *low));
  }
  return out;
}

}  // namespace coffer::hex
