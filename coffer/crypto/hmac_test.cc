// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/hmac.h"

#include <array>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/sha2.h"

namespace coffer::crypto {
namespace {

using coffer::testing::FromHex;
using coffer::testing::Pattern;

HmacSha256 Make(ByteSpan key) {
  Result<HmacSha256> hmac = HmacSha256::Create(key);
  COFFER_CHECK(hmac.ok());
  return std::move(hmac).value();
}

std::string Finish(HmacSha256& hmac) {
  std::array<uint8_t, HmacSha256::kSize> mac;
  COFFER_CHECK(hmac.Finish(mac).ok());
  return hex::Encode(mac);
}

std::string Mac(ByteSpan key, ByteSpan message) {
  HmacSha256 hmac = Make(key);
  COFFER_CHECK(hmac.Update(message).ok());
  return Finish(hmac);
}

struct Example {
  Bytes key;
  Bytes message;
  std::string mac;  // or the front of it
};

Bytes TextBytes(std::string_view text) { return {text.begin(), text.end()}; }

// RFC 4231 sections 4.2 to 4.8.
std::vector<Example> Rfc4231() {
  return {
      {Bytes(20, 0x0b), TextBytes("Hi There"),
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {TextBytes("Jefe"), TextBytes("what do ya want for nothing?"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {Bytes(20, 0xaa), Bytes(50, 0xdd),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {FromHex("0102030405060708090a0b0c0d0e0f10111213141516171819"), Bytes(50, 0xcd),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {Bytes(20, 0x0c), TextBytes("Test With Truncation"), "a3b6167473100ee06e0c796c2955552b"},
      {Bytes(131, 0xaa), TextBytes("Test Using Larger Than Block-Size Key - Hash Key First"),
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {Bytes(131, 0xaa),
       TextBytes("This is a test using a larger than block-size key and a larger than block-size "
                 "data. The key needs to be hashed before being used by the HMAC algorithm."),
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
}

TEST(HmacSha256, GivesTheMacsOfRfc4231) {
  for (const Example& example : Rfc4231()) {
    const std::string mac = Mac(example.key, example.message);
    EXPECT_EQ(mac.substr(0, example.mac.size()), example.mac);
  }
}

TEST(HmacSha256, OneObjectMakesManyMacsInPieces) {
  for (const Example& example : Rfc4231()) {
    HmacSha256 hmac = Make(example.key);
    for (int round = 0; round < 3; ++round) {
      for (uint8_t byte : example.message) ASSERT_TRUE(hmac.Update(ByteSpan(&byte, 1)).ok());
      EXPECT_EQ(Finish(hmac).substr(0, example.mac.size()), example.mac);
    }
  }
}

// FIPS 198-1 section 4, steps 1 to 3: a key longer than a block counts as its digest, a shorter one
// as if zeros followed.
TEST(HmacSha256, TakesKeysAroundTheBlockSize) {
  const Bytes message = Pattern(100);
  for (size_t size : {size_t{0}, size_t{1}, size_t{32}, size_t{63}}) {
    Bytes key = Pattern(size, 3);
    const std::string mac = Mac(key, message);
    key.resize(64);
    EXPECT_EQ(Mac(key, message), mac) << size;
  }
  EXPECT_NE(Mac(Pattern(63, 3), message), Mac(Pattern(64, 3), message));
  for (size_t size : {size_t{65}, size_t{200}}) {
    const Bytes key = Pattern(size, 3);
    EXPECT_EQ(Mac(*Sha256(key), message), Mac(key, message)) << size;
  }
  EXPECT_NE(Mac(*Sha256(Pattern(64, 3)), message), Mac(Pattern(64, 3), message));
}

// FIPS 198-1 with an empty key and an empty message, a value that many publish.
TEST(HmacSha256, EmptyKeyAndMessage) {
  const char* const expected = "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad";
  EXPECT_EQ(Mac({}, {}), expected);
  HmacSha256 hmac = Make({});
  EXPECT_EQ(Finish(hmac), expected);
}

TEST(HmacSha256, MovesTakeKeyAndStartedMessageAlong) {
  HmacSha256 first = Make(AsBytes("Jefe"));
  ASSERT_TRUE(first.Update(AsBytes("what do ya want ")).ok());
  HmacSha256 second = std::move(first);
  HmacSha256 third = Make(AsBytes("other"));
  ASSERT_TRUE(third.Update(AsBytes("forgotten")).ok());
  third = std::move(second);
  ASSERT_TRUE(third.Update(AsBytes("for nothing?")).ok());
  EXPECT_EQ(Finish(third), Rfc4231()[1].mac);
  ASSERT_TRUE(third.Update(AsBytes("what do ya want for nothing?")).ok());
  EXPECT_EQ(Finish(third), Rfc4231()[1].mac);
}

TEST(HmacSha256DeathTest, MovedFromObjectsMacNothing) {
  HmacSha256 first = Make(AsBytes("Jefe"));
  const HmacSha256 second = std::move(first);
  std::array<uint8_t, HmacSha256::kSize> mac;
  EXPECT_DEATH((void)first.Update(AsBytes("a")), "empty_|context != nullptr");
  EXPECT_DEATH((void)first.Finish(mac), "empty_|context != nullptr");
}

}  // namespace
}  // namespace coffer::crypto
