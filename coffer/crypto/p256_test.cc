// SPDX-License-Identifier: Apache-2.0
// P-256 against Project Wycheproof, and its encodings.
#include "coffer/crypto/p256.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "coffer/base/testing/corpus.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/testing/wycheproof.h"

namespace coffer::crypto {
namespace {

using coffer::testing::FromHex;
using testing::Verdict;
using testing::WycheproofCase;
using testing::WycheproofFile;
using testing::WycheproofGroup;

constexpr std::string_view kOrder =
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

P256Scalar ScalarFromHex(std::string_view text) {
  return P256Scalar::CopyOf(ByteSpan(FromHex(text)).first<P256Scalar::kSize>());
}

// Integers as Java writes them, of any number of bytes with or without a leading zero.
P256Scalar ScalarFromInteger(ByteSpan bytes) {
  P256Scalar scalar;
  const size_t size = std::min(bytes.size(), P256Scalar::kSize);
  std::ranges::copy(bytes.last(size), scalar.ExposeMutable().last(size).begin());
  return scalar;
}

TEST(P256Test, Wycheproof) {
  const WycheproofFile file = testing::LoadWycheproof(
      coffer::testing::CorpusPath("wycheproof/ecdh_secp256r1_ecpoint_test.json"));
  size_t valid = 0;
  size_t refused = 0;
  size_t compressed = 0;
  for (const WycheproofGroup& group : file.groups) {
    ASSERT_EQ(group.fields.Text("curve"), "secp256r1");
    for (const WycheproofCase& test : group.cases) {
      SCOPED_TRACE(::testing::Message() << "tcId " << test.id << ": " << test.comment);
      const Bytes encoded = test.fields.Hex("public");
      const Result<P256Point> point = P256Point::Parse(encoded);
      if (!point.ok()) {
        EXPECT_EQ(point.error().code(), ErrorCode::kInvalidArgument);
        EXPECT_NE(test.verdict, Verdict::kValid);
        ++refused;
        continue;
      }
      // A compressed point of this curve is what the file leaves open; we read it.
      EXPECT_TRUE(test.verdict == Verdict::kValid || test.HasFlag("CompressedPoint"));
      ++(test.verdict == Verdict::kValid ? valid : compressed);
      const Result<P256Shared> shared = P256(ScalarFromInteger(test.fields.Hex("private")), *point);
      ASSERT_TRUE(shared.ok());
      const Bytes expected = test.fields.Hex("shared");
      EXPECT_TRUE(std::ranges::equal(shared->Expose(), expected));
    }
  }
  EXPECT_EQ(valid, 330U);
  EXPECT_EQ(valid + refused + compressed, file.number_of_tests);
  EXPECT_GE(compressed, 1U);
}

TEST(P256Test, ScalarsAreBelowTheOrderAndNotZero) {
  EXPECT_FALSE(IsP256Scalar(P256Scalar()));
  EXPECT_FALSE(IsP256Scalar(ScalarFromHex(kOrder)));
  EXPECT_TRUE(IsP256Scalar(
      ScalarFromHex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550")));
  EXPECT_FALSE(IsP256Scalar(
      ScalarFromHex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552")));
  EXPECT_TRUE(IsP256Scalar(
      ScalarFromHex("0000000000000000000000000000000000000000000000000000000000000001")));
  EXPECT_TRUE(IsP256Scalar(
      ScalarFromHex("0100000000000000000000000000000000000000000000000000000000000000")));
  EXPECT_FALSE(IsP256Scalar(
      ScalarFromHex("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")));
  EXPECT_FALSE(P256Public(P256Scalar()).ok());
  const Result<P256Point> base =
      P256Public(ScalarFromHex("0000000000000000000000000000000000000000000000000000000000000001"));
  ASSERT_TRUE(base.ok());
  EXPECT_FALSE(P256(ScalarFromHex(kOrder), *base).ok());
}

TEST(P256Test, BothFormsAreTheSamePoint) {
  for (std::string_view scalar :
       {"0000000000000000000000000000000000000000000000000000000000000001",
        "00000000000000000000000000000000000000000000000000000000000000ff",
        "8000000000000000000000000000000000000000000000000000000000000000"}) {
    const Result<P256Point> point = P256Public(ScalarFromHex(scalar));
    ASSERT_TRUE(point.ok());
    EXPECT_EQ(*P256Point::Parse(point->compressed()), *point);
    EXPECT_EQ(*P256Point::Parse(point->uncompressed()), *point);
  }
}

TEST(P256Test, OtherEncodingsAreRefused) {
  const Result<P256Point> base =
      P256Public(ScalarFromHex("0000000000000000000000000000000000000000000000000000000000000001"));
  ASSERT_TRUE(base.ok());
  const auto bytes = base->uncompressed();
  EXPECT_FALSE(P256Point::Parse({}).ok());
  EXPECT_FALSE(P256Point::Parse(Bytes{0}).ok());  // the point at infinity
  EXPECT_FALSE(P256Point::Parse(Bytes(65)).ok());
  EXPECT_FALSE(P256Point::Parse(Bytes(33)).ok());
  Bytes hybrid(bytes.begin(), bytes.end());
  hybrid[0] = static_cast<uint8_t>(6 + (hybrid.back() & 1));
  EXPECT_FALSE(P256Point::Parse(hybrid).ok());
}

}  // namespace
}  // namespace coffer::crypto
