// SPDX-License-Identifier: Apache-2.0
// The vectors of RFC 7748 and RFC 7914 that take a minute, or a gigabyte.
#include <algorithm>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/crypto/scrypt.h"
#include "coffer/crypto/x25519.h"

namespace coffer::crypto {
namespace {

TEST(X25519Slow, IteratesAMillionTimesAsInRfc7748Section52) {
  X25519Point k{9}, u{9};
  for (int i = 0; i < 1000000; ++i) {
    const Result<X25519Shared> next = X25519(X25519Scalar::CopyOf(k), u);
    ASSERT_TRUE(next.ok());
    u = k;
    std::ranges::copy(next->Expose(), k.begin());
  }
  EXPECT_EQ(hex::Encode(k), "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424");
}

TEST(ScryptSlow, GivesTheKeyOfAGibibyteOfRfc7914Section12) {
  Bytes out(64);
  ASSERT_TRUE(
      Scrypt(AsBytes("pleaseletmein"), AsBytes("SodiumChloride"), {.log2_n = 20}, out).ok());
  EXPECT_EQ(hex::Encode(out),
            "2101cb9b6a511aaeaddbbe09cf70f881ec568d574a2ffd4dabe5ee9820adaa47"
            "8e56fd8f4ba5d09ffa1c6d927c40f4c337304049e8a952fbcbf45c6fa77a41a4");
}

}  // namespace
}  // namespace coffer::crypto
