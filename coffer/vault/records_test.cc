// SPDX-License-Identifier: Apache-2.0
// Records, from bytes made by hand for each rule of docs/format/vault.md.
#include "coffer/vault/records.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/vault/internal/record_body.h"

namespace coffer::vault {
namespace {

using testing::FromHex;

// Values of a map in hexadecimal, by their keys.
using Fields = std::map<int, std::string>;

std::string Repeat(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

std::string Map(const Fields& fields) {
  CborWriter writer;
  writer.Map(fields.size());
  for (const auto& [key, value] : fields) {
    writer.Uint(static_cast<uint64_t>(key));
    writer.Raw(FromHex(value));
  }
  return hex::Encode(writer.buffer().Expose());
}

Fields With(Fields fields, const Fields& changes) {
  for (const auto& [key, value] : changes) {
    if (value.empty()) {
      fields.erase(key);
    } else {
      fields[key] = value;
    }
  }
  return fields;
}

std::string IdOf(std::string_view byte) { return "5820" + Repeat(byte, 32); }
std::string WriterOf(std::string_view byte) { return "50" + Repeat(byte, 16); }
std::string ArrayOf(std::initializer_list<std::string> items) {
  std::string all = hex::Encode(Bytes{static_cast<uint8_t>(0x80 + items.size())});
  for (const std::string& item : items) all += item;
  return all;
}

const Fields& Directory() {
  static const Fields fields = {
      {0, "4161"}, {1, "01"}, {2, "1901ed"}, {3, "820000"}, {5, "820000"}};
  return fields;
}

Fields File() { return With(Directory(), {{1, "00"}, {9, "00"}, {10, IdOf("00")}}); }

std::string Segment(std::string_view id) {
  return "84" + IdOf(id) + "1903e8" + "1864" + WriterOf("77");
}

const Fields& EmptyCommit() {
  static const Fields fields = {{0, WriterOf("aa")},
                                {1, WriterOf("bb")},
                                {2, "00"},
                                {3, "01"},
                                {5, "820000"},
                                {6, "820000"},
                                {7, "80"},
                                {8, "80"},
                                {9, ArrayOf({IdOf("01"), IdOf("02")})},
                                {10, ArrayOf({Segment("11")})},
                                {11, "80"},
                                {12, "80"}};
  return fields;
}

const Fields& EmptyCheckpoint() {
  static const Fields fields = {{0, WriterOf("aa")},
                                {1, "00"},
                                {2, "820000"},
                                {3, ArrayOf({"89" + IdOf("01") + WriterOf("bb") + "01" + "0000" +
                                             "0000" + "1864" + WriterOf("77")})},
                                {4, "80"},
                                {5, "80"},
                                {6, ArrayOf({IdOf("02")})},
                                {7, "80"},
                                {8, "80"}};
  return fields;
}

// "ok", "damaged" or "newer"; what is ok is written as it was.
std::string Class(const Error& error) {
  if (error.code() == ErrorCode::kDamaged) return "damaged";
  return error.code() == ErrorCode::kNeedsNewer ? "newer" : "other: " + error.message();
}

std::string ReadCommit(const Fields& fields) {
  const Bytes body = FromHex(Map(fields));
  const Result<Commit> commit = internal::ReadCommitBody(body);
  if (!commit.ok()) return Class(commit.error());
  CborWriter writer;
  internal::WriteCommitBody(*commit, writer);
  return std::ranges::equal(writer.buffer().Expose(), body) ? "ok" : "ok, but written otherwise";
}

std::string ReadCheckpoint(const Fields& fields) {
  const Bytes body = FromHex(Map(fields));
  const Result<Checkpoint> checkpoint = internal::ReadCheckpointBody(body);
  if (!checkpoint.ok()) return Class(checkpoint.error());
  CborWriter writer;
  internal::WriteCheckpointBody(*checkpoint, writer);
  return std::ranges::equal(writer.buffer().Expose(), body) ? "ok" : "ok, but written otherwise";
}

std::string ReadWithEntry(const Fields& entry) {
  return ReadCommit(With(EmptyCommit(), {{11, "81" + Map(entry)}}));
}

struct Case {
  Fields changes;
  std::string_view expected;
};

TEST(RecordsTest, FieldsOfCommits) {
  const std::string one = "81820000";  // one reference
  const std::string removal = "824161" + one;
  const std::string known = "83" + IdOf("05") + "1864" + WriterOf("77");
  const Case cases[] = {
      {{}, "ok"},
      {{{3, "00"}}, "damaged"},
      {{{3, "02"}}, "damaged"},
      {{{3, "02"}, {4, IdOf("09")}}, "ok"},
      {{{4, IdOf("09")}}, "damaged"},
      {{{2, "01"}}, "newer"},
      {{{2, "190100"}}, "damaged"},
      {{{5, ""}}, "damaged"},
      {{{5, "82001a3b9ac9ff"}}, "ok"},
      {{{5, "82001a3b9aca00"}}, "damaged"},
      {{{5, "822000"}}, "ok"},
      {{{5, "83000000"}}, "damaged"},
      {{{7, ArrayOf({"82" + WriterOf("01") + "01", "82" + WriterOf("02") + "05"})}}, "ok"},
      {{{7, ArrayOf({"82" + WriterOf("02") + "01", "82" + WriterOf("01") + "05"})}}, "damaged"},
      {{{7, ArrayOf({"82" + WriterOf("01") + "01", "82" + WriterOf("01") + "05"})}}, "damaged"},
      {{{7, ArrayOf({"82" + WriterOf("01") + "00"})}}, "damaged"},
      {{{7, ArrayOf({"82" + WriterOf("bb") + "01"})}}, "damaged"},
      {{{8, ArrayOf({known})}}, "ok"},
      {{{8, ArrayOf({known, known})}}, "damaged"},
      {{{9, ArrayOf({IdOf("02"), IdOf("01")})}}, "damaged"},
      {{{10, ArrayOf({Segment("12"), Segment("11")})}}, "damaged"},
      {{{10, "8184" + IdOf("11") + "1863" + "1864" + WriterOf("77")}}, "damaged"},
      {{{10, "8184" + IdOf("11") + "1864" + "1864" + WriterOf("77")}}, "damaged"},
      {{{10, "8184" + IdOf("11") + "1865" + "1864" + WriterOf("77")}}, "ok"},
      {{{11, ArrayOf({Map(Directory()), Map(With(Directory(), {{0, "4162"}}))})}}, "ok"},
      {{{11, ArrayOf({Map(With(Directory(), {{0, "4162"}})), Map(Directory())})}}, "damaged"},
      {{{11, ArrayOf({Map(Directory()), Map(Directory())})}}, "damaged"},
      {{{12, ArrayOf({removal})}}, "ok"},
      {{{12, ArrayOf({removal, removal})}}, "damaged"},
      {{{12, ArrayOf({removal})}, {11, ArrayOf({Map(Directory())})}}, "damaged"},
      {{{12, ArrayOf({"82416180"})}}, "damaged"},
      {{{12, ArrayOf({"82416181820200"})}}, "damaged"},
      {{{12, ArrayOf({"8241618282000182"
                      "0000"})}},
       "damaged"},
      {{{12, ArrayOf({"82412f" + one})}}, "damaged"},
      {{{13, "8182" + IdOf("01") + "f4"}}, "ok"},
      {{{13, "8182" + IdOf("01") + "00"}}, "damaged"},
      {{{13, "80"}}, "damaged"},
      {{{14, "820000"}}, "ok"},
      {{{15, "6161"}}, "ok"},
      {{{15, "61ff"}}, "damaged"},
      {{{16, "00"}}, "newer"},
      {{{127, "00"}}, "newer"},
      {{{128, "00"}}, "ok, but written otherwise"},
      {{{128, "f6"}}, "damaged"},
  };
  for (const Case& item : cases) {
    EXPECT_EQ(ReadCommit(With(EmptyCommit(), item.changes)), item.expected)
        << ::testing::PrintToString(item.changes);
  }
}

TEST(RecordsTest, FieldsOfEntries) {
  const Case cases[] = {
      {{}, "ok"},
      {{{2, "00"}}, "ok"},  // the smallest
      {{{0, "40"}}, "damaged"},
      {{{0, "422e2e"}}, "damaged"},
      {{{1, "07"}}, "newer"},
      {{{2, "190fff"}}, "ok"},
      {{{2, "191000"}}, "damaged"},
      {{{3, ""}}, "damaged"},
      {{{3, "821affffffff00"}}, "ok"},
      {{{3, "821b000000010000000000"}}, "damaged"},
      {{{4, "82416140"}}, "ok"},
      {{{4, "824040"}}, "damaged"},
      {{{6, "820000"}, {7, "820001"}, {8, "07"}}, "ok"},
      {{{9, "00"}}, "damaged"},
      {{{10, IdOf("00")}}, "damaged"},
      {{{1, "02"}, {15, "4178"}}, "ok"},
      {{{1, "02"}}, "damaged"},
      {{{1, "02"}, {15, "40"}}, "damaged"},
      {{{1, "02"}, {15, "4100"}}, "damaged"},
      {{{15, "4178"}}, "damaged"},
      {{{16, "00"}}, "damaged"},
      {{{1, "03"}, {16, "00"}}, "ok"},
      {{{17, "82824161408241624101"}}, "ok"},
      {{{17, "82824162408241614101"}}, "damaged"},
      {{{17, "81824040"}}, "damaged"},
      {{{17, "80"}}, "damaged"},
      {{{1, "04"}, {18, "820102"}}, "ok"},
      {{{1, "05"}}, "damaged"},
      {{{18, "820102"}}, "damaged"},
      {{{19, "01"}}, "ok"},
      {{{19, "00"}}, "damaged"},
      {{{19, "02"}}, "newer"},
      {{{20, "82820000820100"}}, "ok"},
      {{{20, "82820100820000"}}, "damaged"},
      {{{20, "82820000820000"}}, "damaged"},
      {{{20, "81820200"}}, "damaged"},
      {{{20, "80"}}, "damaged"},
      {{{21, "00"}}, "newer"},
      {{{128, "8181818100"}, {200, "a10000"}}, "ok"},
      {{{128, "818181818100"}}, "damaged"},
  };
  for (const Case& item : cases) {
    EXPECT_EQ(ReadWithEntry(With(Directory(), item.changes)), item.expected)
        << ::testing::PrintToString(item.changes);
  }
}

TEST(RecordsTest, DataOfFiles) {
  const std::string two_pieces = "1a00400001";  // 4 MiB and a byte
  const std::string two_hashes = "5840" + Repeat("33", 64);
  const Case cases[] = {
      {{}, "ok"},
      {{{9, ""}}, "damaged"},
      {{{10, ""}}, "damaged"},
      {{{9, "03"}}, "damaged"},
      {{{9, "03"}, {11, "43010203"}}, "ok"},
      {{{9, "04"}, {11, "43010203"}}, "damaged"},
      {{{11, "40"}}, "damaged"},
      {{{9, "03"}, {12, "81820000"}}, "ok"},
      {{{9, "03"}, {12, "81820100"}}, "damaged"},
      {{{9, "03"}, {11, "43010203"}, {12, "81820000"}}, "damaged"},
      {{{9, "03"},
        {12,
         "8184000000"
         "03"}},
       "damaged"},
      {{{9, "03"},
        {12,
         "8184000001"
         "02"}},
       "newer"},
      {{{9, "03"}, {12, "8183000001"}}, "damaged"},
      {{{9, "03"}, {12, "82820000820003"}}, "damaged"},
      {{{9, "03"}, {12, "81820000"}, {13, "5820" + Repeat("33", 32)}}, "damaged"},
      {{{9, two_pieces}, {12, "8282000082001a00400000"}, {13, two_hashes}}, "ok"},
      {{{9, two_pieces}, {12, "8282000082001a00400000"}}, "damaged"},
      {{{9, two_pieces}, {12, "81820000"}, {13, two_hashes}}, "damaged"},
      {{{9, two_pieces}, {12, "8282000082001a00400000"}, {13, "5821" + Repeat("33", 33)}},
       "damaged"},
      {{{9, two_pieces},
        {14,
         "818200"
         "01"},
        {12, "81820000"}},
       "ok"},
      {{{9, "0a"}, {14, "8182000a"}}, "ok"},
      {{{9, "0a"}, {14, "8182000b"}}, "damaged"},
      {{{9, "0a"}, {14, "81820a01"}}, "damaged"},
      {{{9, "0a"}, {14, "81820000"}, {12, "81820000"}}, "damaged"},
      {{{9, "0a"},
        {14,
         "828200028203"
         "02"},
        {12, "81820000"}},
       "ok"},
      {{{9, "0a"},
        {14,
         "828200028202"
         "02"},
        {12, "81820000"}},
       "damaged"},
      {{{9, "0a"},
        {14,
         "828203028200"
         "02"},
        {12, "81820000"}},
       "damaged"},
      {{{9, "0a"},
        {14,
         "81820"
         "11bffffffffffffffff"},
        {12, "81820000"}},
       "damaged"},
      {{{14, "80"}}, "damaged"},
  };
  for (const Case& item : cases) {
    EXPECT_EQ(ReadWithEntry(With(File(), item.changes)), item.expected)
        << ::testing::PrintToString(item.changes);
  }
}

TEST(RecordsTest, FieldsOfCheckpoints) {
  const std::string a = Map(Directory());
  const std::string b = Map(With(Directory(), {{0, "4162"}}));
  const std::string pin = "85" + IdOf("01") + "f5" + "0000" + IdOf("02");
  const Case cases[] = {
      {{}, "ok"},
      {{{8, ""}}, "damaged"},
      {{{7, ArrayOf({"830000" + a, "830001" + a, "830000" + b})}}, "ok"},
      {{{7, ArrayOf({"830001" + a, "830000" + a})}}, "damaged"},
      {{{7, ArrayOf({"830000" + a, "830000" + a})}}, "damaged"},
      {{{7, ArrayOf({"830000" + b, "830000" + a})}}, "damaged"},
      {{{7, ArrayOf({"830100" + a})}}, "damaged"},
      {{{7, ArrayOf({"830000" + Map(With(Directory(), {{20, "81820000"}}))})}}, "damaged"},
      {{{8, "81820000"}}, "ok"},
      {{{8, "81820100"}}, "damaged"},
      {{{8, "82820001820000"}}, "damaged"},
      {{{9, "81" + pin}}, "ok"},
      {{{9, "82" + pin + pin}}, "damaged"},
      {{{10, "820000"}}, "ok"},
      {{{11, "80"}}, "damaged"},
      {{{12, "00"}}, "newer"},
      {{{3,
         "81"
         "88" +
             IdOf("01") + WriterOf("bb") +
             "01820000820000"
             "1864" +
             WriterOf("77")}},
       "damaged"},
  };
  for (const Case& item : cases) {
    EXPECT_EQ(ReadCheckpoint(With(EmptyCheckpoint(), item.changes)), item.expected)
        << ::testing::PrintToString(item.changes);
  }
}

crypto::CofferSeed Seed() {
  crypto::CofferSeed seed;
  std::iota(seed.ExposeMutable().begin(), seed.ExposeMutable().end(), uint8_t{1});
  return seed;
}

Commit SampleCommit() {
  Fields file = With(File(), {{9, "03"}, {11, "43010203"}, {200, "01"}});
  const Bytes body = FromHex(Map(With(
      EmptyCommit(), {{11, "81" + Map(file)}, {13, "8182" + IdOf("01") + "f5"}, {15, "6161"}})));
  return internal::ReadCommitBody(body).value();
}

TEST(RecordsTest, EveryFlippedBitIsRefused) {
  const crypto::CofferSeed seed = Seed();
  const Commit commit = SampleCommit();
  const SecretBuffer encoded = EncodeCommit(commit, seed).value();
  Bytes bytes(encoded.Expose().begin(), encoded.Expose().end());
  bytes.resize(bytes.size() + 20);
  ASSERT_TRUE(DecodeCommit(bytes, seed, commit.vault).ok());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    ASSERT_FALSE(DecodeCommit(bytes, seed, commit.vault).ok()) << bit;
    bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
  }
  for (size_t size = 0; size < encoded.size(); ++size) {
    ASSERT_FALSE(DecodeCommit(ByteSpan(bytes).first(size), seed, commit.vault).ok()) << size;
  }
}

TEST(RecordsTest, OthersRecordsAreForged) {
  const crypto::CofferSeed seed = Seed();
  const Commit commit = SampleCommit();
  const SecretBuffer encoded = EncodeCommit(commit, seed).value();
  VaultId other = commit.vault;
  other[0] = 0;
  EXPECT_EQ(DecodeCommit(encoded.Expose(), seed, other).error().code(), ErrorCode::kForged);
  const crypto::CofferSeed other_seed;
  EXPECT_EQ(DecodeCommit(encoded.Expose(), other_seed, commit.vault).error().code(),
            ErrorCode::kForged);
  const Checkpoint checkpoint =
      internal::ReadCheckpointBody(FromHex(Map(EmptyCheckpoint()))).value();
  const SecretBuffer sealed = EncodeCheckpoint(checkpoint, seed).value();
  EXPECT_TRUE(DecodeCheckpoint(sealed.Expose(), seed, checkpoint.vault).ok());
  EXPECT_EQ(DecodeCheckpoint(sealed.Expose(), other_seed, checkpoint.vault).error().code(),
            ErrorCode::kForged);
  EXPECT_EQ(DecodeCommit(sealed.Expose(), seed, checkpoint.vault).error().code(),
            ErrorCode::kDamaged);
}

TEST(RecordsTest, SegmentIndexes) {
  const crypto::CofferSeed seed = Seed();
  SegmentIndex index;
  index.blobs = {{.offset = 0, .stored_size = 5, .size = 5},
                 {.offset = 5, .stored_size = 1, .size = 1}};
  Bytes bytes = EncodeSegmentIndex(index, seed).value();
  const auto decoded = DecodeSegmentIndex(bytes, seed, index.vault);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->blobs.size(), 2U);
  EXPECT_EQ(decoded->blobs[1].offset, 5U);
  bytes.back() ^= 1;
  EXPECT_EQ(DecodeSegmentIndex(bytes, seed, index.vault).error().code(), ErrorCode::kForged);

  const auto trailer = EncodeSegmentTrailer({.index_offset = 6, .index_size = 100});
  EXPECT_EQ(hex::Encode(trailer), "636f667365676d3100000000000000060000000000000064");
  EXPECT_EQ(DecodeSegmentTrailer(trailer)->index_size, 100U);
  EXPECT_FALSE(DecodeSegmentTrailer(ByteSpan(trailer).first(23)).ok());
}

// The formula of the document, in its own words.
TEST(RecordsTest, PaddedSizes) {
  EXPECT_EQ(PaddedSize(0), 0U);
  EXPECT_EQ(PaddedSize(1), 1U);
  EXPECT_EQ(PaddedSize(9), 10U);
  EXPECT_EQ(PaddedSize(100), 104U);
  EXPECT_EQ(PaddedSize(1000), 1024U);
  EXPECT_EQ(PaddedSize(1025), 1088U);
  EXPECT_EQ(PaddedSize(16 << 20), uint64_t{16} << 20);
  EXPECT_EQ(PaddedSize((16 << 20) + 1), (uint64_t{16} << 20) + (uint64_t{1} << 19));
}

}  // namespace
}  // namespace coffer::vault
