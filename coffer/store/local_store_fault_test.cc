// SPDX-License-Identifier: Apache-2.0
// A local store when any call of the file system fails.
#include <errno.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"
#include "coffer/store/local_store.h"
#include "coffer/store/testing/objects.h"

namespace coffer::store {
namespace {

using os::Call;
using os::FaultFileSystem;
using os::MemoryFileSystem;
using Keys = std::vector<std::string>;
using Objects = std::vector<std::pair<std::string, std::string>>;

constexpr std::array kErrors = {ENOSPC, EIO, EINTR, EDQUOT};
const Keys kPrefixes = {"commits", "segments/ab", "segments/cd"};

// A store with one acknowledged object, on a file system that is about to fail.
class LocalStoreFault : public testing::TestWithParam<int> {
 protected:
  struct Scene {
    Scene() {
      EXPECT_TRUE(IsOk(store.Prepare(kPrefixes)));
      EXPECT_TRUE(IsOk(PutObject(store, "commits/old", "old")));
      files.ResetCounts();
    }
    Keys Temporaries() { return os::ListTestDirectory(memory, "/vault/tmp"); }

    MemoryFileSystem memory;
    FaultFileSystem files{memory};
    LocalStore store{files, "/vault"};
  };

  // Runs `act` with the Nth call of the file system failing, for each N until there is no such
  // call, and `look` after each. Returns how often the act failed.
  static size_t ForEachCall(const std::function<Status(Scene&)>& act,
                            const std::function<void(Scene&, bool failed)>& look) {
    size_t failures = 0;
    for (size_t n = 1;; ++n) {
      Scene scene;
      scene.files.FailNthOfAny(n, GetParam());
      const Status status = act(scene);
      const bool struck = scene.files.struck();
      if (!status.ok()) {
        ++failures;
        EXPECT_TRUE(struck);
        EXPECT_EQ(ErrnoOf(status), GetParam()) << MessageOf(status);
      }
      scene.files.ClearFaults();
      EXPECT_EQ(ReadObject(scene.store, "commits/old").value(), "old");
      look(scene, !status.ok());
      if (!struck) {
        EXPECT_TRUE(IsOk(status));
        return failures;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, LocalStoreFault, testing::ValuesIn(kErrors));

TEST_P(LocalStoreFault, WhilePublishing) {
  const Objects objects = {{"segments/ab/1", std::string(10'000, 'x')},
                           {"segments/cd/2", "second"},
                           {"segments/ab/3", ""}};
  const size_t failures =
      ForEachCall([&](Scene& scene) { return PutObjects(scene.store, objects); },
                  [&](Scene& scene, bool failed) {
                    EXPECT_EQ(scene.Temporaries(), Keys{});
                    // The first few are visible, and whole.
                    bool visible = true;
                    for (const auto& [key, content] : objects) {
                      if (!scene.store.Stat(key).ok()) visible = false;
                      EXPECT_EQ(scene.store.Stat(key).ok(), visible) << key;
                      if (visible) {
                        EXPECT_EQ(ReadObject(scene.store, key).value(), content);
                      }
                      EXPECT_TRUE(visible || failed);
                    }
                    // Nothing is visible before all contents are safe.
                    if (scene.files.Count(Call::kRename) == 0) {
                      EXPECT_EQ(ObjectKeys(scene.store, "segments"), Keys{});
                    }
                    // The next one, on what is left.
                    const bool in_doubt = failed && scene.files.Count(Call::kSyncDirectory) > 0;
                    const Status next = PutObject(scene.store, "commits/next", "next");
                    EXPECT_EQ(next.ok(), !in_doubt);
                    EXPECT_EQ(scene.store.Remove("commits/old").ok(), !in_doubt);
                    LocalStore reopened(scene.files, "/vault");
                    EXPECT_TRUE(IsOk(PutObject(reopened, "commits/later", "later")));
                  });
  EXPECT_GT(failures, 20u);
}

// Half of what was to be written is there, and then the disk is full.
TEST_P(LocalStoreFault, ShortWritesLeaveNothing) {
  for (size_t n = 1; n <= 3; ++n) {
    Scene scene;
    scene.files.FailNth(Call::kWrite, n, GetParam());
    auto upload = std::move(scene.store.Begin(std::nullopt)).value();
    Status status;
    for (size_t i = 1; status.ok(); ++i) {
      status = upload->Write(AsBytes("0123456789"));
      EXPECT_EQ(status.ok(), i < n);
    }
    EXPECT_EQ(ErrnoOf(status), GetParam());
    upload.reset();
    EXPECT_EQ(scene.Temporaries(), Keys{});
    EXPECT_EQ(ObjectKeys(scene.store), Keys{"commits/old"});
  }
}

TEST_P(LocalStoreFault, AFailedSyncIsTheLastOfItsFile) {
  for (size_t n = 1; n <= 3; ++n) {
    Scene scene;
    scene.files.FailNth(Call::kSync, n, GetParam());
    const Objects objects = {{"commits/1", "1"}, {"commits/2", "2"}, {"commits/3", "3"}};
    EXPECT_EQ(ErrnoOf(PutObjects(scene.store, objects)), GetParam());
    EXPECT_LE(scene.files.Count(Call::kSync), 3u);
    EXPECT_EQ(scene.files.Count(Call::kRename), 0u);
    EXPECT_EQ(scene.files.Count(Call::kSyncDirectory), 0u);
    EXPECT_EQ(scene.Temporaries(), Keys{});
    EXPECT_EQ(ObjectKeys(scene.store), Keys{"commits/old"});
    EXPECT_TRUE(IsOk(PutObjects(scene.store, objects)));
  }
}

TEST_P(LocalStoreFault, AFailedDirectorySyncEndsAllChanges) {
  Scene scene;
  scene.files.FailNth(Call::kSyncDirectory, 1, GetParam());
  EXPECT_EQ(ErrnoOf(PutObject(scene.store, "commits/a", "a")), GetParam());
  scene.files.ResetCounts();
  const std::string expected =
      "\"/vault\" could not be synced: it takes no changes before it is opened anew";
  EXPECT_EQ(MessageOf(PutObject(scene.store, "commits/b", "b")), expected);
  EXPECT_EQ(MessageOf(scene.store.Remove("commits/old")), expected);
  EXPECT_EQ(MessageOf(scene.store.Settle(Keys{"commits/a"})), expected);
  EXPECT_EQ(MessageOf(scene.store.Prepare(kPrefixes)), expected);
  EXPECT_EQ(scene.files.SyncCount(), 0u);
  EXPECT_EQ(ReadObject(scene.store, "commits/a").value(), "a");
  EXPECT_EQ(scene.Temporaries(), Keys{});
}

// With the disk so broken that the temporary cannot be removed either, a sweep gets it later.
TEST_P(LocalStoreFault, WhatCannotBeRemovedIsSweptLater) {
  Scene scene;
  scene.files.FailNth(Call::kSync, 1, GetParam());
  scene.files.FailAlways(Call::kUnlink, GetParam());
  EXPECT_EQ(ErrnoOf(PutObject(scene.store, "commits/a", "a")), GetParam());
  EXPECT_EQ(scene.Temporaries().size(), 1u);
  scene.files.ClearFaults();
  EXPECT_TRUE(IsOk(scene.store.Sweep(std::chrono::seconds(0))));
  EXPECT_EQ(scene.Temporaries(), Keys{});
  EXPECT_EQ(ObjectKeys(scene.store), Keys{"commits/old"});
}

TEST_P(LocalStoreFault, WhilePreparing) {
  const size_t failures = ForEachCall(
      [&](Scene& scene) {
        LocalStore store(scene.files, "/far/down/vault");
        return store.Prepare(kPrefixes);
      },
      [&](Scene& scene, bool) {
        LocalStore store(scene.files, "/far/down/vault");
        EXPECT_TRUE(IsOk(store.Prepare(kPrefixes)));
        EXPECT_TRUE(IsOk(PutObjects(store, {{"commits/a", ""}, {"segments/cd/b", ""}})));
      });
  EXPECT_GT(failures, 15u);
}

TEST_P(LocalStoreFault, WhileRemoving) {
  const size_t failures = ForEachCall(
      [&](Scene& scene) {
        // Not part of the act: without faults.
        LocalStore clean(scene.memory, "/vault");
        EXPECT_TRUE(IsOk(PutObjects(clean, {{"commits/a", "a"}, {"segments/ab/b", "b"}})));
        return scene.store.RemoveAll(Keys{"commits/a", "segments/ab/b"});
      },
      [&](Scene& scene, bool failed) {
        LocalStore clean(scene.memory, "/vault");
        if (!failed) {
          EXPECT_EQ(ObjectKeys(clean), Keys{"commits/old"});
        }
        for (const std::string& key : ObjectKeys(clean)) EXPECT_TRUE(IsOk(clean.Remove(key)));
      });
  EXPECT_EQ(failures, 6u);
}

TEST_P(LocalStoreFault, WhileReading) {
  const size_t failures = ForEachCall(
      [](Scene& scene) -> Status {
        COFFER_TRY(scene.store.Stat("commits/old"));
        COFFER_ASSIGN_OR_RETURN(const auto found, scene.store.List(""));
        EXPECT_EQ(found.size(), 5u);
        COFFER_TRY(scene.store.List("segments/ab"));
        COFFER_ASSIGN_OR_RETURN(const std::string content, ReadObject(scene.store, "commits/old"));
        EXPECT_EQ(content, "old");
        return OkStatus();
      },
      [](Scene&, bool) {});
  EXPECT_GT(failures, 15u);
}

TEST_P(LocalStoreFault, WhileSweepingAndSettling) {
  const size_t failures = ForEachCall(
      [](Scene& scene) -> Status {
        os::WriteTestFile(scene.memory, "/vault/tmp/upload-0123456789abcdef", "x");
        COFFER_TRY(scene.store.Settle(Keys{"commits/old"}));
        return scene.store.Sweep(std::chrono::seconds(0));
      },
      [](Scene& scene, bool) {
        EXPECT_TRUE(IsOk(scene.store.Sweep(std::chrono::seconds(0))));
        EXPECT_EQ(scene.Temporaries(), Keys{});
      });
  EXPECT_GT(failures, 6u);
}

}  // namespace
}  // namespace coffer::store
