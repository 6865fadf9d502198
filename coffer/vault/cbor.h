// SPDX-License-Identifier: Apache-2.0
// The part of CBOR that records use, in deterministic encoding (RFC 8949 section 4.2.1): integers,
// byte and text strings, arrays, maps whose keys are unsigned, true and false
// (docs/format/vault.md, "Records").
//
//   head = major type << 5 | n                  n = 0..23
//        / major type << 5 | 24..27, 1, 2, 4 or 8 bytes, if fewer would not do
//   item = head (0 unsigned, 1 negative: -1 - n)
//        / head (2 bytes, 3 text) n bytes
//        / head (4 array) n items / head (5 map) n times key, item
//        / f4 false / f5 true
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::vault {

// Arrays and maps within each other in a value of an unknown key. Records are fixed otherwise and
// nest up to four deep around such a value, so that all have at most 8.
inline constexpr size_t kMaxUnknownDepth = 4;

class CborWriter {
 public:
  CborWriter() = default;
  // One that counts what would be written and keeps nothing of it.
  static CborWriter Counter() { return CborWriter(/*keeps=*/false); }
  // Makes room for so many bytes, so that the buffer need not grow.
  void Reserve(size_t size) { buffer_.Reserve(size); }
  // Bytes that were written or counted.
  [[nodiscard]] size_t size() const { return size_; }

  void Uint(uint64_t value) { Head(0, value); }
  void Int(int64_t value);
  void ByteString(ByteSpan bytes);
  void ByteString(std::string_view bytes) { ByteString(AsBytes(bytes)); }
  void Text(std::string_view utf8);  // which it is
  void Bool(bool value);
  // What follows are so many items, or pairs with ascending keys.
  void Array(size_t count) { Head(4, count); }
  void Map(size_t count) { Head(5, count); }
  // Bytes as they are: encoded items, or what frames the encoding.
  void Raw(ByteSpan bytes) {
    size_ += bytes.size();
    if (keeps_) buffer_.Append(bytes);
  }

  [[nodiscard]] SecretBuffer& buffer() { return buffer_; }

 private:
  explicit CborWriter(bool keeps) : keeps_(keeps) {}
  void Head(uint8_t major, uint64_t value);

  bool keeps_ = true;
  size_t size_ = 0;
  SecretBuffer buffer_;
};

// Reads untrusted bytes. The first error stays: afterwards every call gives zeros, empty strings
// and no items, so that loops end and the caller asks for status() once.
class CborReader {
 public:
  explicit CborReader(ByteSpan bytes) : reader_(bytes) {}

  uint64_t Uint();
  // An unsigned integer up to `max`, else damage.
  uint64_t UintUpTo(uint64_t max);
  int64_t Int();  // within int64_t, else damage
  ByteSpan ByteString();
  std::string_view Text();
  bool Bool();
  // The number of items. Each takes at least `min_item_size` bytes (1 or more), so that the number
  // is bounded by the bytes that are left.
  size_t Array(size_t min_item_size);
  void ArrayOf(size_t count);  // an array of exactly `count` items
  size_t Map();
  // Passes over one item of any type; gives its bytes.
  ByteSpan Skip();
  void ByteStringInto(MutableByteSpan out);  // of exactly that size

  void Fail(ErrorCode code, std::string_view what);
  // Damage, unless `right`.
  void Require(bool right, std::string_view what);
  void End();  // requires that nothing is left

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] Status status() const;
  [[nodiscard]] ByteSpan rest() const { return reader_.rest(); }

 private:
  struct Header {
    uint8_t major = 0;
    uint64_t value = 0;
  };
  std::optional<Header> TakeHead();
  uint64_t HeadOf(uint8_t major, std::string_view what);
  ByteSpan TakeString(uint64_t size);
  void SkipItems(size_t depth);

  ByteReader reader_;
  std::optional<Error> error_;
};

// The keys of a map as they come, ascending; hands out known ones and deals with the others.
class CborMap {
 public:
  explicit CborMap(CborReader& reader) : reader_(reader), left_(reader.Map()) {}

  // The next key; nothing at the end. The caller reads the value of a known key and passes on
  // others to Unknown.
  std::optional<uint64_t> Next();
  // kNeedsNewer for a key below 128. Else passes over the value; gives the encoded pair.
  ByteSpan Unknown();

 private:
  CborReader& reader_;
  size_t left_;
  std::optional<uint64_t> last_;
  ByteSpan pair_;  // from the key on
};

}  // namespace coffer::vault
