// SPDX-License-Identifier: Apache-2.0
// Views that nothing leads out of, on the real file system and on the doubles.
#include <errno.h>
#include <fcntl.h>

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "coffer/os/file_system.h"
#include "coffer/os/internal/long_path.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

// A directory "in" with a view on it, and beside it "out" with a file.
class Beneath : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string which = GetParam();
    if (which == "Memory") {
      fs_ = std::make_unique<MemoryFileSystem>();
      ASSERT_TRUE(IsOk(fs_->MakeDirectory(root_ = "/root", 0755)));
    } else {
      directory_ = std::make_unique<TemporaryDirectory>();
      fs_ = std::make_unique<FaultFileSystem>(RealFileSystem());
      root_ = directory_->path();
    }
    for (const char* name : {"in", "out", "in/a", "in/a/b"}) {
      ASSERT_TRUE(IsOk(fs_->MakeDirectory(At(name), 0755)));
    }
    WriteTestFile(*fs_, At("out/secret"), "secret");
    WriteTestFile(*fs_, At("in/a/b/file"), "inside");
    view_ = std::move(fs_->Beneath(At("in"))).value();
  }
  std::string At(const std::string& name) { return JoinPath(root_, name); }

  std::string root_;
  std::unique_ptr<TemporaryDirectory> directory_;
  std::unique_ptr<FileSystem> fs_;
  std::unique_ptr<FileSystem> view_;
};

INSTANTIATE_TEST_SUITE_P(All, Beneath, testing::Values("Real", "Memory"));

OpenOptions New() {
  OpenOptions options;
  options.access = Access::kReadWrite;
  options.creation = Creation::kMustBeNew;
  return options;
}

TEST_P(Beneath, ReachesWhatIsBelow) {
  EXPECT_EQ(ReadTestFile(*view_, "a/b/file"), "inside");
  EXPECT_EQ(ReadTestFile(*view_, "./a//b/./file"), "inside");
  EXPECT_EQ(ListTestDirectory(*view_, "."), std::vector<std::string>{"a"});
  EXPECT_EQ(ListTestDirectory(*view_, "a/b/"), std::vector<std::string>{"file"});
  EXPECT_TRUE(SameObject(view_->Stat(".").value(), fs_->Stat(At("in")).value()));
  ASSERT_TRUE(IsOk(view_->MakeDirectory("a/c", 0700)));
  ASSERT_TRUE(IsOk(view_->Open("a/c/new", New())));
  ASSERT_TRUE(IsOk(view_->Rename("a/c/new", "top")));
  ASSERT_TRUE(IsOk(view_->Link("top", "a/b/link")));
  ASSERT_TRUE(IsOk(view_->MakeFifo("a/fifo", 0600)));
  ASSERT_TRUE(IsOk(view_->MakeSymlink("../../out", "a/away")));
  EXPECT_EQ(view_->ReadLink("a/away").value(), "../../out");
  EXPECT_EQ(fs_->Stat(At("in/a/fifo"))->kind, FileKind::kFifo);
  EXPECT_EQ(fs_->Stat(At("in/top"))->link_count, 2u);
  EXPECT_TRUE(IsOk(view_->SyncDirectory("a/b")));
  EXPECT_TRUE(IsOk(view_->SyncDirectory(".")));
  auto unnamed = view_->CreateUnnamed("a", 0600);
  ASSERT_TRUE(IsOk(unnamed));
  EXPECT_TRUE(IsOk(view_->LinkUnnamed(**unnamed, "a/named")));
  EXPECT_TRUE(TestFileExists(*fs_, At("in/a/named")));
  EXPECT_EQ(view_->FullPath("a/b"), At("in/a/b"));
  EXPECT_EQ((*view_->Open("a/b/file", {}))->path(), At("in/a/b/file"));
}

TEST_P(Beneath, RefusesPathsThatLeadOut) {
  for (const char* path : {"..", "../out", "a/../../out", "a/..", "/", "/etc"}) {
    EXPECT_EQ(ErrnoOf(view_->Stat(path)), EINVAL) << path;
    EXPECT_EQ(ErrnoOf(view_->ReadDirectory(path, 1)), EINVAL) << path;
  }
  EXPECT_EQ(ErrnoOf(view_->Stat("")), ENOENT);
}

