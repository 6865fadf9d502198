// SPDX-License-Identifier: Apache-2.0
// What a local store makes of its directory, and of what others put there.
#include "coffer/store/local_store.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/signals.h"
#include "coffer/os/testing/child.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"
#include "coffer/store/testing/objects.h"

namespace coffer::store {
namespace {

using os::Call;
using os::FaultFileSystem;
using os::ListTestDirectory;
using os::MemoryFileSystem;
using os::RealFileSystem;
using os::TemporaryDirectory;
using os::WriteTestFile;
using Keys = std::vector<std::string>;

class LocalStoreTest : public testing::Test {
 protected:
  LocalStoreTest() {
    EXPECT_TRUE(IsOk(store_.Prepare(Keys{"commits", "segments/ab", "segments/cd"})));
  }
  std::string At(const std::string& key) { return os::JoinPath(directory_ / "vault", key); }
  Keys Temporaries() { return ListTestDirectory(RealFileSystem(), At("tmp")); }

  TemporaryDirectory directory_;
  FaultFileSystem files_{RealFileSystem()};
  LocalStore store_{files_, directory_ / "vault"};
};

TEST_F(LocalStoreTest, ObjectsAreFilesThatNobodyWrites) {
  const mode_t old_mask = umask(027);
  auto upload = std::move(store_.Begin(std::nullopt)).value();
  ASSERT_EQ(Temporaries().size(), 1u);
  EXPECT_EQ(RealFileSystem().Stat(At("tmp/" + Temporaries()[0]))->mode, 0600u);
  upload.reset();
  EXPECT_EQ(Temporaries(), Keys{});
  EXPECT_TRUE(IsOk(PutObject(store_, "commits/a", "content")));
  umask(old_mask);
  EXPECT_EQ(RealFileSystem().Stat(At("commits/a"))->mode, 0440u);
  EXPECT_EQ(RealFileSystem().Stat(At("commits/a"))->link_count, 1u);
  EXPECT_EQ(os::ReadTestFile(RealFileSystem(), At("commits/a")), "content");
  EXPECT_EQ(Temporaries(), Keys{});
}

TEST_F(LocalStoreTest, GoesWhereThereAreNoModesNoReservationsAndNoLocks) {
  files_.FailAlways(Call::kSetAttribute, EPERM);
  files_.FailAlways(Call::kAllocate, ENOTSUP);
  files_.FailAlways(Call::kLock, ENOLCK);
  EXPECT_TRUE(IsOk(PutObject(store_, "commits/a", "content")));
  EXPECT_EQ(ReadObject(store_, "commits/a").value(), "content");
  files_.FailAlways(Call::kSetAttribute, EIO);
  EXPECT_EQ(ErrnoOf(PutObject(store_, "commits/b", "content")), EIO);
}

// One wait for each object and one for each directory that changed.
TEST_F(LocalStoreTest, WaitsForTheDiskOncePerObjectAndDirectory) {
  for (const size_t n : std::initializer_list<size_t>{1, 2, 3, 20}) {
    std::vector<std::unique_ptr<Upload>> uploads;
    for (size_t i = 0; i < n; ++i) {
      const std::string key =
          (i % 2 == 0 ? "segments/ab/" : "segments/cd/") + std::to_string(100 * n + i);
      uploads.push_back(std::move(MakeUpload(store_, key, "content")).value());
    }
    files_.ResetCounts();
    ASSERT_TRUE(IsOk(store_.Publish(std::move(uploads))));
    const size_t d = n == 1 ? 1 : 2;
    EXPECT_EQ(files_.Count(Call::kSync), n);
    EXPECT_EQ(files_.Count(Call::kSyncDirectory), d);
    EXPECT_EQ(files_.SyncCount(), n + d);
  }
  files_.ResetCounts();
  ASSERT_TRUE(IsOk(store_.Publish({})));
  EXPECT_EQ(files_.SyncCount(), 0u);
  ASSERT_TRUE(
      IsOk(store_.RemoveAll(Keys{"segments/ab/100", "segments/ab/200", "segments/cd/201"})));
  EXPECT_EQ(files_.SyncCount(), 2u);
  // Its own directory, segments/, and the one it is in.
  files_.ResetCounts();
  ASSERT_TRUE(IsOk(store_.Prepare(Keys{"commits", "segments/ab", "segments/cd"})));
  EXPECT_EQ(files_.SyncCount(), 3u);
}

TEST_F(LocalStoreTest, SaysWhatIsAtAnObjectsPlace) {
  ASSERT_TRUE(IsOk(PutObject(store_, "a", "content")));
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("../a", At("commits/link"))));
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("nowhere", At("commits/dangling"))));
  ASSERT_EQ(mkfifo(At("commits/fifo").c_str(), 0600), 0);
  const std::vector<std::pair<std::string, std::string>> places = {
      {"commits/link", "a symbolic link"},
      {"commits/dangling", "a symbolic link"},
      {"commits/fifo", "a FIFO"},
      {"segments/ab", "a directory"}};
  for (const auto& [key, word] : places) {
    const std::string expected = "\"" + At(key) + "\" is " + word + ", where an object should be";
    for (const std::string& message :
         {MessageOf(store_.Open(key)), MessageOf(store_.Stat(key)), MessageOf(store_.Remove(key)),
          MessageOf(store_.Settle({&key, 1}))}) {
      EXPECT_EQ(message, expected);
    }
    EXPECT_EQ(ClassOf(store_.Open(key)), "input/output failure");
    EXPECT_EQ(ClassOf(PutObject(store_, key, "mine")), "already exists");
  }
  EXPECT_EQ(RealFileSystem().ReadLink(At("commits/dangling")).value(), "nowhere");
  EXPECT_EQ(Temporaries(), Keys{});
}

