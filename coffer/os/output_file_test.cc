// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

using Names = std::vector<std::string>;

// Sets the umask while it lives.
class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : before_(umask(mask)) {}
  ScopedUmask(const ScopedUmask&) = delete;
  ScopedUmask& operator=(const ScopedUmask&) = delete;
  ~ScopedUmask() { umask(before_); }

 private:
  mode_t before_;
};

// Root may do everything; a test of permissions runs as nobody.
class ScopedOrdinaryUser {
 public:
  ScopedOrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(seteuid(65534), 0);
    }
  }
  ScopedOrdinaryUser(const ScopedOrdinaryUser&) = delete;
  ScopedOrdinaryUser& operator=(const ScopedOrdinaryUser&) = delete;
  ~ScopedOrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }

 private:
  bool was_root_ = geteuid() == 0;
};

// With files that have no name at first, and with the temporary names of file systems without them.
class OutputFileTest : public testing::TestWithParam<bool> {
 protected:
  OutputFileTest() {
    if (GetParam()) fs_.FailAlways(Call::kCreateUnnamed, ENOTSUP);
  }
  std::string At(const std::string& name) { return directory_ / name; }
  void Put(const std::string& name, std::string_view text) { WriteTestFile(fs_, At(name), text); }
  std::string Get(const std::string& name) { return ReadTestFile(fs_, At(name)); }
  Names List() { return ListTestDirectory(fs_, directory_.path()); }
  uint32_t ModeOf(const std::string& name) { return fs_.Stat(At(name))->mode; }
  // How many temporaries are to be seen while an output is being written.
  [[nodiscard]] size_t TemporaryCount() const { return GetParam() ? 1 : 0; }

  Result<std::unique_ptr<OutputFile>> Create(const std::string& name,
                                             const OutputOptions& options = {}) {
    return OutputFile::Create(At(name), options, fs_);
  }
  // A whole life of an output.
  Status WriteOutput(const std::string& path, std::string_view text,
                     const OutputOptions& options = {}) {
    COFFER_ASSIGN_OR_RETURN(const auto output, OutputFile::Create(path, options, fs_));
    COFFER_TRY(output->Write(AsBytes(text)));
    return output->Commit();
  }

  TemporaryDirectory directory_;
  FaultFileSystem fs_{RealFileSystem()};
};

INSTANTIATE_TEST_SUITE_P(All, OutputFileTest, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "Named" : "Unnamed";
});

TEST_P(OutputFileTest, NothingShowsBeforeCommit) {
  auto output = Create("f");
  ASSERT_TRUE(IsOk(output));
  EXPECT_TRUE(IsOk((*output)->Write(AsBytes("abc"))));
  EXPECT_TRUE(IsOk((*output)->Write({})));
  EXPECT_FALSE(TestFileExists(fs_, At("f")));
  EXPECT_EQ(List().size(), TemporaryCount());
  EXPECT_TRUE(IsOk((*output)->Write(AsBytes("def"))));
  EXPECT_TRUE(IsOk((*output)->Commit()));
  EXPECT_EQ(List(), Names{"f"});
  EXPECT_EQ(Get("f"), "abcdef");
}

TEST_P(OutputFileTest, EmptyOutputIsCreated) {
  EXPECT_TRUE(IsOk((*Create("f"))->Commit()));
  EXPECT_EQ(Get("f"), "");
}

TEST_P(OutputFileTest, DiscardAndDestructionLeaveNothing) {
  auto discarded = Create("f");
  ASSERT_TRUE(IsOk(discarded));
  EXPECT_TRUE(IsOk((*discarded)->Write(AsBytes("abc"))));
  (*discarded)->Discard();
  EXPECT_EQ(List(), Names{});
  {
    auto forgotten = Create("f");
    EXPECT_TRUE(IsOk((*forgotten)->Write(AsBytes("abc"))));
  }
  EXPECT_EQ(List(), Names{});
}

