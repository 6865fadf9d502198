// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648 section 4), standard alphabet, with or without padding. Decoding is strict: no
// other character, no line break, padding exactly as asked for, and the bits that carry no data are
// zero, so that each byte string has exactly one encoding. Not constant time: for public data.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coffer/base/bytes.h"

namespace coffer::base64 {

enum class Padding { kNone, kRequired };

// How many characters encode `size` bytes. `size` is at most SIZE_MAX / 2.
size_t EncodedSize(size_t size, Padding padding);

// Writes exactly EncodedSize(in.size(), padding) characters to `out`, which is that long.
void EncodeTo(ByteSpan in, Padding padding, std::span<char> out);
std::string Encode(ByteSpan in, Padding padding);

// How many bytes a well-formed `text` stands for; nothing if its length or padding cannot be right.
std::optional<size_t> DecodedSize(std::string_view text, Padding padding);

// Writes the DecodedSize bytes of `text` to the front of `out`, which is at least that long, and
// returns how many; nothing if `text` is not the canonical encoding of anything. Then `out` may
// hold anything.
[[nodiscard]] std::optional<size_t> DecodeTo(std::string_view text, Padding padding,
                                             MutableByteSpan out);
[[nodiscard]] std::optional<Bytes> Decode(std::string_view text, Padding padding);

}  // namespace coffer::base64