TEST_F(LocalStoreTest, ListsStrangers) {
  ASSERT_TRUE(IsOk(PutObject(store_, "commits/a", "content")));
  WriteTestFile(RealFileSystem(), At("commits/a~ \n"), "x");
  WriteTestFile(RealFileSystem(), At(std::string(200, 'x')), "x");
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("a", At("commits/b"))));
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("commits", At("link"))));
  ASSERT_TRUE(IsOk(RealFileSystem().MakeDirectory(At("no key"), 0755)));
  WriteTestFile(RealFileSystem(), At("no key/a"), "x");
  for (const char* name : {"1", "1/2", "1/2/3", "1/2/3/4"}) {
    ASSERT_TRUE(IsOk(RealFileSystem().MakeDirectory(At(name), 0755)));
  }
  WriteTestFile(RealFileSystem(), At("1/2/3/4/a"), "x");
  WriteTestFile(RealFileSystem(), At("tmp/anything"), "x");
  std::vector<std::string> seen;
  const std::vector<ObjectInfo> all = store_.List("").value();
  for (const ObjectInfo& info : all) {
    constexpr const char* kWords[] = {"object ", "directory ", "stranger "};
    seen.push_back(kWords[static_cast<size_t>(info.kind)] + info.key);
  }
  EXPECT_EQ(seen, (Keys{"directory 1", "directory 1/2", "directory 1/2/3", "stranger 1/2/3/4",
                        "directory commits", "object commits/a", "stranger commits/a~ \n",
                        "stranger commits/b", "stranger link", "stranger no key",
                        "directory segments", "directory segments/ab", "directory segments/cd",
                        "stranger " + std::string(200, 'x')}));
  EXPECT_EQ(ClassOf(store_.List("link")), "input/output failure");
  EXPECT_NE(MessageOf(store_.List("link")).find("link\" is not a directory"), std::string::npos);
  EXPECT_EQ(ClassOf(store_.List("link/x")), "input/output failure");
  EXPECT_EQ(ClassOf(store_.List("commits/a")), "input/output failure");
}