TEST_P(OutputFileTest, NewFilesFollowTheUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{027}, mode_t{077}}) {
    const ScopedUmask scoped(mask);
    const std::string name = "f" + std::to_string(mask);
    EXPECT_TRUE(IsOk(WriteOutput(At(name), "x")));
    EXPECT_EQ(ModeOf(name), 0666u & ~mask);
  }
}

TEST_P(OutputFileTest, TemporariesAreForTheirOwnerAlone) {
  const ScopedUmask scoped(0);
  auto output = Create("f");
  for (const std::string& name : List()) EXPECT_EQ(ModeOf(name), 0600u);
  EXPECT_EQ(List().size(), TemporaryCount());
}

TEST_P(OutputFileTest, ReplacedFileKeepsItsMetadata) {
  Put("f", "old content");
  ASSERT_EQ(chmod(At("f").c_str(), 0640), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(At("f").c_str(), 1234, 5678), 0);
  }
  OpenOptions options;
  options.access = Access::kReadWrite;
  const auto before = std::move(fs_.Open(At("f"), options)).value();
  ASSERT_TRUE(IsOk(before->SetAttribute("user.note", AsBytes("kept"))));
  const FileStat stat_before = before->Stat().value();

  auto output = Create("f");
  ASSERT_TRUE(IsOk(output));
  EXPECT_TRUE(IsOk((*output)->Write(AsBytes("new"))));
  EXPECT_EQ(Get("f"), "old content");
  EXPECT_TRUE(IsOk((*output)->Commit()));
  EXPECT_EQ(List(), Names{"f"});
  EXPECT_EQ(Get("f"), "new");
  const auto after = std::move(fs_.Open(At("f"), {})).value();
  const FileStat stat_after = after->Stat().value();
  EXPECT_FALSE(SameObject(stat_before, stat_after));
  EXPECT_EQ(stat_after.mode, 0640u);
  EXPECT_EQ(stat_after.user, stat_before.user);
  EXPECT_EQ(stat_after.group, stat_before.group);
  EXPECT_EQ(AsText(*after->GetAttribute("user.note")), "kept");
}

TEST_P(OutputFileTest, ReplacedFileKeepsItsAcl) {
  // The kernel's encoding (linux/posix_acl_xattr.h): version 2, then tag, permission, id:
  // owner rw, user 1234 r, group r, mask r, others nothing.
  const Bytes acl = {2,  0, 0, 0,                          //
                     1,  0, 6, 0, 0xff, 0xff, 0xff, 0xff,  //
                     2,  0, 4, 0, 0xd2, 0x04, 0,    0,     //
                     4,  0, 4, 0, 0xff, 0xff, 0xff, 0xff,  //
                     16, 0, 4, 0, 0xff, 0xff, 0xff, 0xff,  //
                     32, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  Put("f", "old");
  OpenOptions options;
  options.access = Access::kReadWrite;
  ASSERT_TRUE(IsOk((*fs_.Open(At("f"), options))->SetAttribute("system.posix_acl_access", acl)));
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "new")));
  EXPECT_EQ(ModeOf("f"), 0640u);
  const auto kept = (*fs_.Open(At("f"), {}))->GetAttribute("system.posix_acl_access");
  ASSERT_TRUE(IsOk(kept));
  EXPECT_EQ(*kept, acl);
}

TEST_P(OutputFileTest, SetUserIdEndsWithTheContent) {
  Put("f", "old");
  ASSERT_EQ(chmod(At("f").c_str(), 06755), 0);
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "new")));
  EXPECT_EQ(ModeOf("f"), 0755u);
}

