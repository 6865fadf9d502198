// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/testing/test_random.h"

#include <bit>

#include "coffer/base/endian.h"

namespace coffer::age::testing {
namespace {

constexpr std::string_view kConstants = "expand 32-byte k";
constexpr std::string_view kKey = "TEST RANDOMNESS TEST RANDOMNESS!";

using State = std::array<uint32_t, 16>;

void QuarterRound(State& s, size_t a, size_t b, size_t c, size_t d) {
  s[a] += s[b];
  s[d] = std::rotl(s[d] ^ s[a], 16);
  s[c] += s[d];
  s[b] = std::rotl(s[b] ^ s[c], 12);
  s[a] += s[b];
  s[d] = std::rotl(s[d] ^ s[a], 8);
  s[c] += s[d];
  s[b] = std::rotl(s[b] ^ s[c], 7);
}

uint32_t Word(std::string_view text, size_t index) {
  return LoadLittleEndian<uint32_t>(AsBytes(text).subspan(4 * index).first<4>());
}

}  // namespace

void TestRandom::NextBlock() {
  State initial{};
  for (size_t i = 0; i < 4; ++i) initial[i] = Word(kConstants, i);
  for (size_t i = 0; i < 8; ++i) initial[4 + i] = Word(kKey, i);
  initial[12] = counter_++;
  State s = initial;
  for (int round = 0; round < 10; ++round) {
    for (size_t i = 0; i < 4; ++i) QuarterRound(s, i, 4 + i, 8 + i, 12 + i);
    for (size_t i = 0; i < 4; ++i) {
      QuarterRound(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
  }
  for (size_t i = 0; i < 16; ++i) {
    StoreLittleEndian(s[i] + initial[i], std::span(block_).subspan(4 * i).first<4>());
  }
  used_ = 0;
}

void TestRandom::Fill(MutableByteSpan out) {
  for (uint8_t& byte : out) {
    if (used_ == block_.size()) NextBlock();
    byte = block_[used_++];
  }
}

}  // namespace coffer::age::testing