TEST_F(LocalStoreTest, AnObjectThatChangesWhileItIsReadIsAnError) {
  ASSERT_TRUE(IsOk(PutObject(store_, "a", "0123456789")));
  const auto object = std::move(store_.Open("a")).value();
  ASSERT_EQ(chmod(At("a").c_str(), 0600), 0);
  WriteTestFile(RealFileSystem(), At("a"), "abcde");
  Bytes out(10);
  const Result<size_t> read = object->ReadAt(0, out);
  EXPECT_EQ(ClassOf(read), "input/output failure");
  EXPECT_EQ(MessageOf(read), "\"" + At("a") + "\" was cut short while it was read");
  EXPECT_EQ(object->ReadAt(0, MutableByteSpan(out).first(5)).value(), 5u);
  EXPECT_FALSE(object->ReadAt(9, out).ok());
  WriteTestFile(RealFileSystem(), At("a"), "0123456789more");
  EXPECT_EQ(object->size(), 10u);
  EXPECT_EQ(object->ReadAt(8, out).value(), 2u);
  EXPECT_EQ(object->ReadAt(10, out).value(), 0u);
}

TEST_F(LocalStoreTest, TheRootMayBeALinkAndFarDown) {
  ASSERT_TRUE(IsOk(PutObject(store_, "commits/a", "content")));
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("vault", directory_ / "link")));
  for (const char* name : {"link", "link/", "vault//", "./vault/../link/."}) {
    LocalStore linked(RealFileSystem(), directory_ / name);
    ASSERT_TRUE(IsOk(linked.Prepare(Keys{"commits"}))) << name;
    ASSERT_TRUE(IsOk(PutObject(linked, "commits/b", "more"))) << name;
    EXPECT_EQ(ObjectKeys(linked), (Keys{"commits/a", "commits/b"}));
    ASSERT_TRUE(IsOk(linked.Remove("commits/b")));
  }
  std::string deep = directory_.path();
  for (int i = 0; i < 50; ++i) deep += "/" + std::string(100, 'd');
  LocalStore far(RealFileSystem(), deep);
  ASSERT_TRUE(IsOk(far.Prepare(Keys{"commits"})));
  ASSERT_TRUE(IsOk(PutObject(far, "commits/a", "far")));
  EXPECT_EQ(ReadObject(far, "commits/a").value(), "far");
  EXPECT_EQ(ObjectKeys(far), Keys{"commits/a"});
}

TEST_F(LocalStoreTest, TheRootMustBeADirectory) {
  WriteTestFile(RealFileSystem(), directory_ / "file", "");
  for (const char* name : {"file", "file/below", "file/far/below"}) {
    LocalStore store(RealFileSystem(), directory_ / name);
    EXPECT_EQ(MessageOf(store.Prepare({})),
              "\"" + (directory_ / "file") + "\" is not a directory, which the store needs there");
  }
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("nowhere", At("linked"))));
  WriteTestFile(RealFileSystem(), At("plain"), "");
  EXPECT_NE(MessageOf(store_.Prepare(Keys{"linked"})).find("is not a directory"),
            std::string::npos);
  EXPECT_NE(MessageOf(store_.Prepare(Keys{"plain"})).find("is not a directory"), std::string::npos);
  EXPECT_EQ(ErrnoOf(store_.Prepare(Keys{"plain/below"})), ENOTDIR);
}

class SweepTest : public LocalStoreTest {
 protected:
  static constexpr const char* kLeftover = "upload-0123456789abcdef";
  void Leave(const std::string& name, int64_t age) {
    WriteTestFile(RealFileSystem(), At("tmp/" + name), "left over");
    const os::FileTime now = os::MakeFileTime(0, os::SystemClock().WallNanoseconds());
    const os::FileTime then{now.seconds - age, 0};
    ASSERT_TRUE(IsOk(RealFileSystem().SetTimesNoFollow(At("tmp/" + name), then, then)));
  }
};

TEST_F(SweepTest, RemovesWhatNobodyHolds) {
  Leave(kLeftover, 0);
  Leave("upload-0123456789abcdeg", 0);
  Leave("upload-0123456789abcdef0", 0);
  Leave("something", 0);
  ASSERT_TRUE(IsOk(RealFileSystem().MakeSymlink("something", At("tmp/upload-aaaaaaaaaaaaaaaa"))));
  ASSERT_TRUE(IsOk(RealFileSystem().MakeDirectory(At("tmp/upload-bbbbbbbbbbbbbbbb"), 0700)));
  auto upload = std::move(store_.Begin(std::nullopt)).value();
  LocalStore other(RealFileSystem(), directory_ / "vault");
  ASSERT_TRUE(IsOk(other.Sweep(std::chrono::seconds(0))));
  EXPECT_EQ(Temporaries().size(), 6u);
  EXPECT_FALSE(os::TestFileExists(RealFileSystem(), At(std::string("tmp/") + kLeftover)));
  ASSERT_TRUE(IsOk(upload->Finish("a")));
  std::vector<std::unique_ptr<Upload>> uploads;
  uploads.push_back(std::move(upload));
  EXPECT_TRUE(IsOk(store_.Publish(std::move(uploads))));
}