TEST_P(OutputFileTest, SymbolicLinksLeadToTheFile) {
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("d"), 0755)));
  Put("d/f", "old");
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("d/second", At("first"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("f", At("d/second"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink(At("d/g"), At("dangling"))));
  EXPECT_TRUE(IsOk(WriteOutput(At("first"), "new")));
  EXPECT_TRUE(IsOk(WriteOutput(At("dangling"), "made")));
  EXPECT_EQ(Get("d/f"), "new");
  EXPECT_EQ(Get("d/g"), "made");
  EXPECT_EQ(fs_.ReadLink(At("first")).value(), "d/second");
  EXPECT_EQ(fs_.StatNoFollow(At("dangling"))->kind, FileKind::kSymlink);
  EXPECT_EQ(ListTestDirectory(fs_, At("d")), (Names{"f", "g", "second"}));

  ASSERT_TRUE(IsOk(fs_.MakeSymlink("loop", At("loop"))));
  EXPECT_EQ(ErrnoOf(Create("loop")), ELOOP);
}

TEST_P(OutputFileTest, SeveralNamesAreRefusedUnlessInPlace) {
  Put("f", "old");
  ASSERT_TRUE(IsOk(fs_.Link(At("f"), At("h"))));
  const auto refused = Create("h");
  EXPECT_EQ(ClassOf(refused), "invalid argument");
  EXPECT_EQ(MessageOf(refused), "cannot replace \"" + At("h") +
                                    "\": it has 2 names (hard links); "
                                    "--in-place-output overwrites it where it is");
  EXPECT_EQ(Get("f"), "old");
  OutputOptions options;
  options.in_place = true;
  EXPECT_TRUE(IsOk(WriteOutput(At("h"), "new", options)));
  EXPECT_EQ(Get("f"), "new");
  EXPECT_EQ(List(), (Names{"f", "h"}));
}

TEST_P(OutputFileTest, InPlaceCutsWithTheFirstByteOnly) {
  Put("f", "old");
  const FileStat before = fs_.Stat(At("f")).value();
  OutputOptions options;
  options.in_place = true;
  {
    const auto output = Create("f", options);
    ASSERT_TRUE(IsOk(output));
  }
  EXPECT_EQ(Get("f"), "old");
  EXPECT_TRUE(IsOk((*Create("f", options))->Commit()));
  EXPECT_EQ(Get("f"), "");
  EXPECT_TRUE(SameObject(before, *fs_.Stat(At("f"))));
  EXPECT_TRUE(IsOk(WriteOutput(At("g"), "new", options)));
  EXPECT_EQ(Get("g"), "new");
}

TEST_P(OutputFileTest, DirectoriesAreRefused) {
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("d"), 0755)));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("d", At("link"))));
  for (const std::string name : {"d", "d/", "link", "new/"}) {
    const auto output = Create(name);
    EXPECT_EQ(ClassOf(output), "invalid argument") << name;
    EXPECT_EQ(ErrnoOf(output), EISDIR) << name;
  }
  EXPECT_EQ(MessageOf(Create("d")), "cannot write \"" + At("d") + "\": it is a directory");
  EXPECT_EQ(MessageOf(Create("missing/f")),
            "cannot create \"" + At("missing/f") + "\": No such file or directory");
  Put("f", "");
  EXPECT_EQ(ErrnoOf(Create("f/g")), ENOTDIR);
}

TEST_P(OutputFileTest, PermissionsOfFilesAndDirectoriesAreRespected) {
  Put("f", "old");
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At("writable"), 0755)));
  Put("writable/f", "old");
  ASSERT_EQ(chmod(At("f").c_str(), 0666), 0);
  ASSERT_EQ(chmod(At("writable").c_str(), 0777), 0);
  ASSERT_EQ(chmod(At("writable/f").c_str(), 0444), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0555), 0);
  {
    const ScopedOrdinaryUser user;
    const auto refused = Create("f");
    EXPECT_EQ(ClassOf(refused), "invalid argument");
    EXPECT_EQ(MessageOf(refused), "cannot replace \"" + At("f") +
                                      "\": its directory cannot be written: Permission denied; "
                                      "--in-place-output overwrites it where it is");
    EXPECT_EQ(ErrnoOf(Create("new")), EACCES);
    // A file that may not be written is not replaced either.
    EXPECT_EQ(MessageOf(Create("writable/f")),
              "cannot write \"" + At("writable/f") + "\": Permission denied");
    OutputOptions options;
    options.in_place = true;
    EXPECT_TRUE(IsOk(WriteOutput(At("f"), "new", options)));
  }
  EXPECT_EQ(Get("f"), "new");
  EXPECT_EQ(Get("writable/f"), "old");
}

