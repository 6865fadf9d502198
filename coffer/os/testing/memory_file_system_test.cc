// SPDX-License-Identifier: Apache-2.0
// What a crash leaves of a MemoryFileSystem.
#include "coffer/os/testing/memory_file_system.h"

#include <errno.h>

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

class MemoryCrash : public testing::Test {
 protected:
  MemoryCrash() {
    EXPECT_TRUE(IsOk(fs_.MakeDirectory("/d", 0755)));
    EXPECT_TRUE(IsOk(fs_.SyncDirectory("/")));
  }
  void Put(const std::string& path, std::string_view text) { WriteTestFile(fs_, path, text); }
  void Sync(const std::string& path) { EXPECT_TRUE(IsOk((*fs_.Open(path, {}))->Sync())); }
  void PutDurably(const std::string& path, std::string_view text) {
    Put(path, text);
    Sync(path);
    EXPECT_TRUE(IsOk(fs_.SyncDirectory(DirectoryOf(path))));
  }

  static std::string ContentOf(FileSystem& files, const std::string& path) {
    return TestFileExists(files, path) ? ReadTestFile(files, path) : "(none)";
  }
  std::string AfterDrop(const std::string& path) {
    return ContentOf(*fs_.CrashDroppingUnsynced(), path);
  }
  // What many crashes that keep some leave under `path`.
  std::set<std::string> AfterMany(const std::string& path) {
    std::set<std::string> seen;
    for (uint64_t seed = 0; seed < 200; ++seed) {
      seen.insert(ContentOf(*fs_.CrashKeepingSome(seed), path));
    }
    return seen;
  }

  MemoryFileSystem fs_;
};

using Contents = std::set<std::string>;

TEST_F(MemoryCrash, DataNeedsASyncOfTheFile) {
  Put("/d/f", "data");
  ASSERT_TRUE(IsOk(fs_.SyncDirectory("/d")));
  EXPECT_EQ(AfterDrop("/d/f"), "");
  EXPECT_EQ(AfterMany("/d/f"), (Contents{"", "data", std::string(4, '\0')}));
  Sync("/d/f");
  EXPECT_EQ(AfterDrop("/d/f"), "data");
  EXPECT_EQ(AfterMany("/d/f"), Contents{"data"});
}

TEST_F(MemoryCrash, ANameNeedsASyncOfTheDirectory) {
  Put("/d/f", "data");
  Sync("/d/f");
  EXPECT_EQ(AfterDrop("/d/f"), "(none)");
  EXPECT_EQ(AfterMany("/d/f"), (Contents{"(none)", "data"}));
  ASSERT_TRUE(IsOk(fs_.SyncDirectory("/d")));
  EXPECT_EQ(AfterDrop("/d/f"), "data");
}

TEST_F(MemoryCrash, ANewDirectoryNeedsASyncOfItsParent) {
  ASSERT_TRUE(IsOk(fs_.MakeDirectory("/d/e", 0755)));
  PutDurably("/d/e/f", "data");
  EXPECT_EQ(AfterDrop("/d/e/f"), "(none)");
  EXPECT_EQ(AfterMany("/d/e/f"), (Contents{"(none)", "data"}));
  ASSERT_TRUE(IsOk(fs_.SyncDirectory("/d")));
  EXPECT_EQ(AfterDrop("/d/e/f"), "data");
}

TEST_F(MemoryCrash, RenamesAreNotOrderedWithData) {
  PutDurably("/d/f", "old");
  Put("/d/g", "new");
  ASSERT_TRUE(IsOk(fs_.Rename("/d/g", "/d/f")));
  EXPECT_EQ(AfterDrop("/d/f"), "old");
  EXPECT_EQ(AfterMany("/d/f"), (Contents{"old", "new", "", std::string(3, '\0')}));
  ASSERT_TRUE(IsOk(fs_.SyncDirectory("/d")));
  EXPECT_EQ(AfterDrop("/d/f"), "");
}

TEST_F(MemoryCrash, ARenameInADirectoryIsOneChange) {
  PutDurably("/d/f", "data");
  ASSERT_TRUE(IsOk(fs_.Rename("/d/f", "/d/g")));
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto left = fs_.CrashKeepingSome(seed);
    EXPECT_EQ(ListTestDirectory(*left, "/d").size(), 1u);
  }
  EXPECT_EQ(AfterMany("/d/f"), (Contents{"(none)", "data"}));
}

