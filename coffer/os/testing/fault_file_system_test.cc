// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/fault_file_system.h"

#include <errno.h>

#include <string>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

class FaultFileSystemTest : public testing::Test {
 protected:
  std::unique_ptr<File> Opened() {
    OpenOptions options;
    options.access = Access::kReadWrite;
    options.creation = Creation::kMayExist;
    return std::move(fs_.Open("/f", options)).value();
  }
  MemoryFileSystem memory_;
  FaultFileSystem fs_{memory_};
};

TEST_F(FaultFileSystemTest, SkipsASync) {
  const auto file = Opened();
  ASSERT_TRUE(IsOk(file->Write(AsBytes("x"))));
  fs_.SkipNthSync(2);
  EXPECT_TRUE(IsOk(fs_.SyncDirectory("/")));
  EXPECT_FALSE(fs_.struck());
  EXPECT_TRUE(IsOk(file->Sync()));
  EXPECT_TRUE(fs_.struck());
  EXPECT_EQ(fs_.SyncCount(), 2u);
  EXPECT_EQ(ReadTestFile(*memory_.CrashDroppingUnsynced(), "/f"), "");
  EXPECT_TRUE(IsOk(file->Sync()));
  EXPECT_EQ(ReadTestFile(*memory_.CrashDroppingUnsynced(), "/f"), "x");
  fs_.SkipNthSync(1);
  WriteTestFile(memory_, "/g", "");
  EXPECT_TRUE(IsOk(fs_.SyncDirectory("/")));
  EXPECT_FALSE(TestFileExists(*memory_.CrashDroppingUnsynced(), "/g"));
}

TEST_F(FaultFileSystemTest, CountsByKind) {
  const auto file = Opened();
  (void)file->Write(AsBytes("x"));
  (void)file->WriteAt(0, AsBytes("x"));
  (void)file->Sync();
  (void)fs_.SyncDirectory("/");
  (void)fs_.Stat("/f");
  EXPECT_EQ(fs_.Count(Call::kCreate), 1u);
  EXPECT_EQ(fs_.Count(Call::kOpen), 0u);
  EXPECT_EQ(fs_.Count(Call::kWrite), 2u);
  EXPECT_EQ(fs_.SyncCount(), 2u);
  EXPECT_EQ(fs_.TotalCount(), 6u);
  fs_.ResetCounts();
  EXPECT_EQ(fs_.TotalCount(), 0u);
}

TEST_F(FaultFileSystemTest, TheNthOfAKindFails) {
  const auto file = Opened();
  fs_.FailNth(Call::kWrite, 2, ENOSPC);
  EXPECT_TRUE(IsOk(file->Write(AsBytes("ab"))));
  EXPECT_FALSE(fs_.struck());
  EXPECT_TRUE(IsOk(file->Sync()));
  EXPECT_EQ(ErrnoOf(file->Write(AsBytes("cdef"))), ENOSPC);
  EXPECT_TRUE(fs_.struck());
  EXPECT_EQ(ReadTestFile(memory_, "/f"), "abcd");  // half of it was written
  EXPECT_TRUE(IsOk(file->Write(AsBytes("gh"))));

  fs_.FailNth(Call::kSync, 1, EIO, 2);
  EXPECT_EQ(ErrnoOf(file->Sync()), EIO);
  EXPECT_EQ(ErrnoOf(file->Sync()), EIO);
  EXPECT_TRUE(IsOk(file->Sync()));
}

TEST_F(FaultFileSystemTest, TheNthOfAnyOrAllOfAKindFail) {
  fs_.FailNthOfAny(2, EACCES);
  EXPECT_TRUE(IsOk(fs_.MakeDirectory("/a", 0755)));
  EXPECT_EQ(ErrnoOf(fs_.MakeDirectory("/b", 0755)), EACCES);
  EXPECT_FALSE(TestFileExists(memory_, "/b"));
  fs_.FailAlways(Call::kUnlink, EROFS);
  EXPECT_EQ(ErrnoOf(fs_.Unlink("/x")), EROFS);
  EXPECT_EQ(ErrnoOf(fs_.Unlink("/x")), EROFS);
  fs_.ClearFaults();
  EXPECT_EQ(ErrnoOf(fs_.Unlink("/x")), ENOENT);
  EXPECT_FALSE(fs_.struck());
}

TEST_F(FaultFileSystemTest, ReadsCanBeShort) {
  WriteTestFile(memory_, "/f", "abc");
  const auto file = Opened();
  fs_.ShortenNthRead(2);
  uint8_t buffer[2];
  EXPECT_EQ(file->Read(buffer).value(), 2u);
  WriteTestFile(memory_, "/f", "abcdef");
  EXPECT_EQ(file->Read(buffer).value(), 1u);
  EXPECT_EQ(file->Read(buffer).value(), 2u);
}

TEST_F(FaultFileSystemTest, ActionsRunBeforeACall) {
  std::string seen;
  fs_.BeforeNthOfAny(2, [&] { seen = TestFileExists(memory_, "/b") ? "late" : "early"; });
  (void)fs_.MakeDirectory("/a", 0755);
  EXPECT_EQ(seen, "");
  (void)fs_.MakeDirectory("/b", 0755);
  EXPECT_EQ(seen, "early");
}

TEST_F(FaultFileSystemTest, ACloseThatFailsHasClosed) {
  auto file = Opened();
  ASSERT_TRUE(file->TryLock().value());
  fs_.FailNth(Call::kClose, 1, EIO);
  EXPECT_EQ(ErrnoOf(file->Close()), EIO);
  EXPECT_TRUE(Opened()->TryLock().value());
}

}  // namespace
}  // namespace coffer::os
