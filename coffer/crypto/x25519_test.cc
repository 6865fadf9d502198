// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/x25519.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"

namespace coffer::crypto {
namespace {

using coffer::testing::FromHex;

X25519Scalar Scalar(std::string_view hex) {
  return X25519Scalar::CopyOf(ByteSpan(FromHex(hex)).first<kX25519Size>());
}

X25519Point Point(std::string_view hex) {
  const Bytes bytes = FromHex(hex);
  COFFER_CHECK(bytes.size() == kX25519Size);
  X25519Point point;
  std::ranges::copy(bytes, point.begin());
  return point;
}

std::string Multiply(std::string_view scalar, std::string_view point) {
  const Result<X25519Shared> shared = X25519(Scalar(scalar), Point(point));
  return shared.ok() ? hex::Encode(shared->Expose()) : shared.error().message();
}

TEST(X25519, GivesTheProductsOfRfc7748Section52) {
  EXPECT_EQ(Multiply("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                     "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"),
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
  // The top bit of this point is set, and has to be ignored.
  EXPECT_EQ(Multiply("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                     "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"),
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
}

TEST(X25519, IteratesAsInRfc7748Section52) {
  X25519Point k{9}, u{9};
  for (int i = 1; i <= 1000; ++i) {
    const Result<X25519Shared> next = X25519(X25519Scalar::CopyOf(k), u);
    ASSERT_TRUE(next.ok());
    u = k;
    std::ranges::copy(next->Expose(), k.begin());
    if (i == 1) {
      EXPECT_EQ(hex::Encode(k), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
    }
  }
  EXPECT_EQ(hex::Encode(k), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

constexpr const char* kAlice = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
constexpr const char* kAlicePublic =
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
constexpr const char* kBob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
constexpr const char* kBobPublic =
    "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";

TEST(X25519, AgreesAsInRfc7748Section61) {
  const char* const shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
  EXPECT_EQ(hex::Encode(*X25519Public(Scalar(kAlice))), kAlicePublic);
  EXPECT_EQ(hex::Encode(*X25519Public(Scalar(kBob))), kBobPublic);
  EXPECT_EQ(Multiply(kAlice, kBobPublic), shared);
  EXPECT_EQ(Multiply(kBob, kAlicePublic), shared);
}

// RFC 7748 section 5: decodeScalar25519 decides five bits by itself.
TEST(X25519, ClampsScalars) {
  for (const auto& [index, bit] : {std::pair{0, 0}, {0, 1}, {0, 2}, {31, 6}, {31, 7}}) {
    Bytes scalar = FromHex(kAlice);
    scalar[static_cast<size_t>(index)] ^= static_cast<uint8_t>(1 << bit);
    EXPECT_EQ(hex::Encode(*X25519Public(Scalar(hex::Encode(scalar)))), kAlicePublic);
    EXPECT_EQ(Multiply(hex::Encode(scalar), kBobPublic), Multiply(kAlice, kBobPublic));
  }
  Bytes scalar = FromHex(kAlice);
  scalar[0] ^= 8;
  EXPECT_NE(hex::Encode(*X25519Public(Scalar(hex::Encode(scalar)))), kAlicePublic);
}

// The points of order 1, 2, 4 and 8, on the curve and its twist, with their encodings that are not
// reduced: all that give zero whatever the scalar is.
TEST(X25519, RefusesPointsOfLowOrder) {
  for (const char* point : {
           "0000000000000000000000000000000000000000000000000000000000000000",
           "0100000000000000000000000000000000000000000000000000000000000000",
           "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
           "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
           "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "0000000000000000000000000000000000000000000000000000000000000080",
       }) {
    const Result<X25519Shared> shared = X25519(Scalar(kAlice), Point(point));
    ASSERT_FALSE(shared.ok()) << point;
    EXPECT_EQ(shared.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(ERR_peek_error(), 0U);
  }
  EXPECT_TRUE(X25519(Scalar(kAlice), Point(kBobPublic)).ok());
}

TEST(X25519DeathTest, MovedFromScalarsMultiplyNothing) {
  X25519Scalar scalar = Scalar(kAlice);
  const X25519Scalar moved = std::move(scalar);
  EXPECT_DEATH((void)X25519Public(scalar), "empty_");
  EXPECT_DEATH((void)X25519(scalar, Point(kBobPublic)), "empty_");
}

}  // namespace
}  // namespace coffer::crypto
