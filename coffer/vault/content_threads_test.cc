// SPDX-License-Identifier: Apache-2.0
// Files' data written by several threads, and read by several.
#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

#include "coffer/vault/testing/content_vault.h"

namespace coffer::vault {
namespace {

// A dozen jobs of the writer's, since it gathers at most 512 files for one; little data, for the
// sake of ThreadSanitizer.
constexpr size_t kFileCount = 6000;
constexpr size_t kFileSize = 60;

// Every third file has what another one has.
Bytes FileOf(size_t number) { return NoiseOf(kFileSize, number % 3 == 2 ? number - 1 : number); }

TEST(ContentThreadsTest, WrittenAndReadByMany) {
  ContentVault vault;
  const auto writer = vault.Writer({.segment_size = 100 * kFileSize, .thread_count = 4});
  for (size_t i = 0; i < kFileCount; ++i) {
    ASSERT_EQ(ContentVault::Add(*writer, FileOf(i)).value(), i);
  }
  ASSERT_TRUE(writer->Flush().ok());
  EXPECT_EQ(writer->read_size(), kFileCount * kFileSize);
  EXPECT_EQ(writer->new_size(), kFileCount / 3 * 2 * kFileSize);
  std::vector<StoredContent> contents;
  for (size_t i = 0; i < kFileCount; ++i) contents.push_back(writer->Take(i));
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = thread; i < kFileCount; i += 61) {
        EXPECT_TRUE(vault.Read(contents[i]).value() == FileOf(i)) << i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ContentThreadsTest, PiecesAreReadAhead) {
  ContentVault vault;
  const auto writer = vault.Writer({.thread_count = 2});
  const Bytes data = NoiseOf(2 * static_cast<size_t>(kPieceSize) + 1, 1);
  const size_t ticket = ContentVault::Add(*writer, data).value();
  ASSERT_TRUE(writer->Flush().ok());
  const StoredContent content = writer->Take(ticket);
  std::thread other([&] { EXPECT_TRUE(vault.Read(content).value() == data); });
  EXPECT_TRUE(vault.Read(content).value() == data);
  other.join();
}

TEST(ContentThreadsTest, FailureWhileOthersWrite) {
  ContentVault vault;
  vault.faults.FailNth(store::StoreCall::kWrite, 6, EIO, SIZE_MAX);
  const auto writer = vault.Writer({.thread_count = 4});
  Status status;
  for (size_t i = 0; i < kFileCount && status.ok(); ++i) {
    const Result<size_t> added = ContentVault::Add(*writer, NoiseOf(kFileSize, i));
    if (!added.ok()) status = added.error();
  }
  const Status flushed = writer->Flush();
  ASSERT_FALSE(flushed.ok());
  EXPECT_EQ(flushed.error().system_errno(), EIO);
  EXPECT_TRUE(writer->failed());
}

TEST(ContentThreadsTest, EndsWithWorkUnderWay) {
  ContentVault vault;
  const auto writer = vault.Writer({.segment_size = 100 * kFileSize, .thread_count = 4});
  for (size_t i = 0; i < kFileCount / 3; ++i) {
    EXPECT_TRUE(ContentVault::Add(*writer, NoiseOf(kFileSize, i)).ok());
  }
}

}  // namespace
}  // namespace coffer::vault