TEST_F(SweepTest, SparesWhatIsYoung) {
  Leave(kLeftover, 1000);
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::seconds::max())));
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(1100))));
  EXPECT_EQ(Temporaries(), Keys{kLeftover});
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(900))));
  EXPECT_EQ(Temporaries(), Keys{});
  // A clock that is ahead of ours.
  Leave(kLeftover, -100'000);
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(1))));
  EXPECT_EQ(Temporaries(), Keys{kLeftover});
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(0))));
  EXPECT_EQ(Temporaries(), Keys{});
}

TEST_F(SweepTest, OpensWhatCannotBeWritten) {
  Leave(kLeftover, 0);
  files_.FailNth(Call::kOpen, 1, EACCES);
  EXPECT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(0))));
  EXPECT_TRUE(files_.struck());
  EXPECT_EQ(Temporaries(), Keys{});
}

TEST_F(SweepTest, GoesOnAfterAFailure) {
  Leave(kLeftover, 0);
  Leave("upload-fedcba9876543210", 0);
  files_.FailNth(Call::kUnlink, 1, EIO);
  EXPECT_EQ(ErrnoOf(store_.Sweep(std::chrono::seconds(0))), EIO);
  EXPECT_EQ(Temporaries().size(), 1u);
  files_.FailAlways(Call::kLock, ENOLCK);
  EXPECT_EQ(ErrnoOf(store_.Sweep(std::chrono::seconds(0))), ENOLCK);
  EXPECT_EQ(Temporaries().size(), 1u);
}

// What a name leads to when the lock is there is not what was opened.
TEST_F(SweepTest, ANameMayPassOn) {
  Leave(kLeftover, 0);
  const std::string path = At(std::string("tmp/") + kLeftover);
  files_.ResetCounts();
  files_.BeforeNthOfAny(4, [&] {  // the list, its status, its opening, the lock
    ASSERT_TRUE(IsOk(RealFileSystem().Rename(path, At("tmp/other"))));
    WriteTestFile(RealFileSystem(), path, "another's");
  });
  EXPECT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(0))));
  EXPECT_EQ(files_.Count(Call::kLock), 1u);
  EXPECT_EQ(os::ReadTestFile(RealFileSystem(), path), "another's");
}

// A sweep of another process may take a file between its creation and its lock.
TEST_F(SweepTest, AnUploadThatWasSweptAtOnceIsMadeAnew) {
  const auto sweep = [&] {
    for (const std::string& name : Temporaries()) {
      ASSERT_TRUE(IsOk(RealFileSystem().Unlink(At("tmp/" + name))));
    }
  };
  files_.BeforeNthOfAny(2, sweep);
  ASSERT_TRUE(IsOk(PutObject(store_, "a", "content")));
  EXPECT_EQ(files_.Count(Call::kCreate), 2u);
  EXPECT_EQ(ReadObject(store_, "a").value(), "content");
}

TEST_F(LocalStoreTest, WarnsOfDirectoriesThatCannotBeSynced) {
  EXPECT_EQ(store_.Warnings(), Keys{});
  for (const int error : {EINVAL, ENOTSUP}) {
    FaultFileSystem files(RealFileSystem());
    files.FailAlways(Call::kSyncDirectory, error);
    LocalStore store(files, directory_ / "vault");
    ASSERT_TRUE(IsOk(store.Prepare({})));
    const Keys expected = {"the file system of \"" + (directory_ / "vault") +
                           "\" cannot sync directories: if the power fails, what was stored last "
                           "may be lost"};
    EXPECT_EQ(store.Warnings(), expected);
    ASSERT_TRUE(IsOk(PutObject(store, "commits/a", "content")));
    ASSERT_TRUE(IsOk(store.Remove("commits/a")));
    EXPECT_EQ(store.Warnings(), expected);
    // Of a file it is a failure.
    files.FailNth(Call::kSync, 1, error);
    EXPECT_EQ(ErrnoOf(PutObject(store, "commits/a", "content")), error);
    EXPECT_EQ(ClassOf(store.Stat("commits/a")), "not found");
  }
}

