// SPDX-License-Identifier: Apache-2.0
// SHA3 and SHAKE against published values and against OpenSSL.
#include "coffer/crypto/sha3.h"

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "coffer/base/hex.h"

namespace coffer::crypto {
namespace {

std::string ShakeHex(Sponge&& sponge, ByteSpan message, size_t size) {
  Bytes out(size);
  sponge.Absorb(message);
  sponge.Squeeze(out);
  return hex::Encode(out);
}

// csrc.nist.gov, "Examples with intermediate values": the empty message, and 1600 bits of a3. "abc"
// is the example of FIPS 180.
TEST(Sha3Test, NistExamples) {
  const Bytes a3(200, 0xa3);
  EXPECT_EQ(hex::Encode(Sha3_256::HashPublic({})),
            "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a");
  EXPECT_EQ(hex::Encode(Sha3_256::HashPublic(AsBytes("abc"))),
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532");
  EXPECT_EQ(hex::Encode(Sha3_256::HashPublic(a3)),
            "79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787");
  EXPECT_EQ(hex::Encode(Sha3_512::HashPublic({})),
            "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a6"
            "15b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26");
  EXPECT_EQ(hex::Encode(Sha3_512::HashPublic(AsBytes("abc"))),
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
            "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0");
  EXPECT_EQ(ShakeHex(Shake128(), {}, 32),
            "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26");
  EXPECT_EQ(ShakeHex(Shake128(), a3, 32),
            "131ab8d2b594946b9c81333f9bb6e0ce75c3b93104fa3469d3917457385da037");
  EXPECT_EQ(ShakeHex(Shake256(), {}, 64),
            "46b9dd2b0ba88d13233b3feb743eeb243fcd52ea62b81b82b50c27646ed5762f"
            "d75dc4ddd8c0f200cb05019d67b592f6fc821c49479ab48640292eacb3b7c4be");
  EXPECT_EQ(ShakeHex(Shake256(), a3, 32),
            "cd8a920ed141aa0407a22d59288652e9d9f1a7ee0c1e7c1ca699424da84a904d");
}

struct Algorithm {
  const char* openssl_name;
  SpongeKind kind;
  size_t size;
};
constexpr Algorithm kAlgorithms[] = {
    {"SHA3-256", kSha3Kind256, 32},
    {"SHA3-512", kSha3Kind512, 64},
    {"SHAKE128", kShake128Kind, 400},
    {"SHAKE256", kShake256Kind, 400},
};

Bytes OpensslHash(const Algorithm& algorithm, ByteSpan message) {
  const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> md(
      EVP_MD_fetch(nullptr, algorithm.openssl_name, nullptr), EVP_MD_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  Bytes out(algorithm.size);
  EXPECT_EQ(EVP_DigestInit_ex(context.get(), md.get(), nullptr), 1);
  EXPECT_EQ(EVP_DigestUpdate(context.get(), message.data(), message.size()), 1);
  if (algorithm.size > 64) {
    EXPECT_EQ(EVP_DigestFinalXOF(context.get(), out.data(), out.size()), 1);
  } else {
    EXPECT_EQ(EVP_DigestFinal_ex(context.get(), out.data(), nullptr), 1);
  }
  return out;
}

Bytes RandomBytes(std::mt19937_64& random, size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// All sizes over several blocks; the same message whole, byte by byte, and in pieces of every size,
// and squeezed in pieces too.
TEST(Sha3Test, AgreesWithOpensslAtEverySize) {
  std::mt19937_64 random(1);
  for (const Algorithm& algorithm : kAlgorithms) {
    SCOPED_TRACE(algorithm.openssl_name);
    for (size_t size = 0; size <= 1100; ++size) {
      const Bytes message = RandomBytes(random, size);
      const Bytes expected = OpensslHash(algorithm, message);
      Bytes out(algorithm.size);
      Sponge whole(algorithm.kind);
      whole.Absorb(message);
      whole.Squeeze(out);
      ASSERT_EQ(out, expected) << "size " << size;

      const size_t step = 1 + size % 211;
      out.assign(algorithm.size, 0);
      Sponge pieces(algorithm.kind);
      for (size_t at = 0; at < size; at += step) {
        pieces.Absorb(ByteSpan(message).subspan(at, std::min(step, size - at)));
      }
      for (size_t at = 0; at < out.size(); at += step) {
        pieces.Squeeze(MutableByteSpan(out).subspan(at, std::min(step, out.size() - at)));
      }
      ASSERT_EQ(out, expected) << "size " << size << " in pieces of " << step;
    }
  }
}

TEST(Sha3Test, ResetAndFinishStartAgain) {
  Sha3_256 hasher;
  std::array<uint8_t, 32> digest;
  hasher.Update(AsBytes("something else"));
  hasher.Finish(digest);
  hasher.Update(AsBytes("ab"));
  hasher.Update(AsBytes("c"));
  hasher.Finish(digest);
  EXPECT_EQ(digest, Sha3_256::HashPublic(AsBytes("abc")));
  Sha3_256::Hash({AsBytes("a"), AsBytes("bc")}, digest);
  EXPECT_EQ(digest, Sha3_256::HashPublic(AsBytes("abc")));
}

TEST(Sha3Test, ResetWipesTheState) {
  Sponge sponge(kShake128Kind);
  sponge.Absorb(AsBytes("secret"));
  sponge.Reset();
  EXPECT_EQ(ShakeHex(std::move(sponge), {}, 32),
            "7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26");
}

template <size_t kLanes>
void ExpectLanesAgreeWithOne(const SpongeKind& kind) {
  std::mt19937_64 random(kLanes + kind.rate);
  for (size_t size = 0; size <= 700; ++size) {
    std::array<Bytes, kLanes> messages;
    std::array<Bytes, kLanes> results;
    std::array<ByteSpan, kLanes> inputs;
    std::array<MutableByteSpan, kLanes> blocks;
    std::array<MutableByteSpan, kLanes> tails;
    const size_t tail = size % 450;
    for (size_t i = 0; i < kLanes; ++i) {
      messages[i] = RandomBytes(random, size);
      results[i].resize(2 * kind.rate + tail);
      inputs[i] = messages[i];
      blocks[i] = MutableByteSpan(results[i]).first(2 * kind.rate);
      tails[i] = MutableByteSpan(results[i]).last(tail);
    }
    ParallelSponge<kLanes> parallel(kind);
    parallel.Absorb(inputs);
    parallel.Squeeze(blocks);
    parallel.Squeeze(tails);
    for (size_t i = 0; i < kLanes; ++i) {
      Sponge one(kind);
      one.Absorb(messages[i]);
      Bytes expected(results[i].size());
      one.Squeeze(expected);
      ASSERT_EQ(results[i], expected) << "size " << size << ", lane " << i;
    }
  }
}

TEST(Sha3Test, ParallelLanesAgreeWithOne) {
  for (const SpongeKind& kind : {kShake128Kind, kShake256Kind}) {
    ExpectLanesAgreeWithOne<4>(kind);
    ExpectLanesAgreeWithOne<8>(kind);
  }
}

}  // namespace
}  // namespace coffer::crypto
