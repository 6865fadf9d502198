// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/content_reader.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "coffer/crypto/kt128.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/vault/segment.h"

namespace coffer::vault {
namespace {

class ContentReaderTest : public ::testing::Test {
 protected:
  ContentReaderTest() {
    author_.seed = &seed_;
    EXPECT_TRUE(store_.Prepare({}).ok());
    const auto identity = age::CofferIdentity::Generate(os::SystemRandom()).value();
    recipient_ = std::make_unique<age::CofferRecipient>(
        age::CofferRecipient::Parse(identity.ToRecipient().value()->ToString()).value());
  }

  // Stores `data` in one segment, behind a byte of something else.
  Entry Store(const Bytes& data) {
    auto writer =
        SegmentWriter::Begin(store_, *recipient_, os::SystemRandom(), author_, {}).value();
    const Bytes other = {1};
    EXPECT_TRUE(writer->Append(other, HashPiece(other)).ok());
    Entry entry;
    entry.size = data.size();
    const uint32_t number = segments_.Reserve();
    std::vector<Id> hashes;
    for (size_t at = 0; at < data.size(); at += kPieceSize) {
      const ByteSpan piece =
          ByteSpan(data).subspan(at, std::min<size_t>(kPieceSize, data.size() - at));
      hashes.push_back(HashPiece(piece));
      const uint64_t offset = writer->Append(piece, hashes.back()).value();
      entry.blobs.push_back({.segment = number, .offset = offset, .stored_size = piece.size()});
    }
    entry.content_hash = HashPiece(data);
    if (hashes.size() > 1) {
      Bytes joined;
      for (const Id& hash : hashes) Append(joined, hash);
      crypto::Kt128Hash(joined, AsBytes("coffer/pieces/v1"), entry.content_hash);
      entry.piece_hashes = hashes;
    }
    SealedObject sealed = writer->Finish(true).value();
    key_ = sealed.upload->key();
    const std::vector<std::string> prefixes = {key_.substr(0, key_.rfind('/'))};
    EXPECT_TRUE(store_.Prepare(prefixes).ok());
    std::vector<std::unique_ptr<store::Upload>> uploads;
    uploads.push_back(std::move(sealed.upload));
    EXPECT_TRUE(store_.Publish(std::move(uploads)).ok());
    segments_.Set(number, {.id = sealed.id,
                           .object_size = sealed.object_size,
                           .header_size = sealed.header_size,
                           .file_key = std::move(sealed.file_key)});
    return entry;
  }

  Status Read(const Entry& entry) {
    out_.clear();
    ContentReader reader(store_, segments_);
    return reader.Read(entry, [&](uint64_t offset, ByteSpan bytes) {
      EXPECT_EQ(offset, out_.size());
      Append(out_, bytes);
      return OkStatus();
    });
  }

  crypto::CofferSeed seed_;
  SegmentAuthor author_;
  std::unique_ptr<age::CofferRecipient> recipient_;
  store::MemoryStore store_;
  SegmentTable segments_;
  std::string key_;
  Bytes out_;
};

Bytes Pattern(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return bytes;
}

TEST_F(ContentReaderTest, EmptyInlineAndStored) {
  Entry entry;
  entry.content_hash = HashPiece({});
  EXPECT_TRUE(Read(entry).ok());
  EXPECT_TRUE(out_.empty());
  entry.inline_data = {1, 2, 3};
  entry.size = 5;
  entry.holes = {{.offset = 1, .size = 2}};
  entry.content_hash = HashPiece(entry.inline_data);
  EXPECT_TRUE(Read(entry).ok());
  EXPECT_EQ(out_, entry.inline_data);
  entry.inline_data[0] ^= 1;
  EXPECT_EQ(Read(entry).error().code(), ErrorCode::kDamaged);
  for (const size_t size : {size_t{1}, size_t{kPieceSize}, size_t{kPieceSize} + 1}) {
    const Bytes data = Pattern(size);
    EXPECT_TRUE(Read(Store(data)).ok());
    EXPECT_TRUE(out_ == data) << size;
  }
}

TEST_F(ContentReaderTest, NothingOfAPieceWithAWrongHashIsHandedOn) {
  const Entry good = Store(Pattern(kPieceSize + 1));
  Entry entry = good;
  entry.content_hash[0] ^= 1;
  EXPECT_EQ(Read(entry).error().code(), ErrorCode::kDamaged);
  EXPECT_TRUE(out_.empty());
  entry = good;
  entry.blobs[1].offset -= 1;
  const Status status = Read(entry);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kDamaged);
  EXPECT_NE(status.error().message().find(key_), std::string::npos);
  EXPECT_EQ(out_.size(), kPieceSize);
  entry = good;
  entry.blobs.pop_back();
  EXPECT_EQ(Read(entry).error().code(), ErrorCode::kDamaged);
  entry = good;
  entry.size = 1;
  entry.holes = {{.offset = 0, .size = 2}};
  EXPECT_EQ(Read(entry).error().code(), ErrorCode::kDamaged);
  entry = good;
  entry.blobs[0].codec = 1;
  EXPECT_EQ(Read(entry).error().code(), ErrorCode::kNeedsNewer);
}

// Pieces are fetched ahead: an error of the one that takes them ends that, at each of them.
TEST_F(ContentReaderTest, ATakerThatFails) {
  const Entry entry = Store(Pattern(2 * kPieceSize + 5));
  for (uint64_t failing = 0; failing < 3; ++failing) {
    ContentReader reader(store_, segments_);
    uint64_t calls = 0;
    const Status status = reader.Read(entry, [&](uint64_t offset, ByteSpan bytes) -> Status {
      EXPECT_EQ(offset, calls * kPieceSize);
      EXPECT_EQ(bytes.size(), calls == 2 ? 5 : kPieceSize);
      if (calls++ == failing) return Error(ErrorCode::kIo, "the disk is full");
      return OkStatus();
    });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message(), "the disk is full");
    EXPECT_EQ(calls, failing + 1);
  }
}

TEST_F(ContentReaderTest, DamagedSegment) {
  const Entry entry = Store(Pattern(1000));
  Bytes object = store_.Get(key_);
  object[object.size() - 900] ^= 1;
  store_.Put(key_, object);
  EXPECT_EQ(Read(entry).error().code(), ErrorCode::kDamaged);
  EXPECT_TRUE(out_.empty());
}

}  // namespace
}  // namespace coffer::vault
