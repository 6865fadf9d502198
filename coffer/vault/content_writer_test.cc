// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/content_writer.h"

#include <array>
#include <cerrno>

#include <gtest/gtest.h>

#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/testing/content_vault.h"

namespace coffer::vault {
namespace {

using store::StoreCall;

constexpr auto kPiece = static_cast<size_t>(kPieceSize);
constexpr ContentWriterOptions kOneThread = {.thread_count = 1};

std::vector<size_t> AddAll(ContentWriter& writer, const std::vector<Bytes>& files) {
  std::vector<size_t> tickets;
  tickets.reserve(files.size());
  for (const Bytes& file : files) tickets.push_back(ContentVault::Add(writer, file).value());
  return tickets;
}

std::vector<Bytes> SmallFiles(size_t count, size_t size, uint64_t seed) {
  std::vector<Bytes> files;
  for (size_t i = 0; i < count; ++i) files.push_back(NoiseOf(size, seed + i));
  return files;
}

TEST(ContentWriterTest, SmallSizes) {
  ContentVault vault;
  const auto writer = vault.Writer();
  std::vector<Bytes> files;
  uint64_t total = 0;
  for (const size_t size : {0U, 1U, 65535U, 65536U, 65537U, 1048576U}) {
    files.push_back(NoiseOf(size, size));
    total += size;
  }
  const std::vector<size_t> tickets = AddAll(*writer, files);
  EXPECT_EQ(writer->read_size(), total);
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(writer->new_size(), total);
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(tickets[i], i);
    const StoredContent content = writer->Take(tickets[i]);
    EXPECT_EQ(content.size, files[i].size());
    EXPECT_EQ(content.new_size, files[i].size());
    EXPECT_EQ(content.content_hash, HashPiece(files[i]));
    EXPECT_EQ(content.blobs.size(), files[i].empty() ? 0U : 1U);
    EXPECT_TRUE(content.piece_hashes.empty());
    EXPECT_TRUE(vault.Read(content).value() == files[i]) << i;
  }
}

// Files around the size of a piece, of which one begins with another, behind a small one so that
// none begins at the front of a buffer.
TEST(ContentWriterTest, SizesAroundPieces) {
  ContentVault vault;
  const auto writer = vault.Writer();
  const Bytes large = NoiseOf(9 << 20, 1);
  std::vector<Bytes> files = {{1}};
  for (const size_t size : {kPiece - 1, kPiece, kPiece + 1}) {
    files.emplace_back(large.begin(), large.begin() + static_cast<ptrdiff_t>(size));
  }
  files.push_back(large);
  const std::vector<size_t> tickets = AddAll(*writer, files);
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(writer->new_size(), 1 + (kPiece - 1) + kPiece + 1 + (large.size() - kPiece));
  for (size_t i = 0; i < files.size(); ++i) {
    const StoredContent content = writer->Take(tickets[i]);
    const size_t count = (files[i].size() + kPiece - 1) / kPiece;
    EXPECT_EQ(content.size, files[i].size());
    EXPECT_EQ(content.blobs.size(), count);
    EXPECT_EQ(content.piece_hashes.size(), count > 1 ? count : 0);
    for (size_t at = 0; at < content.piece_hashes.size(); ++at) {
      EXPECT_EQ(content.blobs[at].stored_size, std::min(kPiece, files[i].size() - at * kPiece));
    }
    EXPECT_TRUE(vault.Read(content).value() == files[i]) << i;
  }
}

TEST(ContentWriterTest, SourcesThatGiveLittleAtOnce) {
  ContentVault vault;
  const auto writer = vault.Writer();
  const Bytes data = NoiseOf(200000, 3);
  testing::MemorySource source(data, 4099);
  const size_t ticket = writer->Add(source).value();
  ASSERT_TRUE(writer->Flush().ok());
  const StoredContent content = writer->Take(ticket);
  EXPECT_EQ(content.blobs.size(), 1U);
  EXPECT_TRUE(vault.Read(content).value() == data);
}

TEST(ContentWriterTest, ManySmallFilesEndInOneSegment) {
  ContentVault vault;
  const auto writer = vault.Writer({.thread_count = 4});
  const std::vector<Bytes> files = SmallFiles(500, 700, 1);
  const std::vector<size_t> tickets = AddAll(*writer, files);
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(vault.Published().size(), 1U);
  EXPECT_EQ(vault.faults.Count(StoreCall::kBegin), 1U);  // each costs an encapsulation
  for (size_t i = 0; i < files.size(); i += 99) {
    EXPECT_TRUE(vault.Read(writer->Take(tickets[i])).value() == files[i]) << i;
  }
}

TEST(ContentWriterTest, StoresNothingTwice) {
  ContentVault vault;
  const std::vector<Bytes> files = SmallFiles(3, 5000, 1);
  StoredContent first;
  {
    const auto writer = vault.Writer();
    const std::vector<size_t> tickets = AddAll(
        *writer, {files[0], files[1], files[0], Bytes(files[0].begin(), files[0].end() - 1)});
    ASSERT_TRUE(writer->Flush().ok());
    EXPECT_EQ(writer->new_size(), 5000U + 5000 + 4999);
    first = writer->Take(tickets[0]);
    const StoredContent again = writer->Take(tickets[2]);
    EXPECT_EQ(first.new_size, 5000U);
    EXPECT_EQ(again.new_size, 0U);
    EXPECT_EQ(again.blobs, first.blobs);
    EXPECT_EQ(again.content_hash, first.content_hash);
  }
  const auto writer = vault.Writer();
  const size_t ticket = ContentVault::Add(*writer, files[0]).value();
  EXPECT_TRUE(writer->Flush().ok());
  EXPECT_EQ(vault.faults.Count(StoreCall::kBegin), 1U);
  EXPECT_EQ(writer->new_size(), 0U);
  const StoredContent content = writer->Take(ticket);
  EXPECT_EQ(content.blobs, first.blobs);
  EXPECT_TRUE(vault.Read(content).value() == files[0]);
}

TEST(ContentWriterTest, GoesOnAfterAFlush) {
  ContentVault vault;
  const auto writer = vault.Writer(kOneThread);
  EXPECT_TRUE(writer->Flush().ok());
  for (size_t i = 0; i < 3; ++i) {
    const Bytes data = NoiseOf(1000, i);
    const size_t ticket = ContentVault::Add(*writer, data).value();
    EXPECT_EQ(ticket, i);
    ASSERT_TRUE(writer->Flush().ok());
    EXPECT_EQ(vault.Published().size(), i + 1);
    EXPECT_TRUE(vault.Read(writer->Take(ticket)).value() == data);
  }
}

TEST(ContentWriterTest, AnotherSegmentBeforeOneIsTooLarge) {
  ContentVault vault;
  const auto writer = vault.Writer({.segment_size = 3000, .padding = false, .thread_count = 1});
  std::vector<Bytes> files = SmallFiles(7, 1000, 1);  // three, three, one
  files.push_back(NoiseOf(2001, 50));                 // alone, since 1000 and 2001 are too much
  files.push_back(NoiseOf(9000, 51));                 // alone
  files.push_back({1});
  const std::vector<size_t> tickets = AddAll(*writer, files);
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(vault.Published().size(), 6U);
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < files.size(); ++i) {
    const StoredContent content = writer->Take(tickets[i]);
    numbers.push_back(content.blobs.at(0).segment);
    EXPECT_TRUE(vault.Read(content).value() == files[i]) << i;
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 0, 0, 1, 1, 1, 2, 3, 4, 5}));
}

