// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/scrypt.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"

// Sanitizers end the process at an allocation of absurd size, unless told that refusing is enough.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace coffer::crypto {
namespace {

std::string Derive(std::string_view passphrase, std::string_view salt,
                   const ScryptParameters& parameters) {
  Bytes out(64);
  const Status status = Scrypt(AsBytes(passphrase), AsBytes(salt), parameters, out);
  return status.ok() ? hex::Encode(out) : status.error().message();
}

// RFC 7914 section 12; the fourth, of 1 GiB, is in scrypt_slow_test.cc.
TEST(Scrypt, GivesTheKeysOfRfc7914) {
  EXPECT_EQ(Derive("", "", {.log2_n = 4, .r = 1, .p = 1}),
            "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
            "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906");
  EXPECT_EQ(Derive("password", "NaCl", {.log2_n = 10, .r = 8, .p = 16}),
            "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
            "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640");
  EXPECT_EQ(Derive("pleaseletmein", "SodiumChloride", {.log2_n = 14}),
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
            "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887");
}

TEST(Scrypt, ShorterOutputsAreFrontsOfLongerOnes) {
  Bytes longest(100);
  const ScryptParameters parameters{.log2_n = 4};
  ASSERT_TRUE(Scrypt(AsBytes("a"), AsBytes("b"), parameters, longest).ok());
  for (size_t size : {size_t{1}, size_t{31}, size_t{32}, size_t{33}}) {
    Bytes out(size);
    ASSERT_TRUE(Scrypt(AsBytes("a"), AsBytes("b"), parameters, out).ok());
    EXPECT_TRUE(std::ranges::equal(out, ByteSpan(longest).first(size)));
  }
}

// More than the 32 MiB that the library allows when no bound is named.
TEST(Scrypt, TakesTheMemoryThatItsParametersNeed) {
  Bytes out(32);
  EXPECT_TRUE(Scrypt(AsBytes("a"), AsBytes("b"), {.log2_n = 15}, out).ok());
  EXPECT_TRUE(Scrypt(AsBytes("a"), AsBytes("b"), {.log2_n = 1}, out).ok());
  EXPECT_TRUE(Scrypt(AsBytes("a"), AsBytes("b"), {.log2_n = 1, .r = 1, .p = 3}, out).ok());
  EXPECT_TRUE(Scrypt(AsBytes("a"), AsBytes("b"), {.log2_n = 15, .r = 1, .p = 1}, out).ok());
}

void ExpectRefused(const ScryptParameters& parameters, size_t out_size, ErrorCode code) {
  SCOPED_TRACE(::testing::Message()
               << parameters.log2_n << ", " << parameters.r << ", " << parameters.p);
  Bytes out(out_size, 0xa5);
  const Status status = Scrypt(AsBytes("a"), AsBytes("b"), parameters, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), code);
  for (uint8_t byte : out) EXPECT_TRUE(byte == 0xa5 || byte == 0);
}

TEST(Scrypt, RefusesParametersOutOfRange) {
  constexpr auto kInvalid = ErrorCode::kInvalidArgument;
  constexpr uint32_t kMax = std::numeric_limits<uint32_t>::max();
  for (int log2_n :
       {std::numeric_limits<int>::min(), -1, 0, 31, 32, 64, std::numeric_limits<int>::max()}) {
    ExpectRefused({.log2_n = log2_n}, 32, kInvalid);
  }
  ExpectRefused({.log2_n = 4, .r = 0}, 32, kInvalid);
  ExpectRefused({.log2_n = 4, .p = 0}, 32, kInvalid);
  ExpectRefused({.log2_n = 4, .r = 1 << 15, .p = 1 << 15}, 32, kInvalid);
  ExpectRefused({.log2_n = 4, .r = kMax, .p = kMax}, 32, kInvalid);
  ExpectRefused({.log2_n = 4, .r = 1 << 30, .p = 1}, 32, kInvalid);
  ExpectRefused({.log2_n = 16, .r = 1}, 32, kInvalid);  // N < 2^(128 r / 8)
  ExpectRefused({.log2_n = 4}, 0, kInvalid);
}

TEST(Scrypt, SaysWhenTheMemoryCannotBeHad) {
  // 2^67 bytes, which no size_t counts; 2^62 bytes, which no machine has.
  ExpectRefused({.log2_n = 30, .r = (1 << 30) - 1}, 32, ErrorCode::kTooLarge);
  ExpectRefused({.log2_n = 30, .r = 1 << 25}, 32, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace coffer::crypto