TEST_P(Beneath, FollowsNoLinkAnywhere) {
  const auto plant = [&](const char* target, const char* name) {
    ASSERT_TRUE(IsOk(fs_->MakeSymlink(target, At(name))));
  };
  plant("../out", "in/dir");
  plant("../../out/secret", "in/a/leaf");
  plant("b", "in/a/same");  // even one that stays within
  for (const char* path : {"dir/secret", "a/same/file"}) {
    EXPECT_FALSE(view_->Stat(path).ok()) << path;
    EXPECT_FALSE(view_->Open(path, {}).ok()) << path;
    EXPECT_FALSE(view_->Unlink(path).ok()) << path;
  }
  EXPECT_EQ(ErrnoOf(view_->Open("a/leaf", {})), ELOOP);
  EXPECT_EQ(view_->Stat("a/leaf")->kind, FileKind::kSymlink);
  EXPECT_FALSE(view_->Open("dir/new", New()).ok());
  EXPECT_FALSE(view_->MakeDirectory("dir/new", 0700).ok());
  EXPECT_FALSE(view_->MakeSymlink("x", "dir/new").ok());
  EXPECT_FALSE(view_->MakeFifo("dir/new", 0600).ok());
  EXPECT_FALSE(view_->Link("a/b/file", "dir/new").ok());
  EXPECT_FALSE(view_->Rename("a/b/file", "dir/new").ok());
  EXPECT_FALSE(view_->RenameNoReplace("a/b/file", "dir/new").ok());
  EXPECT_FALSE(view_->CreateUnnamed("dir", 0600).ok());
  EXPECT_FALSE(view_->ReadDirectory("dir", 10).ok());
  EXPECT_FALSE(view_->SyncDirectory("dir").ok());
  EXPECT_FALSE(view_->Beneath("dir").ok());
  EXPECT_FALSE(view_->SetTimesNoFollow("dir/secret", {}, {}).ok());
  EXPECT_EQ(ListTestDirectory(*fs_, At("out")), std::vector<std::string>{"secret"});
}

TEST_P(Beneath, ALinkThatTakesADirectorysPlaceIsNotFollowed) {
  ASSERT_TRUE(IsOk(view_->Stat("a/b/file")));
  ASSERT_TRUE(IsOk(fs_->Rename(At("in/a"), At("in/moved"))));
  ASSERT_TRUE(IsOk(fs_->MakeSymlink("../out", At("in/a"))));
  (void)view_->Open("a/b/new", New());  // in the directory that was, or nowhere
  (void)view_->Open("a/new", New());
  EXPECT_EQ(ListTestDirectory(*fs_, At("out")), std::vector<std::string>{"secret"});
}

TEST(BeneathWalks, BothWaysAgree) {
  const TemporaryDirectory directory;
  FileSystem& fs = RealFileSystem();
  std::string deep = directory / "d";
  std::string below = "d";
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(IsOk(fs.MakeDirectory(deep, 0700)));
    deep += '/' + std::string(60, 'x');
    below += '/' + std::string(60, 'x');
  }
  ASSERT_TRUE(IsOk(fs.MakeDirectory(deep, 0700)));
  ASSERT_TRUE(IsOk(fs.MakeSymlink("d", directory / "link")));
  WriteTestFile(fs, directory / "file", "");
  const internal::Descriptor root(open(directory.path().c_str(), O_PATH | O_DIRECTORY));
  for (const std::string& path : {std::string("d"), below, "d/" + std::string(60, 'x')}) {
    internal::Descriptor one;
    internal::Descriptor other;
    EXPECT_EQ(internal::WalkWithoutLinks(root.get(), path, one), 0);
    EXPECT_EQ(internal::WalkByComponents(root.get(), path, other), 0);
    EXPECT_TRUE(one.valid() && other.valid());
  }
  for (const char* path : {"link", "link/x", "file", "none", "d/none"}) {
    internal::Descriptor one;
    internal::Descriptor other;
    EXPECT_NE(internal::WalkWithoutLinks(root.get(), path, one), 0) << path;
    EXPECT_NE(internal::WalkByComponents(root.get(), path, other), 0) << path;
  }
}

}  // namespace
}  // namespace coffer::os
