// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/base64.h"

#include <array>

#include "coffer/base/check.h"

namespace coffer::base64 {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// The value of a character, or kInvalid, whose high bits no six-bit value has.
constexpr uint32_t kInvalid = 0xff000000;

constexpr std::array<uint32_t, 256> MakeValues() {
  std::array<uint32_t, 256> values{};
  values.fill(kInvalid);
  for (uint32_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = i;
  }
  return values;
}

constexpr std::array<uint32_t, 256> kValues = MakeValues();

uint32_t Value(char c) { return kValues[static_cast<unsigned char>(c)]; }

char Character(uint32_t value) { return kAlphabet[value & 63]; }

}  // namespace

size_t EncodedSize(size_t size, Padding padding) {
  COFFER_CHECK(size <= SIZE_MAX / 2);
  const size_t tail = size % 3;
  if (tail == 0) return size / 3 * 4;
  return size / 3 * 4 + (padding == Padding::kRequired ? 4 : tail + 1);
}

void EncodeTo(ByteSpan in, Padding padding, std::span<char> out) {
  COFFER_CHECK(out.size() == EncodedSize(in.size(), padding));
  size_t o = 0;
  size_t i = 0;
  for (; in.size() - i >= 3; i += 3) {
    const uint32_t group = uint32_t{in[i]} << 16 | uint32_t{in[i + 1]} << 8 | in[i + 2];
    out[o++] = Character(group >> 18);
    out[o++] = Character(group >> 12);
    out[o++] = Character(group >> 6);
    out[o++] = Character(group);
  }
  const size_t tail = in.size() - i;
  if (tail == 0) return;
  const uint32_t group =
      uint32_t{in[i]} << 16 | (tail == 2 ? uint32_t{in[i + 1]} << 8 : uint32_t{0});
  out[o++] = Character(group >> 18);
  out[o++] = Character(group >> 12);
  if (tail == 2) out[o++] = Character(group >> 6);
  while (o < out.size()) out[o++] = '=';
}

std::string Encode(ByteSpan in, Padding padding) {
  std::string out(EncodedSize(in.size(), padding), '\0');
  EncodeTo(in, padding, out);
  return out;
}

std::optional<size_t> DecodedSize(std::string_view text, Padding padding) {
  size_t digits = text.size();
  if (padding == Padding::kRequired) {
    if (digits % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && digits > 0 && text[digits - 1] == '='; ++i) --digits;
  }
  if (digits % 4 == 1) return std::nullopt;
  return digits / 4 * 3 + (digits % 4 == 0 ? 0 : digits % 4 - 1);
}

std::optional<size_t> DecodeTo(std::string_view text, Padding padding, MutableByteSpan out) {
  const std::optional<size_t> size = DecodedSize(text, padding);
  if (!size) return std::nullopt;
  COFFER_CHECK(out.size() >= *size);
  uint32_t bad = 0;
  size_t o = 0;
  size_t i = 0;
  for (; *size - o >= 3; i += 4) {
    const uint32_t group = Value(text[i]) << 18 | Value(text[i + 1]) << 12 |
                           Value(text[i + 2]) << 6 | Value(text[i + 3]);
    bad |= Value(text[i]) | Value(text[i + 1]) | Value(text[i + 2]) | Value(text[i + 3]);
    out[o++] = static_cast<uint8_t>(group >> 16);
    out[o++] = static_cast<uint8_t>(group >> 8);
    out[o++] = static_cast<uint8_t>(group);
  }
  const size_t tail = *size - o;
  if (tail != 0) {
    const uint32_t third = tail == 2 ? Value(text[i + 2]) : 0;
    bad |= Value(text[i]) | Value(text[i + 1]) | third;
    const uint32_t group = Value(text[i]) << 18 | Value(text[i + 1]) << 12 | third << 6;
    out[o++] = static_cast<uint8_t>(group >> 16);
    if (tail == 2) out[o++] = static_cast<uint8_t>(group >> 8);
    const uint32_t unused = tail == 1 ? group & 0xffff : group & 0xff;
    if (unused != 0) return std::nullopt;
  }
  if ((bad & kInvalid) != 0) return std::nullopt;
  return size;
}

std::optional<Bytes> Decode(std::string_view text, Padding padding) {
  const std::optional<size_t> size = DecodedSize(text, padding);
  if (!size) return std::nullopt;
  Bytes out(*size);
  if (!DecodeTo(text, padding, out)) return std::nullopt;
  return out;
}

}  // namespace coffer::base64
