// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/format/vault.md, as the second reader made it
// (tests/reader/example.json): read, and written to the same bytes.
#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coffer/base/testing/hex.h"
#include "coffer/crypto/sha2.h"
#include "coffer/vault/records.h"
#include "coffer/vault/segment.h"
#include "coffer/vault/vault_file.h"

namespace coffer::vault {
namespace {

using Json = nlohmann::json;
using testing::FromHex;

Bytes BytesOf(const Json& json) { return FromHex(json.get<std::string>()); }

template <size_t N>
std::array<uint8_t, N> ArrayOf(const Json& json) {
  const Bytes bytes = BytesOf(json);
  std::array<uint8_t, N> array{};
  EXPECT_EQ(bytes.size(), N);
  std::ranges::copy(bytes, array.begin());
  return array;
}

class VaultExample : public ::testing::Test {
 protected:
  VaultExample() {
    std::ifstream file(COFFER_VAULT_EXAMPLE);
    example_ = Json::parse(file);
    std::ranges::copy(BytesOf(example_["seed"]), seed_.ExposeMutable().begin());
    vault_ = ArrayOf<16>(example_["vault_id"]);
    writer_ = ArrayOf<16>(example_["writer"]);
  }

  // The plaintext of a record without the zeros behind it.
  static Bytes Unpadded(const Json& record) {
    Bytes plaintext = BytesOf(record["plaintext"]);
    EXPECT_EQ(plaintext.size(), record["padded_size"].get<size_t>());
    plaintext.resize(record["size"].get<size_t>());
    return plaintext;
  }

  Json example_;
  crypto::CofferSeed seed_;
  VaultId vault_{};
  WriterId writer_{};
};

TEST_F(VaultExample, KeysOfMacs) {
  const auto expect = [&](const Result<MacKey>& key, const char* name) {
    ASSERT_TRUE(key.ok());
    EXPECT_TRUE(std::ranges::equal(key->Expose(), BytesOf(example_["keys"][name]))) << name;
  };
  expect(VaultMacKey(seed_, vault_), "coffer_vault");
  expect(WriterMacKey(seed_, vault_, writer_, kOwnerCapability), "writer");
  expect(CheckpointMacKey(seed_, vault_), "checkpoint");
}

TEST_F(VaultExample, CofferVault) {
  const VaultFile file = VaultFile::FromSeed(seed_, vault_).value();
  const Bytes bytes = EncodeVaultFile(file, seed_).value();
  const Json& expected = example_["coffer_vault"];
  const Bytes head = BytesOf(expected["head"]);
  ASSERT_EQ(bytes.size(), 16948u);
  EXPECT_TRUE(std::ranges::equal(ByteSpan(bytes).first(head.size()), head));
  EXPECT_TRUE(
      std::ranges::equal(ByteSpan(bytes).subspan(16884, 32), BytesOf(expected["checksum"])));
  EXPECT_TRUE(std::ranges::equal(ByteSpan(bytes).last(32), BytesOf(expected["mac"])));
  EXPECT_EQ(crypto::Sha256(bytes).value(), ArrayOf<32>(expected["sha256"]));
}

TEST_F(VaultExample, Commit) {
  const Json& record = example_["commit"];
  const vault::Commit commit = DecodeCommit(BytesOf(record["plaintext"]), seed_, vault_).value();
  EXPECT_EQ(commit.writer, writer_);
  EXPECT_EQ(commit.entries.size(), 2u);
  const SecretBuffer encoded = EncodeCommit(commit, seed_).value();
  EXPECT_TRUE(std::ranges::equal(encoded.Expose(), Unpadded(record)));
}

TEST_F(VaultExample, Checkpoint) {
  const Json& record = example_["checkpoint"];
  const vault::Checkpoint checkpoint =
      DecodeCheckpoint(BytesOf(record["plaintext"]), seed_, vault_).value();
  const SecretBuffer encoded = EncodeCheckpoint(checkpoint, seed_).value();
  EXPECT_TRUE(std::ranges::equal(encoded.Expose(), Unpadded(record)));
}

TEST_F(VaultExample, Segment) {
  const Json& segment = example_["segment"];
  const Bytes plaintext = BytesOf(segment["plaintext"]);  // its zeros are before the trailer
  const ByteSpan trailer_bytes = ByteSpan(plaintext).last(kSegmentTrailerSize);
  const SegmentTrailer trailer = DecodeSegmentTrailer(trailer_bytes).value();
  EXPECT_TRUE(std::ranges::equal(EncodeSegmentTrailer(trailer), trailer_bytes));
  const ByteSpan index_bytes =
      ByteSpan(plaintext).subspan(trailer.index_offset, trailer.index_size);
  const SegmentIndex index = DecodeSegmentIndex(index_bytes, seed_, vault_).value();
  EXPECT_EQ(EncodeSegmentIndex(index, seed_).value(),
            Bytes(index_bytes.begin(), index_bytes.end()));
  ASSERT_EQ(index.blobs.size(), segment["pieces"].size());
  std::vector<Id> hashes;
  for (size_t i = 0; i < index.blobs.size(); ++i) {
    const IndexedBlob& blob = index.blobs[i];
    const ByteSpan piece = ByteSpan(plaintext).subspan(blob.offset, blob.stored_size);
    EXPECT_TRUE(std::ranges::equal(piece, BytesOf(segment["pieces"][i])));
    EXPECT_EQ(HashPiece(piece), ArrayOf<32>(segment["hashes"][i]));
    EXPECT_EQ(blob.hash, HashPiece(piece));
    hashes.push_back(blob.hash);
  }
  EXPECT_EQ(HashPieceHashes(hashes), ArrayOf<32>(example_["content_hash"]["of_joined"]));
  EXPECT_EQ(HashPiece({}), ArrayOf<32>(example_["content_hash"]["nothing"]));
}

TEST_F(VaultExample, PaddedSizes) {
  for (const Json& item : example_["padded_sizes"]) {
    EXPECT_EQ(PaddedSize(item[0].get<uint64_t>()), item[1].get<uint64_t>()) << item;
  }
}

}  // namespace
}  // namespace coffer::vault
