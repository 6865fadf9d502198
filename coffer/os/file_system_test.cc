// SPDX-License-Identifier: Apache-2.0
// What every FileSystem must do, run on the real one and on both doubles.
#include "coffer/os/file_system.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

struct Subject {
  virtual ~Subject() = default;
  virtual FileSystem& files() = 0;
  virtual std::string root() = 0;
};

struct RealSubject final : Subject {
  FileSystem& files() override { return RealFileSystem(); }
  std::string root() override { return directory.path(); }
  TemporaryDirectory directory;
};

struct FaultSubject final : Subject {
  FileSystem& files() override { return fault; }
  std::string root() override { return directory.path(); }
  TemporaryDirectory directory;
  FaultFileSystem fault{RealFileSystem()};
};

struct MemorySubject final : Subject {
  MemorySubject() { EXPECT_TRUE(IsOk(memory.MakeDirectory("/root", 0755))); }
  FileSystem& files() override { return memory; }
  std::string root() override { return "/root"; }
  MemoryFileSystem memory;
};

struct Maker {
  std::string name;
  std::function<std::unique_ptr<Subject>()> make;
};

class FileSystemConformance : public testing::TestWithParam<Maker> {
 protected:
  std::string At(const std::string& name) { return JoinPath(subject_->root(), name); }
  void Put(const std::string& name, std::string_view text) { WriteTestFile(fs_, At(name), text); }
  std::string Get(const std::string& name) { return ReadTestFile(fs_, At(name)); }
  bool Exists(const std::string& name) { return TestFileExists(fs_, At(name)); }
  std::vector<std::string> List(const std::string& name = "") {
    return ListTestDirectory(fs_, name.empty() ? subject_->root() : At(name));
  }
  std::unique_ptr<File> Opened(const std::string& name, Access access) {
    OpenOptions options;
    options.access = access;
    auto file = fs_.Open(At(name), options);
    EXPECT_TRUE(IsOk(file));
    return std::move(file).value();
  }

  std::unique_ptr<Subject> subject_ = GetParam().make();
  FileSystem& fs_ = subject_->files();
};

TEST_P(FileSystemConformance, OpenCreatesAsAsked) {
  OpenOptions options;
  EXPECT_EQ(ClassOf(fs_.Open(At("f"), options)), "not found");
  options.access = Access::kReadWrite;
  options.creation = Creation::kMustBeNew;
  options.mode = 0600;
  auto file = fs_.Open(At("f"), options);
  ASSERT_TRUE(IsOk(file));
  EXPECT_EQ((*file)->path(), At("f"));
  EXPECT_TRUE(IsOk((*file)->Write(AsBytes("abc"))));
  EXPECT_TRUE(IsOk((*file)->Close()));
  const auto stat = fs_.Stat(At("f"));
  ASSERT_TRUE(IsOk(stat));
  EXPECT_EQ(stat->kind, FileKind::kRegular);
  EXPECT_EQ(stat->mode, 0600u);
  EXPECT_EQ(stat->size, 3u);
  EXPECT_EQ(stat->link_count, 1u);

  const auto again = fs_.Open(At("f"), options);
  EXPECT_EQ(ClassOf(again), "already exists");
  EXPECT_EQ(MessageOf(again), "cannot create \"" + At("f") + "\": File exists");
  options.creation = Creation::kMayExist;
  ASSERT_TRUE(IsOk(fs_.Open(At("f"), options)));
  EXPECT_EQ(Get("f"), "abc");
  options.truncate = true;
  ASSERT_TRUE(IsOk(fs_.Open(At("f"), options)));
  EXPECT_EQ(Get("f"), "");
}

