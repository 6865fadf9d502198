// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/hkdf.h"

#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"

namespace coffer::crypto {
namespace {

using coffer::testing::FromHex;
using coffer::testing::Pattern;

Bytes Counting(uint8_t first, size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = first++;
  return bytes;
}

struct Example {
  Bytes ikm, salt, info;
  std::string prk, okm;
};

// RFC 5869 appendices A.1 to A.3.
std::vector<Example> Rfc5869() {
  return {
      {Bytes(22, 0x0b), Counting(0x00, 13), Counting(0xf0, 10),
       "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
       "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"},
      {Counting(0x00, 80), Counting(0x60, 80), Counting(0xb0, 80),
       "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
       "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e5"
       "9"
       "0e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"},
      {Bytes(22, 0x0b),
       {},
       {},
       "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
       "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"},
  };
}

TEST(HkdfSha256, GivesTheKeysOfRfc5869) {
  for (const Example& example : Rfc5869()) {
    std::array<uint8_t, 32> prk{};
    ASSERT_TRUE(HkdfSha256Extract(example.salt, example.ikm, prk).ok());
    EXPECT_EQ(hex::Encode(prk), example.prk);
    Bytes okm(example.okm.size() / 2);
    ASSERT_TRUE(HkdfSha256Expand(prk, example.info, okm).ok());
    EXPECT_EQ(hex::Encode(okm), example.okm);
    std::ranges::fill(okm, uint8_t{0});
    ASSERT_TRUE(HkdfSha256({example.ikm, example.salt, example.info}, okm).ok());
    EXPECT_EQ(hex::Encode(okm), example.okm);
  }
}

TEST(HkdfSha256, AbsentSaltIsABlockOfZeros) {
  Bytes absent(32), zeros(32);
  ASSERT_TRUE(HkdfSha256({Pattern(40), {}, {}}, absent).ok());
  ASSERT_TRUE(HkdfSha256({Pattern(40), Bytes(32), {}}, zeros).ok());
  EXPECT_EQ(absent, zeros);
}

TEST(HkdfSha256, ShorterOutputsAreFrontsOfLongerOnes) {
  const Bytes ikm = Pattern(32), salt = Pattern(16, 1), info = Pattern(20, 2);
  Bytes longest(8160);
  ASSERT_TRUE(HkdfSha256({ikm, salt, info}, longest).ok());
  for (size_t size : {size_t{0}, size_t{1}, size_t{31}, size_t{32}, size_t{33}, size_t{64},
                      size_t{8128}, size_t{8129}, size_t{8159}}) {
    Bytes out(size);
    ASSERT_TRUE(HkdfSha256({ikm, salt, info}, out).ok());
    EXPECT_TRUE(std::ranges::equal(out, ByteSpan(longest).first(size))) << size;
  }
}

TEST(HkdfSha256, RefusesOutputsOver255BlocksAndLeavesThemAlone) {
  Bytes out(8161, 0xa5);
  const std::array<uint8_t, 32> prk{};
  for (const Status& status :
       {HkdfSha256({Pattern(32), {}, {}}, out), HkdfSha256Expand(prk, {}, out)}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(out, Bytes(8161, 0xa5));
  }
}

}  // namespace
}  // namespace coffer::crypto
