// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/cbor.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "coffer/base/endian.h"

namespace coffer::vault {
namespace {

constexpr uint64_t kFirstIgnorableKey = 128;
constexpr uint8_t kFalse = 0xf4;
constexpr uint8_t kTrue = 0xf5;

bool IsContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// The size of the character at the front (RFC 3629), or 0 if it is none.
size_t Utf8Size(ByteSpan text) {
  const uint8_t first = text[0];
  if (first < 0x80) return 1;
  const size_t size = first < 0xe0 ? 2 : (first < 0xf0 ? 3 : 4);
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  // No longer than needed, no surrogates, nothing above U+10FFFF.
  if (first == 0xe0 && text[1] < 0xa0) return 0;
  if (first == 0xed && text[1] > 0x9f) return 0;
  if (first == 0xf0 && text[1] < 0x90) return 0;
  if (first == 0xf4 && text[1] > 0x8f) return 0;
  return size;
}

bool IsUtf8(ByteSpan text) {
  while (!text.empty()) {
    const size_t size = Utf8Size(text);
    if (size == 0) return false;
    text = text.subspan(size);
  }
  return true;
}

}  // namespace

void CborWriter::Head(uint8_t major, uint64_t value) {
  const uint8_t type = static_cast<uint8_t>(major << 5);
  if (value < 24) {
    Raw(std::array{static_cast<uint8_t>(type | value)});
    return;
  }
  std::array<uint8_t, 9> bytes;
  StoreBigEndian<uint64_t>(value, std::span(bytes).last<8>());
  const uint8_t power = value <= 0xff ? 0 : (value <= 0xffff ? 1 : (value <= 0xffffffff ? 2 : 3));
  const ByteSpan head = ByteSpan(bytes).last((size_t{1} << power) + 1);
  bytes[bytes.size() - head.size()] = static_cast<uint8_t>(type | (24 + power));
  Raw(head);
}

void CborWriter::Int(int64_t value) {
  if (value >= 0) {
    Head(0, static_cast<uint64_t>(value));
  } else {
    Head(1, ~static_cast<uint64_t>(value));
  }
}

void CborWriter::ByteString(ByteSpan bytes) {
  Head(2, bytes.size());
  Raw(bytes);
}

void CborWriter::Text(std::string_view utf8) {
  COFFER_CHECK(IsUtf8(AsBytes(utf8)));
  Head(3, utf8.size());
  Raw(AsBytes(utf8));
}

void CborWriter::Bool(bool value) { Raw(std::array{value ? kTrue : kFalse}); }

std::optional<CborReader::Header> CborReader::TakeHead() {
  const std::optional<uint8_t> first = reader_.TakeByte();
  if (!first) {
    Fail(ErrorCode::kDamaged, "the record ends too early");
    return std::nullopt;
  }
  Header head{.major = static_cast<uint8_t>(*first >> 5), .value = *first & 0x1fU};
  if (head.major == 7) {
    if (*first == kFalse || *first == kTrue) return head;
    Fail(ErrorCode::kDamaged, "a type that records do not have");
    return std::nullopt;
  }
  if (head.value < 24) return head;
  const size_t power = head.value - 24;
  const std::optional<ByteSpan> bytes =
      power <= 3 ? reader_.Take(size_t{1} << power) : std::nullopt;
  if (!bytes) {
    Fail(ErrorCode::kDamaged, "the head of an item is malformed");
    return std::nullopt;
  }
  uint64_t value = 0;
  for (const uint8_t byte : *bytes) value = value << 8 | byte;
  // The shortest form only: the next shorter one must not hold it.
  const uint64_t shorter = power == 0 ? 23 : (uint64_t{1} << (8 * (bytes->size() / 2))) - 1;
  if (value <= shorter) {
    Fail(ErrorCode::kDamaged, "a number is not in its shortest form");
    return std::nullopt;
  }
  head.value = value;
  return head;
}

uint64_t CborReader::HeadOf(uint8_t major, std::string_view what) {
  if (!ok()) return 0;
  const std::optional<Header> head = TakeHead();
  if (!head) return 0;
  Require(head->major == major, what);
  return ok() ? head->value : 0;
}

uint64_t CborReader::Uint() { return HeadOf(0, "not a number where one should be"); }

uint64_t CborReader::UintUpTo(uint64_t max) {
  const uint64_t value = Uint();
  Require(value <= max, "a number is too large");
  return ok() ? value : 0;
}

int64_t CborReader::Int() {
  if (!ok()) return 0;
  const std::optional<Header> head = TakeHead();
  if (!head) return 0;
  Require(head->major <= 1, "not a number where one should be");
  Require(head->value <= uint64_t{std::numeric_limits<int64_t>::max()}, "a number is too large");
  if (!ok()) return 0;
  const auto value = static_cast<int64_t>(head->value);
  return head->major == 0 ? value : -1 - value;
}

ByteSpan CborReader::TakeString(uint64_t size) {
  if (!ok()) return {};
  const std::optional<ByteSpan> bytes =
      size <= reader_.rest().size() ? reader_.Take(size) : std::nullopt;
  Require(bytes.has_value(), "a string is longer than the record");
  return bytes.value_or(ByteSpan());
}

ByteSpan CborReader::ByteString() {
  return TakeString(HeadOf(2, "not a byte string where one should be"));
}

std::string_view CborReader::Text() {
  const ByteSpan bytes = TakeString(HeadOf(3, "not a text where one should be"));
  Require(IsUtf8(bytes), "a text is not UTF-8");
  return ok() ? AsText(bytes) : std::string_view();
}

void CborReader::ByteStringInto(MutableByteSpan out) {
  const ByteSpan bytes = ByteString();
  Require(bytes.size() == out.size(), "a byte string has the wrong size");
  if (ok()) std::ranges::copy(bytes, out.begin());
}

bool CborReader::Bool() {
  return HeadOf(7, "not true or false where one of them should be") == (kTrue & 0x1f);
}

size_t CborReader::Array(size_t min_item_size) {
  const uint64_t count = HeadOf(4, "not an array where one should be");
  Require(count <= reader_.rest().size() / min_item_size, "an array is longer than the record");
  return ok() ? count : 0;
}

void CborReader::ArrayOf(size_t count) {
  const uint64_t found = HeadOf(4, "not an array where one should be");
  Require(found == count, "an array has the wrong number of items");
}

size_t CborReader::Map() {
  const uint64_t count = HeadOf(5, "not a map where one should be");
  Require(count <= reader_.rest().size() / 2, "a map is longer than the record");
  return ok() ? count : 0;
}

ByteSpan CborReader::Skip() {
  const ByteSpan before = reader_.rest();
  SkipItems(0);
  return ok() ? before.first(before.size() - reader_.rest().size()) : ByteSpan();
}

// NOLINTNEXTLINE(misc-no-recursion): at most kMaxUnknownDepth deep
void CborReader::SkipItems(size_t depth) {
  if (!ok()) return;
  const std::optional<Header> head = TakeHead();
  if (!head) return;
  if (head->major == 2 || head->major == 3) {
    const ByteSpan bytes = TakeString(head->value);
    if (head->major == 3) Require(IsUtf8(bytes), "a text is not UTF-8");
  }
  if (head->major != 4 && head->major != 5) return;
  const bool is_map = head->major == 5;
  Require(depth < kMaxUnknownDepth, "items are nested too deeply");
  Require(head->value <= reader_.rest().size(), "an array or map is longer than the record");
  std::optional<uint64_t> last;
  for (uint64_t i = 0; ok() && i < head->value; ++i) {
    if (is_map) {
      const uint64_t key = Uint();
      Require(!last || key > *last, "keys of a map are not ascending");
      last = key;
    }
    SkipItems(depth + 1);
  }
}

void CborReader::Fail(ErrorCode code, std::string_view what) {
  if (ok()) error_.emplace(code, std::string(what));
}

void CborReader::Require(bool right, std::string_view what) {
  if (!right) Fail(ErrorCode::kDamaged, what);
}

void CborReader::End() { Require(reader_.empty(), "there is more behind the end of the record"); }

Status CborReader::status() const {
  if (error_) return *error_;
  return OkStatus();
}

std::optional<uint64_t> CborMap::Next() {
  if (left_ == 0 || !reader_.ok()) return std::nullopt;
  --left_;
  pair_ = reader_.rest();
  const uint64_t key = reader_.Uint();
  reader_.Require(!last_ || key > *last_, "keys of a map are not ascending");
  if (!reader_.ok()) return std::nullopt;
  last_ = key;
  return key;
}

ByteSpan CborMap::Unknown() {
  if (last_ < kFirstIgnorableKey) {
    reader_.Fail(ErrorCode::kNeedsNewer,
                 "a field that only a newer coffer understands; update coffer");
  }
  reader_.Skip();
  return reader_.ok() ? pair_.first(pair_.size() - reader_.rest().size()) : ByteSpan();
}

}  // namespace coffer::vault
