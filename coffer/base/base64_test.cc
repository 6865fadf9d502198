// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/base64.h"

#include <string>

#include <gtest/gtest.h>

namespace coffer::base64 {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct Case {
  std::string_view plain, padded, raw;
};

// RFC 4648 section 10.
constexpr Case kRfc4648[] = {
    {"", "", ""},
    {"f", "Zg==", "Zg"},
    {"fo", "Zm8=", "Zm8"},
    {"foo", "Zm9v", "Zm9v"},
    {"foob", "Zm9vYg==", "Zm9vYg"},
    {"fooba", "Zm9vYmE=", "Zm9vYmE"},
    {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
};

TEST(Base64, Rfc4648Examples) {
  for (const Case& c : kRfc4648) {
    EXPECT_EQ(Encode(AsBytes(c.plain), Padding::kRequired), c.padded);
    EXPECT_EQ(Encode(AsBytes(c.plain), Padding::kNone), c.raw);
    EXPECT_EQ(AsText(Decode(c.padded, Padding::kRequired).value()), c.plain);
    EXPECT_EQ(AsText(Decode(c.raw, Padding::kNone).value()), c.plain);
  }
}

TEST(Base64, PaddingIsExactlyAsAsked) {
  EXPECT_FALSE(Decode("Zg", Padding::kRequired));
  EXPECT_FALSE(Decode("Zm8", Padding::kRequired));
  EXPECT_FALSE(Decode("Zg=", Padding::kRequired));
  EXPECT_FALSE(Decode("Zg==", Padding::kNone));
  EXPECT_FALSE(Decode("Zg===", Padding::kRequired));
  EXPECT_FALSE(Decode("====", Padding::kRequired));
  EXPECT_FALSE(Decode("Z===", Padding::kRequired));
  EXPECT_FALSE(Decode("Zm9v====", Padding::kRequired));
  EXPECT_FALSE(Decode("Zg==Zg==", Padding::kRequired));
  EXPECT_FALSE(Decode("=", Padding::kNone));
  EXPECT_FALSE(Decode("Z", Padding::kNone));
  EXPECT_FALSE(Decode("Zm9vY", Padding::kNone));
}

// Of all texts of one group, exactly those decode that their own result encodes to.
TEST(Base64, EveryTailHasOneEncoding) {
  for (char first : kAlphabet) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {first, static_cast<char>(second)};
      const auto bytes = Decode(text, Padding::kNone);
      const bool canonical =
          kAlphabet.find(text[1]) != std::string_view::npos && kAlphabet.find(text[1]) % 16 == 0;
      ASSERT_EQ(bytes.has_value(), canonical) << text;
      if (bytes) {
        ASSERT_EQ(Encode(*bytes, Padding::kNone), text);
      }
    }
    for (int third = 0; third < 256; ++third) {
      const std::string text = {'A', first, static_cast<char>(third)};
      const auto bytes = Decode(text, Padding::kNone);
      const bool canonical =
          kAlphabet.find(text[2]) != std::string_view::npos && kAlphabet.find(text[2]) % 4 == 0;
      ASSERT_EQ(bytes.has_value(), canonical) << text;
      if (bytes) {
        ASSERT_EQ(Encode(*bytes, Padding::kNone), text);
      }
    }
  }
}

TEST(Base64, RefusesEveryOtherCharacterAtEveryPlace) {
  for (size_t place = 0; place < 8; ++place) {
    for (int c = 0; c < 256; ++c) {
      std::string text = "AAAAAAAA";
      text[place] = static_cast<char>(c);
      const bool good = kAlphabet.find(text[place]) != std::string_view::npos;
      ASSERT_EQ(Decode(text, Padding::kNone).has_value(), good) << place << " " << c;
    }
  }
}

TEST(Base64, AllLengthsRoundTrip) {
  Bytes bytes;
  for (size_t size = 0; size < 300; ++size) {
    for (Padding padding : {Padding::kNone, Padding::kRequired}) {
      const std::string text = Encode(bytes, padding);
      ASSERT_EQ(text.size(), EncodedSize(size, padding));
      ASSERT_EQ(DecodedSize(text, padding), size);
      ASSERT_EQ(Decode(text, padding), bytes);
    }
    bytes.push_back(static_cast<uint8_t>(size * 167 + 13));
  }
}

}  // namespace
}  // namespace coffer::base64