// Of the directory that the store's directory is in, which need not be the user's own.
TEST_F(LocalStoreTest, MayLackTheRightToSyncWhatItDidNotChange) {
  for (const int error : {EACCES, EPERM, EROFS, EINVAL}) {
    files_.ClearFaults();
    files_.FailNth(Call::kSyncDirectory, 1, error);
    EXPECT_TRUE(IsOk(store_.Prepare({})));
    EXPECT_TRUE(files_.struck());
  }
  files_.FailNth(Call::kSyncDirectory, 1, EIO);
  EXPECT_EQ(ErrnoOf(store_.Prepare({})), EIO);
  files_.FailNth(Call::kSyncDirectory, 2, EACCES);
  EXPECT_EQ(ErrnoOf(store_.Prepare({})), EACCES);
}

TEST_F(LocalStoreTest, AFullDiskIsMetEarly) {
  files_.FailNth(Call::kAllocate, 1, ENOSPC);
  const auto upload = store_.Begin(1000);
  EXPECT_EQ(ErrnoOf(upload), ENOSPC);
  EXPECT_EQ(MessageOf(upload), "cannot store an object in \"" + (directory_ / "vault") +
                                   "\": No space left on device");
  EXPECT_EQ(Temporaries(), Keys{});
}

// What an NFS client reports if the answer to a rename was lost and it asked again.
TEST_F(LocalStoreTest, IsNotRefusedByItsOwnWork) {
  auto upload = std::move(MakeUpload(store_, "a", "content")).value();
  std::vector<std::unique_ptr<Upload>> uploads;
  uploads.push_back(std::move(upload));
  files_.ResetCounts();
  files_.BeforeNthOfAny(3, [&] {  // mode, sync, rename
    ASSERT_TRUE(IsOk(RealFileSystem().Link(At("tmp/" + Temporaries()[0]), At("a"))));
  });
  EXPECT_TRUE(IsOk(store_.Publish(std::move(uploads))));
  EXPECT_EQ(files_.Count(Call::kRename), 1u);
  EXPECT_EQ(ReadObject(store_, "a").value(), "content");
  EXPECT_EQ(RealFileSystem().Stat(At("a"))->link_count, 1u);
  EXPECT_EQ(Temporaries(), Keys{});
}

// The process ends by a signal before any call; no temporary stays, and no half object.
TEST_F(LocalStoreTest, ASignalMayCome) {
  size_t killed = 0;
  for (size_t n = 1;; ++n) {
    const int status = os::RunInChild([&] {
      signal(SIGINT, SIG_DFL);
      os::InstallSignalHandlers();
      FaultFileSystem files(RealFileSystem());
      files.BeforeNthOfAny(n, [&] { (void)kill(getpid(), SIGINT); });
      LocalStore store(files, directory_ / "vault");
      return PutObjects(store, {{"commits/a", "one"}, {"segments/ab/b", "two"}}).ok() ? 0 : 1;
    });
    EXPECT_EQ(Temporaries(), Keys{}) << n;
    for (const auto& [key, content] : std::vector<std::pair<std::string, std::string>>{
             {"commits/a", "one"}, {"segments/ab/b", "two"}}) {
      if (store_.Stat(key).ok()) {
        EXPECT_EQ(ReadObject(store_, key).value(), content);
        EXPECT_TRUE(IsOk(store_.Remove(key)));
      }
    }
    if (status == 0) break;
    EXPECT_TRUE(os::EndedBySignal(status, SIGINT));
    ++killed;
  }
  EXPECT_GT(killed, 10u);
}

}  // namespace
}  // namespace coffer::store