TEST(ContentWriterTest, AnotherSegmentAfterManyBlobs) {
  ContentVault vault;
  const auto writer = vault.Writer(kOneThread);
  for (uint32_t i = 0; i <= kMaxSegmentBlobCount; ++i) {
    const std::array<uint8_t, 2> data = {static_cast<uint8_t>(i), static_cast<uint8_t>(i >> 8)};
    ASSERT_EQ(ContentVault::Add(*writer, data).value(), i);
  }
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(vault.Published().size(), 2U);
  EXPECT_EQ(writer->Take(kMaxSegmentBlobCount - 1).blobs.at(0).segment, 0U);
  EXPECT_EQ(writer->Take(kMaxSegmentBlobCount).blobs.at(0).segment, 1U);
}

// More segments than may wait to be published.
constexpr ContentWriterOptions kManySegments = {.segment_size = 500, .thread_count = 2};
constexpr size_t kManyFiles = 4000;

TEST(ContentWriterTest, SegmentsArePublishedWhileOthersAreWritten) {
  ContentVault vault;
  const auto writer = vault.Writer(kManySegments);
  std::vector<size_t> tickets;
  for (size_t i = 0; i < kManyFiles; ++i) {
    tickets.push_back(ContentVault::Add(*writer, NoiseOf(4 + i % 3, i)).value());
  }
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_GT(vault.segments.size(), 32U);
  EXPECT_EQ(vault.Published().size(), vault.segments.size());
  EXPECT_GE(vault.faults.Count(StoreCall::kPublish), 2U);
  EXPECT_LE(vault.faults.Count(StoreCall::kPublish), vault.segments.size() / 4 + 1);
  for (const size_t i : {size_t{0}, kManyFiles / 2, kManyFiles - 1}) {
    EXPECT_TRUE(vault.Read(writer->Take(tickets[i])).value() == NoiseOf(4 + i % 3, i));
  }
}