TEST_P(FileSystemConformance, ErrorsNameThePathAndEscapeIt) {
  const auto missing = fs_.Open(At("a\x1b[2J\n"), {});
  EXPECT_EQ(ErrnoOf(missing), ENOENT);
  EXPECT_EQ(MessageOf(missing),
            "cannot open \"" + At("a\\x1b[2J\\n") + "\": No such file or directory");
  EXPECT_EQ(ErrnoOf(fs_.Stat(At(std::string("a\0b", 3)))), EINVAL);
  EXPECT_EQ(ErrnoOf(fs_.Stat("")), ENOENT);
  EXPECT_EQ(ErrnoOf(fs_.Stat(At(std::string(256, 'n')))), ENAMETOOLONG);
  Put("f", "");
  const auto below = fs_.Stat(At("f/x"));
  EXPECT_EQ(ErrnoOf(below), ENOTDIR);
  EXPECT_EQ(ClassOf(below), "not found");
}

TEST_P(FileSystemConformance, NamesAreRawBytes) {
  const std::string name = "\xff\xfe \t\x01" + std::string(250, 'n');
  Put(name, "x");
  EXPECT_EQ(List(), std::vector<std::string>{name});
  EXPECT_EQ(Get(name), "x");
}

TEST_P(FileSystemConformance, ReadsAndWritesAtThePosition) {
  Put("f", "0123456789");
  const auto file = Opened("f", Access::kReadWrite);
  uint8_t buffer[4];
  ASSERT_EQ(file->Read(buffer).value(), 4u);
  EXPECT_EQ(AsText(buffer), "0123");
  EXPECT_EQ(file->Position().value(), 4u);
  EXPECT_TRUE(IsOk(file->Write(AsBytes("ab"))));
  ASSERT_EQ(file->Read(buffer).value(), 4u);
  EXPECT_EQ(AsText(buffer), "6789");
  EXPECT_EQ(file->Read(buffer).value(), 0u);
  EXPECT_EQ(Get("f"), "0123ab6789");
}

TEST_P(FileSystemConformance, ReadsAndWritesAtOffsets) {
  Put("f", "0123456789");
  const auto file = Opened("f", Access::kReadWrite);
  uint8_t buffer[4];
  EXPECT_EQ(file->ReadAt(8, buffer).value(), 2u);
  EXPECT_EQ(file->ReadAt(10, buffer).value(), 0u);
  EXPECT_EQ(file->ReadAt(UINT64_MAX - 1, buffer).value(), 0u);
  EXPECT_TRUE(IsOk(file->WriteAt(12, AsBytes("xy"))));
  EXPECT_EQ(file->Position().value(), 0u);
  EXPECT_EQ(Get("f"), std::string("0123456789\0\0xy", 14));
  EXPECT_TRUE(IsOk(file->Truncate(3)));
  EXPECT_EQ(Get("f"), "012");
  EXPECT_TRUE(IsOk(file->Truncate(5)));
  EXPECT_EQ(Get("f"), std::string("012\0\0", 5));
  EXPECT_EQ(ErrnoOf(file->WriteAt(UINT64_MAX, AsBytes("x"))), EFBIG);
}

TEST_P(FileSystemConformance, RefusesWhatTheAccessDoesNotAllow) {
  Put("f", "abc");
  uint8_t buffer[4];
  EXPECT_EQ(ErrnoOf(Opened("f", Access::kWrite)->Read(buffer)), EBADF);
  EXPECT_EQ(ErrnoOf(Opened("f", Access::kRead)->Write(AsBytes("x"))), EBADF);
  EXPECT_EQ(Get("f"), "abc");
}

TEST_P(FileSystemConformance, AllocatesAndSyncs) {
  Put("f", "abc");
  const auto file = Opened("f", Access::kReadWrite);
  EXPECT_TRUE(IsOk(file->Allocate(0, 8192)));
  EXPECT_EQ(file->Stat()->size, 8192u);
  file->StartWriteback(0, 8192);
  file->AdviseSequential();
  EXPECT_TRUE(IsOk(file->Sync()));
  EXPECT_TRUE(IsOk(file->Flush()));
  EXPECT_TRUE(IsOk(fs_.SyncDirectory(subject_->root())));
  EXPECT_EQ(ErrnoOf(fs_.SyncDirectory(At("f"))), ENOTDIR);
  const auto directory = fs_.Open(subject_->root(), {});
  ASSERT_TRUE(IsOk(directory));
  EXPECT_TRUE(IsOk((*directory)->Sync()));
  EXPECT_TRUE(IsOk((*directory)->Close()));
}

