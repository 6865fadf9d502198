// SPDX-License-Identifier: Apache-2.0
// BLAKE2b against the example of RFC 7693, its authors' code, and OpenSSL, which has 64 bytes only.
#include "coffer/crypto/blake2b.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto {
namespace {

Bytes Digest(ByteSpan bytes, size_t size) {
  Bytes out(size);
  Blake2b::Hash(bytes, out);
  return out;
}

// Appendix A.
TEST(Blake2bTest, Abc) {
  EXPECT_EQ(hex::Encode(Digest(AsBytes("abc"), 64)),
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
            "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

// Values of the BLAKE2 authors' code, as other languages ship it.
TEST(Blake2bTest, ShorterDigests) {
  EXPECT_EQ(hex::Encode(Digest(AsBytes("abc"), 1)), "6b");
  EXPECT_EQ(hex::Encode(Digest(AsBytes("abc"), 20)), "384264f676f39536840523f284921cdc68b6846b");
  EXPECT_EQ(hex::Encode(Digest(AsBytes("abc"), 32)),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(hex::Encode(Digest(AsBytes("abc"), 63)),
            "eb5324bb0b0f9ca27381f22f5e49604d7c341b77371fe5bf61fb643c8ab481c7"
            "555ef17c9b9e7c92f0daafff6c0d748cab97d2b267bf53f8225c173ea26f3e");
}

// The same code's digest of all digests, by size of the digest, then of the message.
TEST(Blake2bTest, EverySize) {
  Blake2b all(32);
  for (size_t digest_size = 1; digest_size <= Blake2b::kMaxDigestSize; ++digest_size) {
    for (size_t size : {0U, 1U, 127U, 128U, 129U, 255U, 256U, 257U, 1000U}) {
      all.Update(Digest(coffer::testing::Pattern(size), digest_size));
    }
  }
  Bytes out(32);
  all.Finish(out);
  EXPECT_EQ(hex::Encode(out), "c15a5e4603b1c7463657b86d34fdf6a12ffd4c99d229b94f27dd8db398b3b758");
}

TEST(Blake2bTest, AgreesWithOpenSsl) {
  testing::SeededRandom random(1);
  for (size_t size = 0; size <= 520; ++size) {
    const Bytes message = random.Take(size);
    Bytes expected(64);
    unsigned int expected_size = 0;
    ASSERT_EQ(EVP_Digest(message.data(), message.size(), expected.data(), &expected_size,
                         EVP_blake2b512(), nullptr),
              1);
    ASSERT_EQ(Digest(message, 64), expected) << size;
  }
}

TEST(Blake2bTest, PiecesGiveTheSame) {
  const Bytes message = coffer::testing::Pattern(513);
  for (size_t step : {1U, 3U, 127U, 128U, 129U, 256U, 512U}) {
    Blake2b hasher(64);
    for (size_t at = 0; at < message.size(); at += step) {
      hasher.Update({});
      hasher.Update(ByteSpan(message).subspan(at, std::min(step, message.size() - at)));
    }
    Bytes out(64);
    hasher.Finish(out);
    ASSERT_EQ(out, Digest(message, 64)) << step;
  }
}

}  // namespace
}  // namespace coffer::crypto
