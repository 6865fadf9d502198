// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/segment.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "coffer/store/testing/fault_store.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/store/testing/objects.h"

namespace coffer::vault {
namespace {

class SegmentTest : public ::testing::Test {
 protected:
  SegmentTest() {
    std::ranges::fill(seed_.ExposeMutable(), uint8_t{7});
    author_.vault.fill(1);
    author_.writer.fill(2);
    author_.seed = &seed_;
    EXPECT_TRUE(store_.Prepare({}).ok());
    identity_ = std::make_unique<age::CofferIdentity>(
        age::CofferIdentity::Generate(os::SystemRandom()).value());
    recipient_ = std::make_unique<age::CofferRecipient>(
        age::CofferRecipient::Parse(identity_->ToRecipient().value()->ToString()).value());
  }

  std::unique_ptr<ObjectReader> Publish(SealedObject sealed) {
    const std::string key = sealed.upload->key();
    const std::vector<std::string> prefixes = {key.substr(0, key.rfind('/'))};
    EXPECT_TRUE(store_.Prepare(prefixes).ok());
    std::vector<std::unique_ptr<store::Upload>> uploads;
    uploads.push_back(std::move(sealed.upload));
    EXPECT_TRUE(store_.Publish(std::move(uploads)).ok());
    return ObjectReader::Open(store_, ObjectClass::kSegment, sealed.id, *identity_).value();
  }

  std::unique_ptr<SegmentWriter> Begin() {
    return SegmentWriter::Begin(store_, *recipient_, os::SystemRandom(), author_, 1000).value();
  }

  // An object with any plaintext in a segment's place.
  std::unique_ptr<ObjectReader> Plain(ByteSpan plaintext) {
    return Publish(
        SealObject(store_, *recipient_, os::SystemRandom(), ObjectClass::kSegment, plaintext, false)
            .value());
  }

  ErrorCode IndexCode(ObjectReader& reader) {
    const Result<SegmentIndex> index = ReadSegmentIndex(reader, seed_, author_.vault);
    return index.ok() ? ErrorCode::kAlreadyExists : index.error().code();
  }

  crypto::CofferSeed seed_;
  SegmentAuthor author_;
  std::unique_ptr<age::CofferIdentity> identity_;
  std::unique_ptr<age::CofferRecipient> recipient_;
  store::MemoryStore store_;
};

TEST_F(SegmentTest, HoldsBlobsAndTheirIndex) {
  for (const bool padding : {false, true}) {
    std::vector<Bytes> pieces;
    for (const size_t size : {1U, 65536U, 70001U, 3U}) {
      pieces.emplace_back(size, static_cast<uint8_t>(pieces.size() + 1));
    }
    auto writer = Begin();
    std::vector<uint64_t> offsets;
    for (const Bytes& piece : pieces) {
      offsets.push_back(writer->Append(piece, HashPiece(piece)).value());
    }
    EXPECT_EQ(writer->blob_count(), pieces.size());
    EXPECT_EQ(writer->data_size(), 1U + 65536 + 70001 + 3);
    auto reader = Publish(writer->Finish(padding).value());
    EXPECT_EQ(reader->plaintext_size() == PaddedSize(reader->plaintext_size()), padding);
    const SegmentIndex index = ReadSegmentIndex(*reader, seed_, author_.vault).value();
    EXPECT_EQ(index.writer, author_.writer);
    ASSERT_EQ(index.blobs.size(), pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(index.blobs[i].offset, offsets[i]);
      EXPECT_EQ(index.blobs[i].size, pieces[i].size());
      EXPECT_EQ(index.blobs[i].hash, HashPiece(pieces[i]));
      Bytes out(pieces[i].size());
      ASSERT_TRUE(reader->ReadAt(offsets[i], out).ok());
      EXPECT_EQ(out, pieces[i]);
    }
  }
}

TEST_F(SegmentTest, AnotherSeedOrVaultIsForged) {
  auto writer = Begin();
  const Bytes piece(10, 5);
  ASSERT_TRUE(writer->Append(piece, HashPiece(piece)).ok());
  auto reader = Publish(writer->Finish(true).value());
  crypto::CofferSeed other = seed_.Duplicate();
  other.ExposeMutable()[0] ^= 1;
  EXPECT_EQ(ReadSegmentIndex(*reader, other, author_.vault).error().code(), ErrorCode::kForged);
  VaultId vault = author_.vault;
  vault[0] ^= 1;
  EXPECT_EQ(ReadSegmentIndex(*reader, seed_, vault).error().code(), ErrorCode::kForged);
}

TEST_F(SegmentTest, WhatDoesNotDescribeItselfIsDamage) {
  EXPECT_EQ(IndexCode(*Plain({})), ErrorCode::kDamaged);
  EXPECT_EQ(IndexCode(*Plain(Bytes(23))), ErrorCode::kDamaged);
  EXPECT_EQ(IndexCode(*Plain(Bytes(100))), ErrorCode::kDamaged);
  for (const SegmentTrailer& trailer :
       {SegmentTrailer{.index_offset = 101, .index_size = 0},
        SegmentTrailer{.index_offset = 0, .index_size = 101},
        SegmentTrailer{.index_offset = 50, .index_size = UINT64_MAX},
        SegmentTrailer{.index_offset = UINT64_MAX, .index_size = 2}}) {
    Bytes plaintext(100);
    Append(plaintext, EncodeSegmentTrailer(trailer));
    EXPECT_EQ(IndexCode(*Plain(plaintext)), ErrorCode::kDamaged);
  }

  // A right MAC over blobs that end before the index or within it; and padding with a one. What no
  // index says is not to be had from the encoder: records_test.cc.
  const Bytes data(10, 5);
  const auto make = [&](std::vector<IndexedBlob> blobs, uint8_t pad) {
    SegmentIndex index;
    index.vault = author_.vault;
    index.writer = author_.writer;
    index.blobs = std::move(blobs);
    const Bytes encoded = EncodeSegmentIndex(index, seed_).value();
    Bytes plaintext = data;
    Append(plaintext, encoded);
    plaintext.push_back(pad);
    Append(plaintext, EncodeSegmentTrailer({.index_offset = 10, .index_size = encoded.size()}));
    return IndexCode(*Plain(plaintext));
  };
  const auto blob = [](uint64_t offset, uint64_t size) {
    return IndexedBlob{.offset = offset, .stored_size = size, .size = size, .codec = 0, .hash = {}};
  };
  EXPECT_EQ(make({blob(0, 4), blob(4, 6)}, 0), ErrorCode::kAlreadyExists);  // that is: good
  EXPECT_EQ(make({blob(0, 4), blob(4, 6)}, 1), ErrorCode::kDamaged);
  EXPECT_EQ(make({blob(0, 9)}, 0), ErrorCode::kDamaged);
  EXPECT_EQ(make({blob(0, 11)}, 0), ErrorCode::kDamaged);
}

TEST_F(SegmentTest, AFailedWriteIsReportedAndLeavesNothing) {
  store::FaultStore faults(store_);
  faults.FailNth(store::StoreCall::kWrite, 3, ENOSPC);
  auto writer =
      SegmentWriter::Begin(faults, *recipient_, os::SystemRandom(), author_, 1000).value();
  const Bytes piece(100000, 5);
  const Result<uint64_t> offset = writer->Append(piece, HashPiece(piece));
  ASSERT_FALSE(offset.ok());
  EXPECT_EQ(offset.error().system_errno(), ENOSPC);
  writer.reset();
  EXPECT_TRUE(store::ObjectKeys(store_).empty());
}

}  // namespace
}  // namespace coffer::vault
