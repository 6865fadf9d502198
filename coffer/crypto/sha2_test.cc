// SPDX-License-Identifier: Apache-2.0
// Examples of FIPS 180-4 as NIST publishes them ("SHA256.pdf" and "SHA512.pdf" of Cryptographic
// Standards and Guidelines), and the empty and the million-byte message of its SHA-2 additional
// vectors.
#include "coffer/crypto/sha2.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"

namespace coffer::crypto {
namespace {

struct Example {
  std::string message;
  const char* sha256;
  const char* sha512;
};

std::vector<Example> Examples() {
  return {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
       "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
       "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
       "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
       "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
       "204a8fc6dda82f0a0ced7beb8e08a41657c16ef468b228a8279be331a703c335"
       "96fd15c13b1b07f9aa1d3bea57789ca031ad85c7a71dd70354ec631238ca3445"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
       "o"
       "pqrsmnopqrstnopqrstu",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1",
       "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
       "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"},
      {std::string(1000000, 'a'),
       "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
       "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
       "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"},
  };
}

Sha2Hasher Make(Sha2 which) {
  Result<Sha2Hasher> hasher = Sha2Hasher::Create(which);
  COFFER_CHECK(hasher.ok());
  return std::move(hasher).value();
}

std::string Finish(Sha2Hasher& hasher, size_t size) {
  Bytes digest(size);
  COFFER_CHECK(hasher.Finish(digest).ok());
  return hex::Encode(digest);
}

// Hashes in steps of `step` bytes.
std::string HashInSteps(Sha2Hasher& hasher, ByteSpan message, size_t step, size_t digest_size) {
  while (!message.empty()) {
    const size_t size = std::min(step, message.size());
    COFFER_CHECK(hasher.Update(message.first(size)).ok());
    message = message.subspan(size);
  }
  return Finish(hasher, digest_size);
}

TEST(Sha2, HashesTheExamplesInOneCall) {
  for (const Example& example : Examples()) {
    SCOPED_TRACE(example.message.substr(0, 20));
    EXPECT_EQ(hex::Encode(*Sha256(AsBytes(example.message))), example.sha256);
    EXPECT_EQ(hex::Encode(*Sha512(AsBytes(example.message))), example.sha512);
  }
}

TEST(Sha2, HashesTheExamplesInPiecesWithOneObject) {
  Sha2Hasher sha256 = Make(Sha2::kSha256);
  Sha2Hasher sha512 = Make(Sha2::kSha512);
  for (const Example& example : Examples()) {
    for (size_t step : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{4096}}) {
      SCOPED_TRACE(step);
      const ByteSpan message = AsBytes(example.message);
      EXPECT_EQ(HashInSteps(sha256, message, step, 32), example.sha256);
      EXPECT_EQ(HashInSteps(sha512, message, step, 64), example.sha512);
    }
  }
}

TEST(Sha2, EmptyUpdatesChangeNothing) {
  Sha2Hasher hasher = Make(Sha2::kSha256);
  ASSERT_TRUE(hasher.Update({}).ok());
  ASSERT_TRUE(hasher.Update(AsBytes("abc")).ok());
  ASSERT_TRUE(hasher.Update({}).ok());
  EXPECT_EQ(Finish(hasher, 32), Examples()[1].sha256);
}

TEST(Sha2, MovesTakeAStartedMessageAlong) {
  Sha2Hasher first = Make(Sha2::kSha512);
  ASSERT_TRUE(first.Update(AsBytes("a")).ok());
  Sha2Hasher second = std::move(first);
  ASSERT_TRUE(second.Update(AsBytes("b")).ok());
  Sha2Hasher third = Make(Sha2::kSha256);
  ASSERT_TRUE(third.Update(AsBytes("forgotten")).ok());
  third = std::move(second);
  Sha2Hasher& same = third;
  third = std::move(same);
  Sha2Hasher fourth = Make(Sha2::kSha256);
  fourth = std::move(third);
  ASSERT_TRUE(fourth.Update(AsBytes("c")).ok());
  EXPECT_EQ(Finish(fourth, 64), Examples()[1].sha512);
}

TEST(Sha2DeathTest, MovedFromObjectsAndWrongSizesAreBrokenInvariants) {
  Sha2Hasher first = Make(Sha2::kSha256);
  Sha2Hasher second = std::move(first);
  Bytes digest(32);
  EXPECT_DEATH((void)first.Update(AsBytes("a")), "context != nullptr");
  EXPECT_DEATH((void)first.Finish(digest), "context != nullptr");
  Bytes wrong(64);
  EXPECT_DEATH((void)second.Finish(wrong), "out.size");
  Sha2Hasher sha512 = Make(Sha2::kSha512);
  EXPECT_DEATH((void)sha512.Finish(digest), "out.size");
}

}  // namespace
}  // namespace coffer::crypto
