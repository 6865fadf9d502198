// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/bech32.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"

namespace coffer::bech32 {
namespace {

std::string EncodeText(std::string_view hrp, ByteSpan data) {
  return std::string(Encode(hrp, data).ExposeText());
}

// BIP 173, "Test vectors": those whose data is whole bytes with zero padding, without the limit of
// 90 characters.
TEST(Bech32, ValidStringsOfBip173) {
  const auto empty = Decode("A12UEL5L");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->hrp, "a");
  EXPECT_TRUE(empty->data.empty());
  EXPECT_TRUE(Decode("a12uel5l").ok());
  const auto abc = Decode("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw");
  ASSERT_TRUE(abc.ok());
  EXPECT_EQ(hex::Encode(abc->data.Expose()), "00443214c74254b635cf84653a56d7c675be77df");
  const auto split = Decode("split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w");
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->hrp, "split");
  EXPECT_EQ(hex::Encode(split->data.Expose()),
            "c5f38b70305f519bf66d85fb6cf03058f3dde463ecd7918f2dc743918f2d");
}

// BIP 173, strings that are not valid, and the same checks at other places.
TEST(Bech32, RefusesWhatBip173Refuses) {
  for (std::string_view text : {
           "\x20"
           "1nwldj5",
           "\x7f"
           "1axkwrx",
           "\x80"
           "1eym55h",
           "pzry9x0s0muk",   // no separator
           "1pzry9x0s0muk",  // empty human-readable part
           "x1b4n0q5v",      // b is not in the alphabet
           "li1dgmt3",       // checksum too short
           "A1G7SGD8",       // checksum computed with the upper-case part
           "10a06t8",        // empty human-readable part
           "1qzzfhee",       // empty human-readable part
           "A12uEL5L",       // mixed case
           "a12UEL5L",       // mixed case across the separator
           "A12uel5l",       // mixed case across the separator
           "a12uel5m",       // wrong checksum
           "",
           "1",
       }) {
    EXPECT_FALSE(Decode(text).ok()) << text;
  }
}

// The identity that age's own test data uses: 32 bytes of 0x42.
TEST(Bech32, AgeIdentity) {
  constexpr std::string_view kIdentity =
      "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";
  const Bytes secret(32, 0x42);
  EXPECT_EQ(EncodeUpperCase("age-secret-key-", secret).ExposeText(), kIdentity);
  const auto decoded = Decode(kIdentity);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->hrp, "age-secret-key-");
  EXPECT_EQ(hex::Encode(decoded->data.Expose()), hex::Encode(secret));
}

TEST(Bech32, AllLengthsRoundTripInBothCases) {
  Bytes data;
  for (size_t size = 0; size < 200; ++size) {
    const std::string lower = EncodeText("age1test", data);
    const auto decoded = Decode(lower);
    ASSERT_TRUE(decoded.ok()) << decoded.error().message();
    ASSERT_EQ(hex::Encode(decoded->data.Expose()), hex::Encode(data));
    const SecretBuffer upper = EncodeUpperCase("age1test", data);
    const auto from_upper = Decode(upper.ExposeText());
    ASSERT_TRUE(from_upper.ok());
    ASSERT_EQ(from_upper->hrp, "age1test");
    data.push_back(static_cast<uint8_t>(size * 59 + 7));
  }
}

TEST(Bech32, LongerThanNinetyCharacters) {
  const Bytes data(16848, 0xa5);  // a coffer recipient
  const std::string text = EncodeText("age1coffer", data);
  EXPECT_EQ(text.size(), 10 + 1 + (16848 * 8 + 4) / 5 + 6);
  ASSERT_TRUE(Decode(text).ok());
}

TEST(Bech32, EverySubstitutionIsNoticed) {
  const std::string text = EncodeText("age", Bytes(32, 0x42));
  for (size_t place = 0; place < text.size(); ++place) {
    for (int c = 33; c < 127; ++c) {
      std::string changed = text;
      changed[place] = static_cast<char>(c);
      if (changed == text) continue;
      ASSERT_FALSE(Decode(changed).ok()) << changed;
    }
  }
}

// A plain encoder of five-bit values, so that strings with a right checksum and wrong padding can
// be made (BIP 173, "Checksum").
std::string EncodeValues(std::string_view hrp, std::vector<uint32_t> values) {
  constexpr std::string_view kAlphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
  std::vector<uint32_t> all;
  for (char c : hrp) all.push_back(static_cast<unsigned char>(c) >> 5);
  all.push_back(0);
  for (char c : hrp) all.push_back(static_cast<unsigned char>(c) & 31);
  all.insert(all.end(), values.begin(), values.end());
  all.insert(all.end(), 6, 0);
  uint32_t state = 1;
  for (uint32_t value : all) {
    const uint32_t top = state >> 25;
    state = (state & 0x1ffffff) << 5 ^ value;
    if ((top & 1) != 0) state ^= 0x3b6a57b2;
    if ((top & 2) != 0) state ^= 0x26508e6d;
    if ((top & 4) != 0) state ^= 0x1ea119fa;
    if ((top & 8) != 0) state ^= 0x3d4233dd;
    if ((top & 16) != 0) state ^= 0x2a1462b3;
  }
  state ^= 1;
  for (uint32_t i = 0; i < 6; ++i) values.push_back(state >> 5 * (5 - i) & 31);
  std::string text = std::string(hrp) + "1";
  for (uint32_t value : values) text.push_back(kAlphabet[value]);
  return text;
}

TEST(Bech32, PaddingIsZeroAndShorterThanACharacter) {
  for (uint32_t last = 0; last < 32; ++last) {
    // 8 bits in 10, 16 in 20, 24 in 25, 32 in 35: 2, 4, 1 and 3 bits of padding.
    EXPECT_EQ(Decode(EncodeValues("a", {1, last})).ok(), last % 4 == 0) << last;
    EXPECT_EQ(Decode(EncodeValues("a", {1, 2, 3, last})).ok(), last % 16 == 0) << last;
    EXPECT_EQ(Decode(EncodeValues("a", {1, 2, 3, 4, last})).ok(), last % 2 == 0) << last;
    EXPECT_EQ(Decode(EncodeValues("a", {1, 2, 3, 4, 5, 6, last})).ok(), last % 8 == 0) << last;
    // 40 bits in 40: no padding. One, three or six characters would hold one for nothing.
    EXPECT_TRUE(Decode(EncodeValues("a", {1, 2, 3, 4, 5, 6, 7, last})).ok()) << last;
    EXPECT_FALSE(Decode(EncodeValues("a", {last})).ok()) << last;
    EXPECT_FALSE(Decode(EncodeValues("a", {1, 0, last})).ok()) << last;
    EXPECT_FALSE(Decode(EncodeValues("a", {1, 0, 0, 0, 0, last})).ok()) << last;
  }
}

}  // namespace
}  // namespace coffer::bech32