TEST_F(MemoryCrash, ARenameAcrossDirectoriesIsTwo) {
  PutDurably("/d/f", "data");
  ASSERT_TRUE(IsOk(fs_.Rename("/d/f", "/f")));
  std::set<size_t> name_counts;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto left = fs_.CrashKeepingSome(seed);
    name_counts.insert(size_t{TestFileExists(*left, "/f")} + size_t{TestFileExists(*left, "/d/f")});
  }
  EXPECT_EQ(name_counts, (std::set<size_t>{0, 1, 2}));
  ASSERT_TRUE(IsOk(fs_.SyncDirectory("/")));
  EXPECT_EQ(AfterDrop("/f"), "data");
  EXPECT_EQ(AfterDrop("/d/f"), "data");
}

TEST_F(MemoryCrash, ARemovalMayComeBack) {
  PutDurably("/d/f", "data");
  ASSERT_TRUE(IsOk(fs_.Unlink("/d/f")));
  EXPECT_EQ(AfterDrop("/d/f"), "data");
  EXPECT_EQ(AfterMany("/d/f"), (Contents{"(none)", "data"}));
}

TEST_F(MemoryCrash, LongContentIsTornInBlocks) {
  PutDurably("/d/f", std::string(3 * 4096, 'o'));
  Put("/d/f", std::string(2 * 4096, 'n'));
  std::set<std::string> starts;
  for (const std::string& content : AfterMany("/d/f")) {
    EXPECT_TRUE(content.size() == size_t{3 * 4096} || content.size() == size_t{2 * 4096});
    starts.insert({content[0], content[4095], content[4096], content[8191]});
  }
  EXPECT_EQ(starts, (std::set<std::string>{"oooo", "oonn", "nnoo", "nnnn"}));
}

TEST_F(MemoryCrash, LinksStayOneFileAndAttributesNeedASync) {
  PutDurably("/d/f", "data");
  ASSERT_TRUE(IsOk(fs_.Link("/d/f", "/d/g")));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("f", "/d/s")));
  ASSERT_TRUE(IsOk(fs_.SyncDirectory("/d")));
  ASSERT_TRUE(IsOk((*fs_.Open("/d/f", {}))->SetMode(0600)));
  const auto left = fs_.CrashDroppingUnsynced();
  EXPECT_EQ(left->Stat("/d/g")->link_count, 2u);
  EXPECT_TRUE(SameFile(*left, "/d/s", "/d/g").value());
  EXPECT_EQ(left->Stat("/d/f")->mode, 0644u);
  Sync("/d/f");
  EXPECT_EQ(fs_.CrashDroppingUnsynced()->Stat("/d/f")->mode, 0600u);
}

TEST_F(MemoryCrash, FilesWithoutANameAndLocksAreGone) {
  auto unnamed = fs_.CreateUnnamed("/d", 0600);
  ASSERT_TRUE(IsOk((*unnamed)->Sync()));
  PutDurably("/d/f", "");
  const auto holder = std::move(fs_.Open("/d/f", {})).value();
  ASSERT_TRUE(holder->TryLock().value());
  const auto left = fs_.CrashDroppingUnsynced();
  EXPECT_EQ(ListTestDirectory(*left, "/d"), std::vector<std::string>{"f"});
  EXPECT_TRUE((*left->Open("/d/f", {}))->TryLock().value());
}

TEST_F(MemoryCrash, WhatIsLeftIsDurable) {
  Put("/d/f", "data");
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto once = fs_.CrashKeepingSome(seed);
    EXPECT_EQ(ContentOf(*once->CrashDroppingUnsynced(), "/d/f"), ContentOf(*once, "/d/f"));
  }
}

TEST_F(MemoryCrash, NothingChangesAfterTheCut) {
  const size_t before = fs_.operation_count();
  auto file = fs_.CreateUnnamed("/d", 0600);
  ASSERT_TRUE(IsOk(file));
  EXPECT_EQ(fs_.operation_count(), before + 1);
  fs_.CutAfter(2);
  EXPECT_TRUE(IsOk((*file)->Write(AsBytes("x"))));
  EXPECT_FALSE(fs_.cut());
  EXPECT_TRUE(IsOk(fs_.LinkUnnamed(**file, "/d/f")));
  EXPECT_TRUE(fs_.cut());
  EXPECT_EQ(ErrnoOf((*file)->Write(AsBytes("y"))), EIO);
  EXPECT_EQ(ErrnoOf((*file)->Sync()), EIO);
  EXPECT_EQ(ErrnoOf(fs_.SyncDirectory("/d")), EIO);
  EXPECT_EQ(ErrnoOf(fs_.Rename("/d/f", "/d/g")), EIO);
  EXPECT_EQ(ContentOf(fs_, "/d/f"), "x");
  EXPECT_EQ(AfterDrop("/d/f"), "(none)");
}

}  // namespace
}  // namespace coffer::os
