// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/quote.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace coffer {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void AppendHex(std::string& out, uint32_t value, int digit_count) {
  for (int i = digit_count - 1; i >= 0; --i) out += kHexDigits[(value >> (4 * i)) & 15];
}

struct CodePoint {
  uint32_t value = 0;
  size_t size = 0;  // in bytes; 0 if the bytes are not UTF-8
};

// Decodes the front of `text`, which is not empty, after RFC 3629: no overlong forms, no
// surrogates, nothing beyond U+10FFFF.
CodePoint Decode(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = at(0);
  if (first < 0x80) return {first, 1};
  size_t size;
  uint32_t value;
  uint32_t least;
  if ((first & 0xe0) == 0xc0) {
    size = 2, value = first & 0x1fu, least = 0x80;
  } else if ((first & 0xf0) == 0xe0) {
    size = 3, value = first & 0x0fu, least = 0x800;
  } else if ((first & 0xf8) == 0xf0) {
    size = 4, value = first & 0x07u, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < size) return {};
  for (size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (at(i) & 0x3fu);
  }
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, size};
}

struct Range {
  uint32_t first, last;
};

// Code points that are invisible, or that change how their neighbours are shown.
constexpr std::array kHidden = std::to_array<Range>({
    {0x0080, 0x00a0},     // C1 controls, no-break space
    {0x00ad, 0x00ad},     // soft hyphen
    {0x034f, 0x034f},     // combining grapheme joiner
    {0x0600, 0x0605},     // Arabic number signs
    {0x061c, 0x061c},     // Arabic letter mark
    {0x06dd, 0x06dd},     // Arabic end of ayah
    {0x070f, 0x070f},     // Syriac abbreviation mark
    {0x115f, 0x1160},     // Hangul fillers
    {0x1680, 0x1680},     // Ogham space
    {0x17b4, 0x17b5},     // Khmer inherent vowels
    {0x180b, 0x180f},     // Mongolian selectors
    {0x2000, 0x200f},     // spaces, joiners, directional marks
    {0x2028, 0x202f},     // separators, bidirectional controls
    {0x205f, 0x206f},     // invisible operators, bidirectional isolates
    {0x3000, 0x3000},     // ideographic space
    {0x3164, 0x3164},     // Hangul filler
    {0xe000, 0xf8ff},     // private use
    {0xfdd0, 0xfdef},     // noncharacters
    {0xfeff, 0xfeff},     // byte order mark
    {0xffa0, 0xffa0},     // Hangul filler
    {0xfff0, 0xfffb},     // interlinear annotation
    {0x1d173, 0x1d17a},   // musical formatting
    {0xe0000, 0x10ffff},  // tags, private use
});

bool Shows(uint32_t code_point) {
  if ((code_point & 0xfffe) == 0xfffe) return false;  // the last two of each plane
  return std::none_of(kHidden.begin(), kHidden.end(), [&](const Range& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

void AppendAscii(std::string& out, uint8_t byte) {
  switch (byte) {
    case '\a':
      out += "\\a";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\v':
      out += "\\v";
      return;
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  if (byte < 0x20 || byte == 0x7f) {
    out += "\\x";
    AppendHex(out, byte, 2);
  } else {
    out += static_cast<char>(byte);
  }
}

}  // namespace

std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const CodePoint code_point = Decode(text);
    const size_t size = std::max<size_t>(code_point.size, 1);
    if (code_point.size == 0) {
      out += "\\x";
      AppendHex(out, static_cast<uint8_t>(text[0]), 2);
    } else if (code_point.size == 1) {
      AppendAscii(out, static_cast<uint8_t>(text[0]));
    } else if (Shows(code_point.value)) {
      out += text.substr(0, size);
    } else if (code_point.value <= 0xffff) {
      out += "\\u";
      AppendHex(out, code_point.value, 4);
    } else {
      out += "\\U";
      AppendHex(out, code_point.value, 8);
    }
    text.remove_prefix(size);
  }
  out += '"';
  return out;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint next = Decode(text);
    if (next.size == 0) return false;
    text.remove_prefix(next.size);
  }
  return true;
}

}  // namespace coffer