TEST_P(OutputFileTest, AnOwnerThatCannotBeKeptIsGivenUp) {
  Put("f", "old");
  ASSERT_EQ(chmod(At("f").c_str(), 0662), 0);
  fs_.FailNth(Call::kSetAttribute, 1, EPERM);
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "new")));
  EXPECT_EQ(ModeOf("f"), 0662u);
  EXPECT_EQ(Get("f"), "new");
}

TEST_P(OutputFileTest, AGroupThatCannotBeKeptGetsWhatOthersGet) {
  Put("f", "old");
  ASSERT_EQ(chmod(At("f").c_str(), 0662), 0);
  fs_.FailNth(Call::kSetAttribute, 1, EPERM, 2);
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "new")));
  EXPECT_EQ(ModeOf("f"), 0622u);
}

TEST_P(OutputFileTest, KeyFilesAreNewAndPrivate) {
  OutputOptions options;
  options.kind = OutputKind::kKeyFile;
  {
    const ScopedUmask scoped(0);
    EXPECT_TRUE(IsOk(WriteOutput(At("key"), "secret", options)));
  }
  EXPECT_EQ(ModeOf("key"), 0600u);
  const auto again = Create("key", options);
  EXPECT_EQ(ClassOf(again), "already exists");
  EXPECT_EQ(MessageOf(again), "cannot create \"" + At("key") + "\": File exists");
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("nowhere", At("link"))));
  EXPECT_EQ(ClassOf(Create("link", options)), "already exists");

  auto raced = Create("raced", options);
  ASSERT_TRUE(IsOk(raced));
  EXPECT_TRUE(IsOk((*raced)->Write(AsBytes("late"))));
  Put("raced", "first");
  EXPECT_EQ(ClassOf((*raced)->Commit()), "already exists");
  EXPECT_EQ(Get("raced"), "first");
  EXPECT_EQ(List(), (Names{"key", "link", "raced"}));
}

TEST_P(OutputFileTest, NewFilesTakeNobodysPlace) {
  const ScopedUmask scoped(027);
  OutputOptions options;
  options.kind = OutputKind::kNewFile;
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "x", options)));
  EXPECT_EQ(ModeOf("f"), 0640u);
  EXPECT_EQ(ClassOf(Create("f", options)), "already exists");
  auto raced = Create("raced", options);
  Put("raced", "first");
  EXPECT_EQ(ClassOf((*raced)->Commit()), "already exists");
  EXPECT_EQ(Get("raced"), "first");
  EXPECT_EQ(List(), (Names{"f", "raced"}));
}

// A file system with neither links nor a rename that refuses.
TEST_P(OutputFileTest, NamesAreGivenWithoutLinksToo) {
  fs_.FailAlways(Call::kCreateUnnamed, ENOTSUP);
  for (const OutputKind kind : {OutputKind::kReplaceable, OutputKind::kKeyFile}) {
    const bool is_key = kind == OutputKind::kKeyFile;
    OutputOptions options;
    options.kind = kind;
    const std::string name = is_key ? "key" : "f";
    fs_.FailNth(Call::kRename, 1, EPERM);
    EXPECT_TRUE(IsOk(WriteOutput(At(name), "x", options)));
    EXPECT_EQ(Get(name), "x");
    EXPECT_EQ(ModeOf(name), is_key ? 0600u : 0666u & ~fs_.Umask());

    auto raced = Create("raced " + name, options);
    Put("raced " + name, "first");
    fs_.FailNth(Call::kRename, 1, EPERM);
    EXPECT_EQ((*raced)->Commit().ok(), !is_key);
    EXPECT_EQ(Get("raced " + name), is_key ? "first" : "");
  }
  fs_.FailNth(Call::kRename, 1, EPERM, 2);
  EXPECT_EQ(ErrnoOf(WriteOutput(At("g"), "x")), EPERM);
  EXPECT_EQ(List(), (Names{"f", "key", "raced f", "raced key"}));
}

