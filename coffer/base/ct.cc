// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/ct.h"

#include <cstring>

#include "coffer/base/check.h"

namespace coffer::ct {

uint8_t EqualMask(ByteSpan a, ByteSpan b) {
  COFFER_CHECK(a.size() == b.size());
  uint64_t difference = 0;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= a.size(); i += sizeof(uint64_t)) {
    uint64_t word_a;
    uint64_t word_b;
    std::memcpy(&word_a, a.data() + i, sizeof(word_a));
    std::memcpy(&word_b, b.data() + i, sizeof(word_b));
    difference = ValueBarrier(difference | (word_a ^ word_b));
  }
  for (; i < a.size(); ++i) {
    difference = ValueBarrier(difference | static_cast<uint64_t>(a[i] ^ b[i]));
  }
  return static_cast<uint8_t>(MaskIfZero(difference));
}

void SelectBytes(uint8_t mask, ByteSpan a, ByteSpan b, MutableByteSpan out) {
  COFFER_CHECK(a.size() == out.size() && b.size() == out.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = Select(ValueBarrier(mask), a[i], b[i]);
}

uint8_t CharacterAt(std::string_view alphabet, uint32_t index) {
  uint32_t character = 0;
  for (uint32_t i = 0; i < alphabet.size(); ++i) {
    character |= MaskIfEqual(i, index) & static_cast<unsigned char>(alphabet[i]);
  }
  return static_cast<uint8_t>(character);
}

uint32_t IndexOf(std::string_view alphabet, uint32_t character) {
  uint32_t index = 0x80;
  for (uint32_t i = 0; i < alphabet.size(); ++i) {
    const uint32_t candidate = static_cast<unsigned char>(alphabet[i]);
    index = Select(MaskIfEqual(candidate, character), i, index);
  }
  return index;
}

bool Equal(ByteSpan a, ByteSpan b) {
  if (a.size() != b.size()) return false;
  uint32_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = ValueBarrier(difference | static_cast<uint32_t>(a[i] ^ b[i]));
  }
  return Declassify(MaskIfZero(difference)) != 0;
}

bool IsAllZero(ByteSpan bytes) {
  uint32_t any = 0;
  for (uint8_t byte : bytes) any = ValueBarrier(any | byte);
  return Declassify(MaskIfZero(any)) != 0;
}

}  // namespace coffer::ct
