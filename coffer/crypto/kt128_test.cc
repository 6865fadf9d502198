// SPDX-License-Identifier: Apache-2.0
// KT128 and TurboSHAKE128 against the values of RFC 9861 section 5, and streaming against one call.
#include "coffer/crypto/kt128.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"

namespace coffer::crypto {
namespace {

// The pattern 00 01 .. fa, repeated up to `size` bytes.
Bytes Pattern(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i % 251);
  return bytes;
}

std::string Kt128Hex(ByteSpan message, ByteSpan customization, size_t size = 32) {
  Bytes out(size);
  Kt128Hash(message, customization, out);
  return hex::Encode(ByteSpan(out).last(std::min<size_t>(size, 64)));
}

TEST(Kt128Test, TurboShake128) {
  const auto turbo = [](ByteSpan message, uint8_t domain, size_t size) {
    Bytes out(size);
    TurboShake128 sponge(domain);
    sponge.Absorb(message);
    sponge.Squeeze(out);
    return hex::Encode(ByteSpan(out).last(32));
  };
  EXPECT_EQ(turbo({}, 0x1f, 32),
            "1e415f1c5983aff2169217277d17bb538cd945a397ddec541f1ce41af2c1b74c");
  EXPECT_EQ(turbo({}, 0x07, 32),
            "5a223ad30b3b8c66a243048cfced430f54e7529287d15150b973133adfac6a2f");
  EXPECT_EQ(turbo({}, 0x1f, 64),
            "3e8ccae2a4dae56c84a04c2385c03c15e8193bdf58737363321691c05462c8df");
}

TEST(Kt128Test, EmptyMessage) {
  EXPECT_EQ(Kt128Hex({}, {}), "1ac2d450fc3b4205d19da7bfca1b37513c0803577ac7167f06fe2ce1f0ef39e5");
  EXPECT_EQ(Kt128Hex({}, {}, 64),
            "1ac2d450fc3b4205d19da7bfca1b37513c0803577ac7167f06fe2ce1f0ef39e5"
            "4269c056b8c82e48276038b6d292966cc07a3d4645272e31ff38508139eb0a71");
  EXPECT_EQ(Kt128Hex({}, {}, 10032).substr(64),
            "e8dc563642f7228c84684c898405d3a834799158c079b12880277a1d28e2ff6d");
}

TEST(Kt128Test, PatternMessages) {
  const char* const expected[] = {
      "2bda92450e8b147f8a7cb629e784a058efca7cf7d8218e02d345dfaa65244a1f",
      "6bf75fa2239198db4772e36478f8e19b0f371205f6a9a93a273f51df37122888",
      "0c315ebcdedbf61426de7dcf8fb725d1e74675d7f5327a5067f367b108ecb67c",
      "cb552e2ec77d9910701d578b457ddf772c12e322e4ee7fe417f92c758f0d59d0",
      "8701045e22205345ff4dda05555cbb5c3af1a771c2b89baef37db43d9998b9fe",
      "844d610933b1b9963cbdeb5ae3b6b05cc7cbd67ceedf883eb678a0a8e0371682",
      "3c390782a8a4e89fa6367f72feaaf13255c8d95878481d3cd8ce85f58e880af8",
  };
  size_t size = 1;
  for (const char* value : expected) {
    EXPECT_EQ(Kt128Hex(Pattern(size), {}), value) << "size " << size;
    size *= 17;
  }
}

TEST(Kt128Test, Customization) {
  const auto ones = [](size_t size) { return Bytes(size, 0xff); };
  EXPECT_EQ(Kt128Hex({}, Pattern(1)),
            "fab658db63e94a246188bf7af69a133045f46ee984c56e3c3328caaf1aa1a583");
  EXPECT_EQ(Kt128Hex(ones(1), Pattern(41)),
            "d848c5068ced736f4462159b9867fd4c20b808acc3d5bc48e0b06ba0a3762ec4");
  EXPECT_EQ(Kt128Hex(ones(3), Pattern(41 * 41)),
            "c389e5009ae57120854c2e8c64670ac01358cf4c1baf89447a724234dc7ced74");
  EXPECT_EQ(Kt128Hex(ones(7), Pattern(41 * 41 * 41)),
            "75d2f86a2e644566726b4fbcfc5657b9dbcf070c7b0dca06450ab291d7443bcf");
}

// Message, customization string and its length around the end of the first chunk.
TEST(Kt128Test, FirstChunkBoundary) {
  EXPECT_EQ(Kt128Hex(Pattern(8191), {}),
            "1b577636f723643e990cc7d6a659837436fd6a103626600eb8301cd1dbe553d6");
  EXPECT_EQ(Kt128Hex(Pattern(8192), {}),
            "48f256f6772f9edfb6a8b661ec92dc93b95ebd05a08a17b39ae3490870c926c3");
  EXPECT_EQ(Kt128Hex(Pattern(8192), Pattern(8189)),
            "3ed12f70fb05ddb58689510ab3e4d23c6c6033849aa01e1d8c220a297fedcd0b");
  EXPECT_EQ(Kt128Hex(Pattern(8192), Pattern(8190)),
            "6a7c1b6a5cd0d8c9ca943a4a216cc64604559a2ea45f78570a15253d67ba00ae");
}

// RFC 9861 section 3.2 with one sponge after the other.
std::string SerialKt128Hex(ByteSpan message) {
  Bytes input(message.begin(), message.end());
  input.push_back(0);  // length_encode(0), after an empty customization string
  const auto turbo = [](uint8_t domain, ByteSpan bytes, MutableByteSpan out) {
    TurboShake128 sponge(domain);
    sponge.Absorb(bytes);
    sponge.Squeeze(out);
  };
  Bytes out(32);
  if (input.size() <= Kt128::kChunkSize) {
    turbo(0x07, input, out);
    return hex::Encode(out);
  }
  ByteSpan rest = input;
  Bytes node(rest.begin(), rest.begin() + Kt128::kChunkSize);
  Append(node, Bytes{3, 0, 0, 0, 0, 0, 0, 0});
  uint8_t leaves = 0;
  for (rest = rest.subspan(Kt128::kChunkSize); !rest.empty(); ++leaves) {
    const size_t size = std::min(rest.size(), Kt128::kChunkSize);
    turbo(0x0b, rest.first(size), out);
    Append(node, out);
    rest = rest.subspan(size);
  }
  Append(node, Bytes{leaves, 1, 0xff, 0xff});  // fewer than 256 leaves
  turbo(0x06, node, out);
  return hex::Encode(out);
}

// The leaves of one long message in every grouping: pieces of these sizes fill the store of waiting
// chunks to different heights.
TEST(Kt128Test, PiecesGiveTheSame) {
  for (size_t chunks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 10U, 13U, 17U, 26U}) {
    for (size_t extra : {0U, 1U, 8190U, 8191U}) {
      const Bytes message = Pattern(chunks * Kt128::kChunkSize + extra);
      const std::string expected = SerialKt128Hex(message);
      ASSERT_EQ(Kt128Hex(message, {}), expected);
      for (size_t step : {1000U, 8192U, 8193U, 30000U, 65536U, 65537U, 90000U}) {
        Kt128 hasher;
        for (size_t at = 0; at < message.size(); at += step) {
          hasher.Update(ByteSpan(message).subspan(at, std::min(step, message.size() - at)));
        }
        Bytes out(32);
        hasher.Finish({}, out);
        ASSERT_EQ(hex::Encode(out), expected) << message.size() << " bytes in pieces of " << step;
        // It starts again.
        hasher.Finish(Pattern(1), out);
        ASSERT_EQ(hex::Encode(out),
                  "fab658db63e94a246188bf7af69a133045f46ee984c56e3c3328caaf1aa1a583");
      }
    }
  }
}

}  // namespace
}  // namespace coffer::crypto