TEST(ContentWriterTest, SegmentsThatCannotBePublishedEndTheWriter) {
  for (const size_t n : {1U, 2U}) {
    ContentVault vault;
    vault.faults.FailNth(StoreCall::kPublish, n, ENOSPC);
    const auto writer = vault.Writer(kManySegments);
    Status status;
    for (size_t i = 0; i < kManyFiles && status.ok(); ++i) {
      const Result<size_t> added = ContentVault::Add(*writer, NoiseOf(4 + i % 3, i));
      if (!added.ok()) status = added.error();
    }
    const Status flushed = writer->Flush();
    ASSERT_FALSE(flushed.ok());
    EXPECT_EQ(flushed.error().system_errno(), ENOSPC);
    EXPECT_TRUE(writer->failed());
    EXPECT_EQ(ContentVault::Add(*writer, {}).error().system_errno(), ENOSPC);
  }
}

TEST(ContentWriterTest, AnErrorOfASourceLosesOneFile) {
  ContentVault vault;
  const auto writer = vault.Writer();
  const Bytes before = NoiseOf(1000, 1);
  const Bytes after = NoiseOf(2000, 2);
  const size_t first = ContentVault::Add(*writer, before).value();
  // One that fails within its first piece, and one of which a piece is on its way already.
  for (const size_t size : {size_t{500}, kPiece + 5}) {
    testing::MemorySource source(NoiseOf(size, 3));
    source.FailAtEnd(Error(ErrorCode::kIo, "the disk is broken"));
    const Result<size_t> lost = writer->Add(source);
    ASSERT_FALSE(lost.ok());
    EXPECT_EQ(lost.error().message(), "the disk is broken");
    EXPECT_FALSE(writer->failed());
  }
  const size_t last = ContentVault::Add(*writer, after).value();
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_TRUE(vault.Read(writer->Take(first)).value() == before);
  EXPECT_TRUE(vault.Read(writer->Take(last)).value() == after);
}

Status WriteTwoSegments(ContentWriter& writer) {
  for (const uint64_t seed : {1U, 2U}) COFFER_TRY(ContentVault::Add(writer, NoiseOf(70000, seed)));
  return writer.Flush();
}

TEST(ContentWriterTest, AnErrorOfTheStoreEndsTheWriter) {
  ContentVault vault;
  os::MemoryFileSystem files;
  store::LocalStore local(files, "/vault");
  ASSERT_TRUE(local.Prepare(ContentVault::SegmentPrefixes()).ok());
  size_t failures = 0;
  for (const StoreCall call :
       {StoreCall::kBegin, StoreCall::kWrite, StoreCall::kFinish, StoreCall::kPublish}) {
    for (size_t n = 1;; ++n) {
      store::FaultStore faults(local);
      faults.FailNth(call, n, ENOSPC);
      SegmentTable segments;
      PieceCatalogue pieces;
      auto writer =
          ContentWriter::Create(faults, vault.recipient, os::SystemRandom(), vault.author, segments,
                                pieces, {.segment_size = 70000, .thread_count = 2})
              .value();
      const Status status = WriteTwoSegments(*writer);
      EXPECT_EQ(status.ok(), !faults.struck());
      EXPECT_EQ(writer->failed(), faults.struck());
      if (!status.ok()) {
        EXPECT_EQ(status.error().system_errno(), ENOSPC);
        EXPECT_EQ(ContentVault::Add(*writer, {}).error().system_errno(), ENOSPC);
        EXPECT_EQ(writer->Flush().error().system_errno(), ENOSPC);
        ++failures;
      }
      writer.reset();
      EXPECT_TRUE(os::ListTestDirectory(files, "/vault/tmp").empty());
      if (!faults.struck()) break;
    }
  }
  EXPECT_GE(failures, 9U);
}

}  // namespace
}  // namespace coffer::vault