TEST_P(FileSystemConformance, SetsAttributes) {
  Put("f", "");
  const auto file = Opened("f", Access::kReadWrite);
  const FileStat before = file->Stat().value();
  EXPECT_TRUE(IsOk(file->SetMode(0640)));
  EXPECT_TRUE(IsOk(file->SetOwner(before.user, std::nullopt)));
  EXPECT_TRUE(IsOk(file->SetTimes({-2, 499'999'999}, {1'700'000'000, 123'456'789})));
  const FileStat after = file->Stat().value();
  EXPECT_EQ(after.mode, 0640u);
  EXPECT_EQ(after.user, before.user);
  EXPECT_EQ(after.group, before.group);
  EXPECT_EQ(after.access_time, (FileTime{-2, 499'999'999}));
  EXPECT_EQ(after.modify_time, (FileTime{1'700'000'000, 123'456'789}));
  EXPECT_TRUE(SameObject(before, after));
}

// Before 1970, and after 2262, where 64 bits of nanoseconds end.
TEST_P(FileSystemConformance, TimesReachFar) {
  constexpr FileTime kEarly{-2, 500'000'000};   // 1.5 s before 1970
  constexpr FileTime kLate{13'569'465'600, 7};  // 2400-01-01
  Put("f", "");
  const auto file = Opened("f", Access::kReadWrite);
  EXPECT_TRUE(IsOk(file->SetTimes(kEarly, kLate)));
  EXPECT_EQ(file->Stat()->access_time, kEarly);
  EXPECT_EQ(file->Stat()->modify_time, kLate);
  EXPECT_TRUE(IsOk(fs_.SetTimesNoFollow(At("f"), kLate, kEarly)));
  EXPECT_EQ(fs_.Stat(At("f"))->access_time, kLate);
  EXPECT_EQ(fs_.Stat(At("f"))->modify_time, kEarly);
}

// UTIME_NOW and UTIME_OMIT of utimensat(2) are such numbers.
TEST_P(FileSystemConformance, NanosecondsBeyondASecondAreCarried) {
  Put("f", "");
  const auto file = Opened("f", Access::kReadWrite);
  EXPECT_TRUE(IsOk(file->SetTimes({5, (1u << 30) - 1}, {-5, (1u << 30) - 2})));
  EXPECT_EQ(file->Stat()->access_time, (FileTime{6, 73'741'823}));
  EXPECT_EQ(file->Stat()->modify_time, (FileTime{-4, 73'741'822}));
  EXPECT_TRUE(IsOk(fs_.SetTimesNoFollow(At("f"), {1, (1u << 30) - 2}, {2, 1'000'000'000})));
  EXPECT_EQ(fs_.Stat(At("f"))->access_time, (FileTime{2, 73'741'822}));
  EXPECT_EQ(fs_.Stat(At("f"))->modify_time, (FileTime{3, 0}));
}

TEST_P(FileSystemConformance, KeepsExtendedAttributes) {
  Put("f", "");
  const auto file = Opened("f", Access::kReadWrite);
  EXPECT_TRUE(IsOk(file->SetAttribute("user.a", AsBytes("one"))));
  EXPECT_TRUE(IsOk(file->SetAttribute("user.b", {})));
  auto names = file->ListAttributes().value();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"user.a", "user.b"}));
  EXPECT_EQ(AsText(*file->GetAttribute("user.a")), "one");
  EXPECT_EQ(AsText(*file->GetAttribute("user.b")), "");
  EXPECT_EQ(ErrnoOf(file->GetAttribute("user.c")), ENODATA);
}

TEST_P(FileSystemConformance, RenameReplaces) {
  Put("a", "A");
  Put("b", "B");
  EXPECT_EQ(ClassOf(fs_.RenameNoReplace(At("a"), At("b"))), "already exists");
  EXPECT_EQ(Get("b"), "B");
  EXPECT_TRUE(IsOk(fs_.Rename(At("a"), At("b"))));
  EXPECT_EQ(Get("b"), "A");
  EXPECT_EQ(List(), std::vector<std::string>{"b"});
  EXPECT_TRUE(IsOk(fs_.RenameNoReplace(At("b"), At("c"))));
  EXPECT_EQ(List(), std::vector<std::string>{"c"});
  const auto missing = fs_.Rename(At("x"), At("y"));
  EXPECT_EQ(MessageOf(missing),
            "cannot rename \"" + At("x") + "\" to \"" + At("y") + "\": No such file or directory");
}

TEST_P(FileSystemConformance, RenameMovesDirectories) {
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("d"), 0755)));
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("e"), 0755)));
  Put("d/f", "F");
  Put("file", "");
  EXPECT_EQ(ErrnoOf(fs_.Rename(At("file"), At("d"))), EISDIR);
  EXPECT_EQ(ErrnoOf(fs_.Rename(At("d"), At("file"))), ENOTDIR);
  EXPECT_EQ(ErrnoOf(fs_.Rename(At("d"), At("d/sub"))), EINVAL);
  EXPECT_EQ(ErrnoOf(fs_.Rename(At("e"), At("d"))), ENOTEMPTY);
  EXPECT_TRUE(IsOk(fs_.Rename(At("d"), At("e"))));
  EXPECT_EQ(Get("e/f"), "F");
  EXPECT_TRUE(IsOk(fs_.Rename(At("e/f"), At("g"))));
  EXPECT_EQ(List("e"), std::vector<std::string>{});
  EXPECT_TRUE(SameObject(*fs_.Stat(At("e/..")), *fs_.Stat(subject_->root())));
}

TEST_P(FileSystemConformance, LinksAndUnlinks) {
  Put("a", "A");
  EXPECT_TRUE(IsOk(fs_.Link(At("a"), At("b"))));
  EXPECT_EQ(ClassOf(fs_.Link(At("a"), At("b"))), "already exists");
  EXPECT_EQ(fs_.Stat(At("a"))->link_count, 2u);
  EXPECT_TRUE(SameObject(*fs_.Stat(At("a")), *fs_.Stat(At("b"))));
  // Two names of one file: nothing happens (rename(2)).
  EXPECT_TRUE(IsOk(fs_.Rename(At("a"), At("b"))));
  EXPECT_EQ(List(), (std::vector<std::string>{"a", "b"}));
  const auto file = Opened("a", Access::kRead);
  EXPECT_TRUE(IsOk(fs_.Unlink(At("a"))));
  EXPECT_EQ(Get("b"), "A");
  EXPECT_TRUE(IsOk(fs_.Unlink(At("b"))));
  EXPECT_EQ(file->Stat()->link_count, 0u);
  uint8_t buffer[4];
  EXPECT_EQ(file->Read(buffer).value(), 1u);
  EXPECT_EQ(ClassOf(fs_.Unlink(At("a"))), "not found");
}

TEST_P(FileSystemConformance, UnnamedFilesGetANameOrVanish) {
  ASSERT_TRUE(IsOk(fs_.CreateUnnamed(subject_->root(), 0600)));
  auto file = fs_.CreateUnnamed(subject_->root(), 0600);
  ASSERT_TRUE(IsOk(file));
  EXPECT_EQ((*file)->Stat()->link_count, 0u);
  EXPECT_TRUE(IsOk((*file)->Write(AsBytes("abc"))));
  EXPECT_EQ(List(), std::vector<std::string>{});
  Put("taken", "T");
  EXPECT_EQ(ClassOf(fs_.LinkUnnamed(**file, At("taken"))), "already exists");
  EXPECT_EQ(Get("taken"), "T");
  EXPECT_TRUE(IsOk(fs_.LinkUnnamed(**file, At("f"))));
  EXPECT_EQ(Get("f"), "abc");
  EXPECT_EQ((*file)->Stat()->link_count, 1u);
  EXPECT_EQ(fs_.Stat(At("f"))->mode, 0600u);
  EXPECT_EQ(ClassOf(fs_.CreateUnnamed(At("missing"), 0600)), "not found");
}

TEST_P(FileSystemConformance, DirectoriesListTheirEntries) {
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("d"), 0700)));
  EXPECT_EQ(ClassOf(fs_.MakeDirectory(At("d"), 0700)), "already exists");
  EXPECT_EQ(ClassOf(fs_.MakeDirectory(At("x/y"), 0700)), "not found");
  EXPECT_EQ(fs_.Stat(At("d"))->kind, FileKind::kDirectory);
  Put("d/a", "");
  Put("d/b", "");
  EXPECT_EQ(List("d"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(fs_.ReadDirectory(At("d"), 1)->size(), 1u);
  EXPECT_EQ(ErrnoOf(fs_.ReadDirectory(At("d/a"), FileSystem::kNoLimit)), ENOTDIR);
  EXPECT_EQ(ErrnoOf(fs_.RemoveDirectory(At("d"))), ENOTEMPTY);
  EXPECT_EQ(ErrnoOf(fs_.RemoveDirectory(At("d/a"))), ENOTDIR);
  EXPECT_EQ(ErrnoOf(fs_.Unlink(At("d"))), EISDIR);
  EXPECT_TRUE(IsOk(fs_.Unlink(At("d/a"))));
  EXPECT_TRUE(IsOk(fs_.Unlink(At("d/b"))));
  EXPECT_TRUE(IsOk(fs_.RemoveDirectory(At("d"))));
  EXPECT_FALSE(Exists("d"));
  OpenOptions options;
  options.access = Access::kWrite;
  EXPECT_EQ(ErrnoOf(fs_.Open(subject_->root(), options)), EISDIR);
}

TEST_P(FileSystemConformance, FollowsSymbolicLinks) {
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("d"), 0755)));
  Put("d/f", "F");
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("d/f", At("link"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("d", At("dir"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink(At("d/g"), At("dangling"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("loop", At("loop"))));
  EXPECT_EQ(Get("link"), "F");
  EXPECT_EQ(Get("dir/f"), "F");
  EXPECT_EQ(fs_.ReadLink(At("link")).value(), "d/f");
  EXPECT_EQ(ErrnoOf(fs_.ReadLink(At("d/f"))), EINVAL);
  EXPECT_EQ(fs_.StatNoFollow(At("link"))->kind, FileKind::kSymlink);
  EXPECT_TRUE(SameObject(*fs_.Stat(At("link")), *fs_.Stat(At("d/f"))));
  EXPECT_EQ(ErrnoOf(fs_.Stat(At("dangling"))), ENOENT);
  EXPECT_EQ(ErrnoOf(fs_.Stat(At("loop"))), ELOOP);
  OpenOptions options;
  options.follow_symlink = false;
  EXPECT_EQ(ErrnoOf(fs_.Open(At("link"), options)), ELOOP);
  Put("dangling", "G");
  EXPECT_EQ(Get("d/g"), "G");
  EXPECT_EQ(ClassOf(fs_.MakeSymlink("x", At("link"))), "already exists");
  EXPECT_TRUE(IsOk(fs_.Unlink(At("link"))));
  EXPECT_EQ(Get("d/f"), "F");
}

TEST_P(FileSystemConformance, ReadsLongLinks) {
  const std::string target(1000, 't');
  ASSERT_TRUE(IsOk(fs_.MakeSymlink(target, At("link"))));
  EXPECT_EQ(fs_.ReadLink(At("link")).value(), target);
  EXPECT_EQ(fs_.StatNoFollow(At("link"))->size, target.size());
}

TEST_P(FileSystemConformance, ChangesTheNameItself) {
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("nowhere", At("link"))));
  const FileStat before = fs_.StatNoFollow(At("link")).value();
  EXPECT_TRUE(IsOk(fs_.SetOwnerNoFollow(At("link"), before.user, before.group)));
  EXPECT_TRUE(IsOk(fs_.SetTimesNoFollow(At("link"), {1, 1}, {2, 2})));
  EXPECT_EQ(fs_.StatNoFollow(At("link"))->modify_time, (FileTime{2, 2}));
  EXPECT_EQ(fs_.IsOnProcessFileSystem(At("link")).value(), false);
}

TEST_P(FileSystemConformance, LocksExcludeOtherOpenFiles) {
  Put("f", "");
  auto first = Opened("f", Access::kReadWrite);
  auto second = Opened("f", Access::kReadWrite);
  EXPECT_TRUE(first->TryLock().value());
  EXPECT_TRUE(first->TryLock().value());
  EXPECT_FALSE(second->TryLock().value());
  EXPECT_TRUE(IsOk(first->Flush()));
  EXPECT_FALSE(second->TryLock().value());
  first.reset();
  EXPECT_TRUE(second->TryLock().value());
  EXPECT_TRUE(IsOk(second->Close()));
  EXPECT_TRUE(Opened("f", Access::kReadWrite)->TryLock().value());
}

TEST_P(FileSystemConformance, LockWaitsForItsTurn) {
  Put("f", "");
  auto first = std::move(fs_.Open(At("f"), {})).value();
  ASSERT_TRUE(IsOk(first->Lock()));
  std::atomic<bool> released = false;
  std::thread other([&] {
    auto second = std::move(fs_.Open(At("f"), {})).value();
    EXPECT_TRUE(IsOk(second->Lock()));
    EXPECT_TRUE(released);
  });
  released = true;
  EXPECT_TRUE(IsOk(first->Close()));
  other.join();
}

TEST_P(FileSystemConformance, FindsDataAndHoles) {
  using Place = std::optional<uint64_t>;
  Put("f", "data");
  const auto file = std::move(fs_.Open(At("f"), {})).value();
  EXPECT_EQ(file->NextData(0).value(), Place(0));
  EXPECT_EQ(file->NextData(3).value(), Place(3));
  EXPECT_EQ(file->NextData(4).value(), Place());
  EXPECT_EQ(file->NextHole(0).value(), Place(4));
  EXPECT_EQ(file->NextHole(4).value(), Place());
  EXPECT_EQ(file->NextData(UINT64_MAX).value(), Place());
  Put("empty", "");
  const auto empty = std::move(fs_.Open(At("empty"), {})).value();
  EXPECT_EQ(empty->NextData(0).value(), Place());
  EXPECT_EQ(empty->NextHole(0).value(), Place());
}

TEST_P(FileSystemConformance, MakesFifos) {
  ASSERT_TRUE(IsOk(fs_.MakeFifo(At("fifo"), 0640)));
  EXPECT_EQ(fs_.StatNoFollow(At("fifo"))->kind, FileKind::kFifo);
  EXPECT_EQ(fs_.StatNoFollow(At("fifo"))->mode, 0640u);
  EXPECT_EQ(ClassOf(fs_.MakeFifo(At("fifo"), 0600)), "already exists");
}

TEST(RealFiles, HolesAreFound) {
  const TemporaryDirectory directory;
  WriteTestFile(RealFileSystem(), directory / "f", "");
  OpenOptions options;
  options.access = Access::kReadWrite;
  const auto file = std::move(RealFileSystem().Open(directory / "f", options)).value();
  ASSERT_TRUE(IsOk(file->WriteAt(1 << 20, AsBytes("data"))));
  ASSERT_TRUE(IsOk(file->Truncate(2 << 20)));
  const std::optional<uint64_t> data = file->NextData(0).value();
  ASSERT_TRUE(data.has_value());
  if (*data == 0) return;  // a file system without holes
  EXPECT_LE(*data, uint64_t{1} << 20);
  EXPECT_EQ(file->NextHole(0).value(), std::optional<uint64_t>(0));
  const std::optional<uint64_t> end = file->NextHole(*data).value();
  ASSERT_TRUE(end.has_value());
  EXPECT_GE(*end, (uint64_t{1} << 20) + 4);
  EXPECT_EQ(file->NextData(*end).value(), std::nullopt);
}

TEST(RealFiles, DevicesHaveNumbers) {
  const FileStat null = RealFileSystem().Stat("/dev/null").value();
  EXPECT_EQ(null.device_major, 1u);
  EXPECT_EQ(null.device_minor, 3u);
}

TEST_P(FileSystemConformance, PathsMayBeLongerThanTheKernelTakes) {
  std::string path = subject_->root();
  for (int depth = 0; depth < 40; ++depth) {
    path += "//" + std::string(150, static_cast<char>('a' + depth % 26));
    ASSERT_TRUE(IsOk(fs_.MakeDirectory(path, 0755)));
  }
  ASSERT_GT(path.size(), 4096u);
  WriteTestFile(fs_, path + "/f", "deep");
  EXPECT_TRUE(IsOk(fs_.Rename(path + "/f", path + "/g")));
  EXPECT_EQ(ReadTestFile(fs_, path + "/g"), "deep");
  EXPECT_EQ(ListTestDirectory(fs_, path), std::vector<std::string>{"g"});
  EXPECT_EQ(ListTestDirectory(fs_, path + "/"), std::vector<std::string>{"g"});
  EXPECT_TRUE(IsOk(fs_.SyncDirectory(path)));
  EXPECT_EQ(ErrnoOf(fs_.Stat(path + "/x/y")), ENOENT);
  EXPECT_EQ(ErrnoOf(fs_.Stat(At(std::string(5000, 'n')))), ENAMETOOLONG);
}

TEST_P(FileSystemConformance, SameFileSeesThroughNames) {
  Put("f", "");
  Put("g", "");
  ASSERT_TRUE(IsOk(fs_.Link(At("f"), At("hard"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("hard", At("soft"))));
  EXPECT_TRUE(SameFile(fs_, At("f"), At("f")).value());
  EXPECT_TRUE(SameFile(fs_, At("f"), At("hard")).value());
  EXPECT_TRUE(SameFile(fs_, At("soft"), At("f")).value());
  EXPECT_FALSE(SameFile(fs_, At("f"), At("g")).value());
  EXPECT_FALSE(SameFile(fs_, At("f"), At("missing")).value());
  EXPECT_FALSE(SameFile(fs_, At("missing"), At("f")).value());
  EXPECT_FALSE(SameFile(fs_, subject_->root(), subject_->root()).value());
}

INSTANTIATE_TEST_SUITE_P(
    All, FileSystemConformance,
    testing::Values(Maker{"Real", [] { return std::make_unique<RealSubject>(); }},
                    Maker{"Fault", [] { return std::make_unique<FaultSubject>(); }},
                    Maker{"Memory", [] { return std::make_unique<MemorySubject>(); }}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(Paths, AreTakenApartAndPutTogether) {
  EXPECT_EQ(DirectoryOf("a"), ".");
  EXPECT_EQ(DirectoryOf("a/b"), "a");
  EXPECT_EQ(DirectoryOf("/a"), "/");
  EXPECT_EQ(DirectoryOf("a/b/"), "a/b");
  EXPECT_EQ(BaseNameOf("a"), "a");
  EXPECT_EQ(BaseNameOf("/a/b"), "b");
  EXPECT_EQ(BaseNameOf("a/"), "");
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("/", "b"), "/b");
}

}  // namespace
}  // namespace coffer::os