TEST_P(OutputFileTest, TheLastOfTwoWritersWins) {
  auto output = Create("f");
  EXPECT_TRUE(IsOk((*output)->Write(AsBytes("late"))));
  Put("f", "first");
  EXPECT_TRUE(IsOk((*output)->Commit()));
  EXPECT_EQ(Get("f"), "late");
  EXPECT_EQ(List(), Names{"f"});
}

TEST_P(OutputFileTest, SweepsWhatTheDeadLeft) {
  const std::string stale = ".coffer-tmp-0123456789abcdef";
  const std::string held = ".coffer-tmp-00000000000000ff";
  const Names others = {".coffer-tmp-", ".coffer-tmp-0123456789abcde",
                        ".coffer-tmp-0123456789abcdeX", ".coffer-tmp-0123456789abcdef0",
                        "coffer-tmp-0123456789abcdef"};
  Put(stale, "");
  Put(held, "");
  for (const std::string& name : others) Put(name, "");
  ASSERT_TRUE(IsOk(fs_.MakeDirectory(At(".coffer-tmp-aaaaaaaaaaaaaaaa"), 0755)));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink(held, At(".coffer-tmp-bbbbbbbbbbbbbbbb"))));
  ASSERT_EQ(mkfifo(At(".coffer-tmp-cccccccccccccccc").c_str(), 0600), 0);
  OpenOptions options;
  options.access = Access::kReadWrite;
  const auto holder = std::move(fs_.Open(At(held), options)).value();
  ASSERT_TRUE(holder->TryLock().value());

  const size_t before = List().size();
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "x")));
  EXPECT_FALSE(TestFileExists(fs_, At(stale)));
  EXPECT_TRUE(TestFileExists(fs_, At(held)));
  EXPECT_EQ(List().size(), before);  // one less, and f
}

// The name of a leftover passes to a living process just before the sweep takes its lock.
TEST_P(OutputFileTest, ANameThatPassedOnIsNotSwept) {
  const std::string name = ".coffer-tmp-0123456789abcdef";
  bool passed_on = false;
  for (size_t n = 1; !passed_on && n < 20; ++n) {
    Put(name, "stale");
    fs_.BeforeNthOfAny(n, [&] {
      // The sweep has opened the leftover, and not yet removed it.
      if (fs_.Count(Call::kOpen) == 0 || !TestFileExists(RealFileSystem(), At(name))) return;
      passed_on = true;
      ASSERT_TRUE(IsOk(RealFileSystem().Unlink(At(name))));
      WriteTestFile(RealFileSystem(), At(name), "alive");
    });
    fs_.ResetCounts();
    EXPECT_TRUE(IsOk((*Create("f"))->Commit()));
  }
  ASSERT_TRUE(passed_on);
  EXPECT_EQ(Get(name), "alive");
}

TEST_P(OutputFileTest, ASweepMayComeAtAnyMoment) {
  for (const bool exists : {false, true}) {
    size_t sweep_count = 0;
    for (size_t n = 1; n < 40; ++n) {
      if (exists) Put("f", "old");
      fs_.BeforeNthOfAny(n, [&] {
        ++sweep_count;
        EXPECT_TRUE(IsOk(OutputFile::Create(At("other"), {}, RealFileSystem())));
      });
      EXPECT_TRUE(IsOk(WriteOutput(At("f"), "new"))) << n;
      fs_.BeforeNthOfAny(0, nullptr);
      EXPECT_EQ(Get("f"), "new");
      EXPECT_EQ(List(), Names{"f"});
      ASSERT_TRUE(IsOk(fs_.Unlink(At("f"))));
    }
    EXPECT_GT(sweep_count, 5u);
    EXPECT_LT(sweep_count, 39u);
  }
}

TEST_P(OutputFileTest, LivingWritersAreNotSwept) {
  auto first = Create("a");
  auto second = Create("b");
  EXPECT_EQ(List().size(), 2 * TemporaryCount());
  EXPECT_TRUE(IsOk((*first)->Commit()));
  EXPECT_TRUE(IsOk((*second)->Commit()));
  EXPECT_EQ(List(), (Names{"a", "b"}));
}

