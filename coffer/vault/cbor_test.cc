// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/cbor.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/vault/entry.h"

namespace coffer::vault {
namespace {

using testing::FromHex;

std::string Written(CborWriter& writer) { return hex::Encode(writer.buffer().Expose()); }

// The examples of RFC 8949 appendix A, of the types that records have.
TEST(CborTest, IntegersOfTheStandard) {
  struct Case {
    int64_t value;
    std::string_view encoded;
  };
  const Case cases[] = {
      {0, "00"},
      {1, "01"},
      {10, "0a"},
      {23, "17"},
      {24, "1818"},
      {25, "1819"},
      {100, "1864"},
      {255, "18ff"},
      {256, "190100"},
      {1000, "1903e8"},
      {65535, "19ffff"},
      {65536, "1a00010000"},
      {1000000, "1a000f4240"},
      {4294967295, "1affffffff"},
      {4294967296, "1b0000000100000000"},
      {1000000000000, "1b000000e8d4a51000"},
      {-1, "20"},
      {-10, "29"},
      {-100, "3863"},
      {-1000, "3903e7"},
      {std::numeric_limits<int64_t>::max(), "1b7fffffffffffffff"},
      {std::numeric_limits<int64_t>::min(), "3b7fffffffffffffff"},
  };
  for (const Case& item : cases) {
    CborWriter writer;
    writer.Int(item.value);
    EXPECT_EQ(Written(writer), item.encoded);
    const Bytes bytes = FromHex(item.encoded);
    CborReader reader(bytes);
    EXPECT_EQ(reader.Int(), item.value);
    reader.End();
    EXPECT_TRUE(reader.status().ok()) << item.encoded;
  }
}

TEST(CborTest, SkipTakesWhatIsDeterministicAndNothingElse) {
  for (const std::string_view good :
       {"00", "1bffffffffffffffff", "3bffffffffffffffff", "40", "4401020304", "60", "62c3bc",
        "63e6b0b4", "64f0908591", "80", "83010203", "8301820203820405", "a0", "a201020304", "f4",
        "f5", "8181818100"}) {
    const Bytes bytes = FromHex(good);
    CborReader reader(bytes);
    EXPECT_EQ(reader.Skip().size(), bytes.size()) << good;
    EXPECT_TRUE(reader.status().ok()) << good;
  }
  for (const std::string_view bad : {"",
                                     "18",
                                     "1800",
                                     "1817",
                                     "190018",
                                     "1900ff",
                                     "1a0000ffff",
                                     "1b00000000ffffffff",
                                     "1c",
                                     "1f",
                                     "3817",
                                     "5800",
                                     "41",
                                     "5f4100ff",
                                     "7f6100ff",
                                     "9f00ff",
                                     "bf0000ff",
                                     "61ff",
                                     "62c080",
                                     "63eda080",
                                     "64f4908080",
                                     "62c3",
                                     "81",
                                     "820000ff00",
                                     "9bffffffffffffffff",
                                     "a100",
                                     "a200000000",
                                     "a201000000",
                                     "a1200000",
                                     "a1410000",
                                     "bbffffffffffffffff",
                                     "c000",
                                     "e0",
                                     "f6",
                                     "f7",
                                     "f800",
                                     "f90000",
                                     "ff",
                                     "818181818100"}) {
    const Bytes bytes = FromHex(bad);
    CborReader reader(bytes);
    reader.Skip();
    reader.End();
    ASSERT_FALSE(reader.status().ok()) << bad;
    EXPECT_EQ(reader.status().error().code(), ErrorCode::kDamaged);
  }
}

TEST(CborTest, TypedReadsRefuseOtherTypes) {
  const Bytes number = FromHex("01");
  const Bytes text = FromHex("6161");
  EXPECT_FALSE([&] {
    CborReader r(number);
    r.ByteString();
    return r.ok();
  }());
  EXPECT_FALSE([&] {
    CborReader r(number);
    r.Array(1);
    return r.ok();
  }());
  EXPECT_FALSE([&] {
    CborReader r(number);
    r.Map();
    return r.ok();
  }());
  EXPECT_FALSE([&] {
    CborReader r(number);
    r.Bool();
    return r.ok();
  }());
  EXPECT_FALSE([&] {
    CborReader r(text);
    r.Uint();
    return r.ok();
  }());
  EXPECT_FALSE([&] {
    CborReader r(text);
    r.ByteString();
    return r.ok();
  }());
}

TEST(CborTest, CountsAreBoundedByTheRest) {
  const Bytes bytes = FromHex("8300000000");
  CborReader fits(bytes);
  EXPECT_EQ(fits.Array(1), 3U);
  CborReader too_many(bytes);
  EXPECT_EQ(too_many.Array(2), 0U);
  EXPECT_FALSE(too_many.ok());
}

TEST(CborTest, UnknownKeys) {
  const Bytes critical = FromHex("a1187f00");
  CborReader reader(critical);
  CborMap map(reader);
  ASSERT_EQ(map.Next(), 127U);
  map.Unknown();
  EXPECT_EQ(reader.status().error().code(), ErrorCode::kNeedsNewer);

  const Bytes ignorable = FromHex("a118808101");
  CborReader other(ignorable);
  CborMap other_map(other);
  ASSERT_EQ(other_map.Next(), 128U);
  EXPECT_EQ(hex::Encode(other_map.Unknown()), "18808101");
  EXPECT_FALSE(other_map.Next().has_value());
  EXPECT_TRUE(other.ok());
}

TEST(EntryTest, ValidPaths) {
  for (const std::string_view good : {"a", "a/b", "...", ".a", "a..", "\xff", "a b/\n"}) {
    EXPECT_TRUE(IsValidPath(good)) << good;
  }
  using std::string_view_literals::operator""sv;
  for (const std::string_view bad : {""sv, "/"sv, "/a"sv, "a/"sv, "a//b"sv, "."sv, ".."sv, "./a"sv,
                                     "a/.."sv, "a/./b"sv, "a\0b"sv}) {
    EXPECT_FALSE(IsValidPath(bad)) << bad;
  }
  EXPECT_TRUE(IsValidPath(std::string(kMaxPathSize, 'a')));
  EXPECT_FALSE(IsValidPath(std::string(kMaxPathSize + 1, 'a')));
}

TEST(EntryTest, DataSizeIsWithoutHoles) {
  Entry entry;
  entry.size = 100;
  entry.holes = {{.offset = 0, .size = 10}, {.offset = 50, .size = 50}};
  EXPECT_EQ(entry.data_size(), 40U);
}

}  // namespace
}  // namespace coffer::vault
