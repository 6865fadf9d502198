// SPDX-License-Identifier: Apache-2.0
// The memory of an installation when the power goes, after every operation. A commit counts as
// published once Record succeeded; afterwards no other may get its number.
#include <errno.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/local/installation.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"

namespace coffer::local {
namespace {

using os::FileSystem;
using os::MemoryFileSystem;
using vault::Id;
using vault::SeenCommit;
using vault::WriterId;

const std::string kDirectory = "/state/coffer/abcd";

Id IdOf(uint64_t value) {
  Id id{};
  id[0] = static_cast<uint8_t>(value);
  return id;
}

// Everything that was ever published, as a store would show it.
struct Store {
  std::map<std::pair<WriterId, uint64_t>, Id> commits;
  uint64_t next_id = 1;
  bool fork = false;

  void Publish(const WriterId& writer, uint64_t seq, const Id& id) {
    const auto [at, fresh] = commits.emplace(std::pair(writer, seq), id);
    fork = fork || (!fresh && at->second != id);
  }
  [[nodiscard]] bool Has(const SeenCommit& commit) const {
    const auto found = commits.find({commit.writer, commit.seq});
    return found != commits.end() && found->second == commit.id;
  }
};

std::unique_ptr<FileInstallation> Open(FileSystem& files) {
  auto opened = FileInstallation::Open(files, {.directory = kDirectory});
  EXPECT_TRUE(IsOk(opened));
  return std::move(opened).value();
}

enum class Ending { kConfirms, kStopsBefore };

// One commit as a vault makes it. False if it could not.
bool AddOne(FileInstallation& installation, Store& store, Ending ending) {
  auto taken = installation.TakeTurn();
  if (!taken.ok()) return false;
  vault::Turn& turn = **taken;
  if (const auto intended = turn.intended(); intended && store.Has(*intended)) {
    if (!turn.Confirm().ok()) return false;
  }
  const uint64_t seq = turn.last() ? turn.last()->seq + 1 : 1;
  const Id id = IdOf(store.next_id++);
  if (!turn.Record(seq, id).ok()) return false;
  store.Publish(installation.writer(), seq, id);
  return ending == Ending::kStopsBefore || turn.Confirm().ok();
}

// Several processes, one after another.
void Act(FileSystem& files, Store& store) {
  (void)Open(files)->Remember(std::vector<SeenCommit>{{WriterId{1}, 1, {}}});
  for (const Ending ending : {Ending::kConfirms, Ending::kStopsBefore, Ending::kConfirms}) {
    const auto installation = Open(files);
    if (!AddOne(*installation, store, ending)) return;
    if (!AddOne(*installation, store, Ending::kConfirms)) return;
    if (!AddOne(*installation, store, ending)) return;
  }
}

TEST(InstallationCrash, NoNumberIsGivenTwice) {
  size_t cuts = 0;
  for (size_t operations = 0;; ++operations) {
    MemoryFileSystem memory;
    ASSERT_TRUE(IsOk(memory.MakeDirectory("/state", 0755)));
    ASSERT_TRUE(IsOk(memory.SyncDirectory("/")));
    Store store;
    memory.CutAfter(operations);
    Act(memory, store);
    EXPECT_FALSE(store.fork);
    for (uint64_t seed = 0; seed < 24; ++seed) {
      auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
      Store later = store;
      // And the power may go once more.
      left->CutAfter(seed * 2);
      (void)AddOne(*Open(*left), later, Ending::kStopsBefore);
      const auto again = left->CrashKeepingSome(seed + 100);
      const auto installation = Open(*again);
      if (!store.commits.empty()) {
        EXPECT_TRUE(later.commits.contains({installation->writer(), 1}))
            << "forgot which writer it was, " << operations << ' ' << seed;
      }
      EXPECT_TRUE(AddOne(*installation, later, Ending::kConfirms));
      EXPECT_TRUE(AddOne(*installation, later, Ending::kConfirms));
      EXPECT_FALSE(later.fork) << operations << ' ' << seed;
    }
    if (!memory.cut()) break;
    ++cuts;
  }
  EXPECT_GT(cuts, 30u);
}

// A failed sync may have lost what later ones do not bring back, and the process may be killed
// at any call.
TEST(InstallationCrash, FaultsBeforeACrash) {
  for (size_t n = 1;; ++n) {
    MemoryFileSystem memory;
    os::FaultFileSystem files(memory);
    ASSERT_TRUE(IsOk(memory.MakeDirectory("/state", 0755)));
    ASSERT_TRUE(IsOk(memory.SyncDirectory("/")));
    Store store;
    files.FailNthOfAny(n, EIO);
    Act(files, store);
    const bool struck = files.struck();
    files.ClearFaults();
    Act(files, store);
    EXPECT_FALSE(store.fork) << n;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
      Store later = store;
      EXPECT_TRUE(AddOne(*Open(*left), later, Ending::kConfirms));
      EXPECT_FALSE(later.fork) << n << ' ' << seed;
    }
    if (!struck) break;
    ASSERT_LT(n, 1000u);
  }
}

// The negative control.
TEST(InstallationCrash, NoSyncOfARecordCanBeLeftOut) {
  size_t missed = 0;
  for (size_t n = 1;; ++n) {
    MemoryFileSystem memory;
    os::FaultFileSystem files(memory);
    ASSERT_TRUE(IsOk(memory.MakeDirectory("/state", 0755)));
    ASSERT_TRUE(IsOk(memory.SyncDirectory("/")));
    Store store;
    files.SkipNthSync(n);
    const auto installation = Open(files);
    for (int i = 0; i < 3; ++i) {
      if (!AddOne(*installation, store, Ending::kConfirms)) break;
      bool noticed = false;
      for (uint64_t seed = 0; seed < 16; ++seed) {
        auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
        Store later = store;
        const auto next = Open(*left);
        noticed = noticed || next->writer() != installation->writer();
        EXPECT_TRUE(AddOne(*next, later, Ending::kConfirms));
        noticed = noticed || later.fork;
      }
      if (!files.struck()) {
        EXPECT_FALSE(noticed);
      } else if (noticed) {
        ++missed;
        break;
      }
    }
    if (!files.struck()) break;
  }
  EXPECT_GE(missed, 4u);
}

}  // namespace
}  // namespace coffer::local