TEST_P(OutputFileTest, DevicesAreWrittenThrough) {
  EXPECT_TRUE(IsOk(WriteOutput("/dev/null", "x")));
  EXPECT_EQ(fs_.Stat("/dev/null")->kind, FileKind::kCharacterDevice);
  const Status full = WriteOutput("/dev/full", "x");
  EXPECT_EQ(MessageOf(full), "cannot write \"/dev/full\": No space left on device");
  EXPECT_EQ(fs_.Stat("/dev/full")->kind, FileKind::kCharacterDevice);
}

TEST_P(OutputFileTest, FifosAreWrittenThrough) {
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = ReadTestFile(RealFileSystem(), At("fifo")); });
  EXPECT_TRUE(IsOk(WriteOutput(At("fifo"), "through")));
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_EQ(fs_.Stat(At("fifo"))->kind, FileKind::kFifo);
}

TEST_P(OutputFileTest, OpenDescriptorsAreShared) {
  // As with `coffer -o /dev/stdout >> log`: what is there stays, and the position is shared.
  const int log = open(At("log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(log, 0);
  ASSERT_EQ(write(log, "abc", 3), 3);
  const std::string number = std::to_string(log);
  EXPECT_TRUE(IsOk(WriteOutput("/dev/fd/" + number, "def")));
  EXPECT_TRUE(IsOk(WriteOutput("/proc/self/fd/" + number, "ghi")));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("/dev/fd/" + number, At("link"))));
  EXPECT_TRUE(IsOk(WriteOutput(At("link"), "jkl")));
  ASSERT_EQ(write(log, "mno", 3), 3);
  EXPECT_EQ(Get("log"), "abcdefghijklmno");
  ASSERT_EQ(close(log), 0);
}

TEST_P(OutputFileTest, APipeWithoutAReaderIsAClassOfItsOwn) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(close(ends[0]), 0);
  const auto before = signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(ClassOf(WriteOutput("/dev/fd/" + std::to_string(ends[1]), "x")), "closed pipe");
  signal(SIGPIPE, before);
  ASSERT_EQ(close(ends[1]), 0);
}

TEST_P(OutputFileTest, StandardOutputIsAPathToo) {
  const int saved = dup(STDOUT_FILENO);
  const int file = open(At("out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  fflush(stdout);
  ASSERT_EQ(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
  const Status dash = WriteOutput("-", "a");
  const Status empty = WriteOutput("", "b");
  const Status device = WriteOutput("/dev/stdout", "c");
  const Status sink = StandardOutput().Write(AsBytes("d"));
  ASSERT_EQ(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
  for (const Status& status : {dash, empty, device, sink}) EXPECT_TRUE(IsOk(status));
  EXPECT_EQ(Get("out"), "abcd");
  close(saved);
  close(file);
}

TEST_P(OutputFileTest, SyncsNoMoreThanIsNeeded) {
  OutputOptions sync;
  sync.sync = true;
  fs_.ResetCounts();
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "x")));
  EXPECT_EQ(fs_.SyncCount(), 0u);
  EXPECT_TRUE(IsOk(WriteOutput(At("f"), "x")));
  EXPECT_EQ(fs_.Count(Call::kSync), 1u);
  EXPECT_EQ(fs_.Count(Call::kSyncDirectory), 0u);
  fs_.ResetCounts();
  EXPECT_TRUE(IsOk(WriteOutput(At("g"), "x", sync)));
  EXPECT_TRUE(IsOk(WriteOutput(At("g"), "x", sync)));
  EXPECT_EQ(fs_.Count(Call::kSync), 2u);
  EXPECT_EQ(fs_.Count(Call::kSyncDirectory), 2u);

  fs_.FailNth(Call::kSyncDirectory, 1, EINVAL);
  EXPECT_TRUE(IsOk(WriteOutput(At("h"), "x", sync)));
  fs_.FailNth(Call::kSyncDirectory, 1, EIO);
  EXPECT_EQ(ErrnoOf(WriteOutput(At("h"), "x", sync)), EIO);
}

}  // namespace
}  // namespace coffer::os
