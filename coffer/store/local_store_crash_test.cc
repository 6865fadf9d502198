// SPDX-License-Identifier: Apache-2.0
// A local store when the power goes, after every operation; and with each sync left out in turn,
// which one of the scenarios must notice: a sync that none misses has no business in the product.
#include <errno.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
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
using os::FileSystem;
using os::MemoryFileSystem;
using Keys = std::vector<std::string>;
using Objects = std::vector<std::pair<std::string, std::string>>;

const Keys kPrefixes = {"commits", "segments/ab", "segments/cd"};
constexpr uint64_t kSeedCount = 16;

// What a store was asked for and what it acknowledged.
struct Ledger {
  std::map<std::string, std::string> contents;  // of all objects, whatever became of them
  std::set<std::string> kept;                   // acknowledged
  std::set<std::string> removed;                // acknowledged

  void Put(Store& store, const Objects& objects) {
    contents.insert(objects.begin(), objects.end());
    if (!PutObjects(store, objects).ok()) return;
    for (const auto& [key, content] : objects) kept.insert(key);
  }
  void Settle(Store& store, const Keys& keys) {
    if (store.Settle(keys).ok()) kept.insert(keys.begin(), keys.end());
  }
  void Remove(Store& store, const Keys& keys) {
    for (const std::string& key : keys) kept.erase(key);
    if (store.RemoveAll(keys).ok()) removed.insert(keys.begin(), keys.end());
  }
};

struct Scenario {
  const char* name;
  std::string root;
  // What was before; all of it goes well.
  std::function<void(MemoryFileSystem&, const std::string& root, Ledger&)> before;
  // What the power may cut short.
  std::function<void(FileSystem&, const std::string& root, Ledger&)> act;
};

void Prepared(MemoryFileSystem& memory, const std::string& root, Ledger&) {
  LocalStore store(memory, root);
  EXPECT_TRUE(IsOk(store.Prepare(kPrefixes)));
}

const Objects kSegments = {{"segments/ab/1", std::string(9'000, 'x')},
                           {"segments/cd/2", "second"},
                           {"segments/ab/3", std::string(4'096, 'y')}};
const Objects kCommit = {{"commits/1", "refers to the segments"}};

void PrepareAndPublish(FileSystem& files, const std::string& root, Ledger& ledger) {
  LocalStore store(files, root);
  if (!store.Prepare(kPrefixes).ok()) return;
  ledger.Put(store, kSegments);
  ledger.Put(store, kCommit);
}

std::vector<Scenario> Scenarios() {
  std::vector<Scenario> all;
  // The first directory is there, from a process that was stopped before it synced anything.
  all.push_back({"NewStore", "/far/down/vault",
                 [](MemoryFileSystem& memory, const std::string&, Ledger&) {
                   EXPECT_TRUE(IsOk(memory.MakeDirectory("/far", 0777)));
                 },
                 PrepareAndPublish});
  all.push_back({"PrepareWasStopped", "/vault",
                 [](MemoryFileSystem& memory, const std::string& root, Ledger&) {
                   for (const char* name :
                        {"", "/tmp", "/commits", "/segments", "/segments/ab", "/segments/cd"}) {
                     EXPECT_TRUE(IsOk(memory.MakeDirectory(root + name, 0777)));
                   }
                 },
                 PrepareAndPublish});
  all.push_back({"Publish", "/vault", Prepared,
                 [](FileSystem& files, const std::string& root, Ledger& ledger) {
                   LocalStore store(files, root);
                   ledger.Put(store, kSegments);
                   ledger.Put(store, kCommit);
                 }});
  all.push_back({"PublishOne", "/vault", Prepared,
                 [](FileSystem& files, const std::string& root, Ledger& ledger) {
                   LocalStore store(files, root);
                   ledger.Put(store, {{"top", "an object in no directory"}});
                   ledger.Put(store, kCommit);
                 }});
  all.push_back({"DirectoriesWereLost", "/vault",
                 [](MemoryFileSystem& memory, const std::string& root, Ledger&) {
                   LocalStore store(memory, root);
                   EXPECT_TRUE(IsOk(store.Prepare({})));
                 },
                 [](FileSystem& files, const std::string& root, Ledger& ledger) {
                   LocalStore store(files, root);
                   ledger.Put(store, {{"segments/ab/1", "first"}, {"segments/cd/2", "second"}});
                 }});
  // Objects that are visible because a process was stopped between rename and sync.
  all.push_back({"Settle", "/vault",
                 [](MemoryFileSystem& memory, const std::string& root, Ledger& ledger) {
                   Prepared(memory, root, ledger);
                   FaultFileSystem files(memory);
                   files.FailAlways(Call::kSyncDirectory, EIO);
                   LocalStore store(files, root);
                   ledger.Put(store, kSegments);
                   EXPECT_TRUE(ledger.kept.empty());
                 },
                 [](FileSystem& files, const std::string& root, Ledger& ledger) {
                   LocalStore store(files, root);
                   ledger.Settle(store, {"segments/ab/1", "segments/cd/2", "segments/ab/3"});
                 }});
  all.push_back({"Remove", "/vault",
                 [](MemoryFileSystem& memory, const std::string& root, Ledger& ledger) {
                   Prepared(memory, root, ledger);
                   LocalStore store(memory, root);
                   ledger.Put(store, kSegments);
                   ledger.Put(store, kCommit);
                 },
                 [](FileSystem& files, const std::string& root, Ledger& ledger) {
                   LocalStore store(files, root);
                   ledger.Remove(store, {"commits/1"});
                   ledger.Remove(store, {"segments/cd/2", "segments/ab/1"});
                 }});
  return all;
}

// What is wrong with what a crash left; nothing if all is well.
std::string Complaint(FileSystem& left, const std::string& root, const Ledger& ledger) {
  LocalStore store(left, root);
  for (const std::string& key : ledger.kept) {
    if (!store.Stat(key).ok()) return key + " is lost";
  }
  for (const std::string& key : ledger.removed) {
    if (store.Stat(key).ok()) return key + " is back";
  }
  const auto found = store.List("");
  if (!found.ok()) return ledger.kept.empty() ? "" : MessageOf(found);
  for (const ObjectInfo& info : *found) {
    if (info.kind == EntryKind::kStranger) return info.key + " is a stranger";
    if (info.kind == EntryKind::kDirectory) continue;
    const auto expected = ledger.contents.find(info.key);
    if (expected == ledger.contents.end()) return info.key + " was never stored";
    if (ReadObject(store, info.key).value() != expected->second) return info.key + " is torn";
  }
  return "";
}

// The store goes on after a crash as if nothing had been.
void GoOn(FileSystem& left, const std::string& root) {
  LocalStore store(left, root);
  ASSERT_TRUE(IsOk(store.Prepare(kPrefixes)));
  ASSERT_TRUE(IsOk(store.Sweep(std::chrono::seconds(0))));
  EXPECT_EQ(os::ListTestDirectory(left, root + "/tmp"), Keys{});
  EXPECT_TRUE(IsOk(PutObject(store, "commits/after", "after")));
}

class LocalStoreCrash : public testing::TestWithParam<Scenario> {};

INSTANTIATE_TEST_SUITE_P(All, LocalStoreCrash, testing::ValuesIn(Scenarios()),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST_P(LocalStoreCrash, ThePowerMayGo) {
  const Scenario& scenario = GetParam();
  size_t cuts = 0;
  for (size_t operations = 0;; ++operations) {
    MemoryFileSystem memory;
    Ledger ledger;
    scenario.before(memory, scenario.root, ledger);
    memory.CutAfter(operations);
    scenario.act(memory, scenario.root, ledger);
    for (uint64_t seed = 0; seed < kSeedCount; ++seed) {
      const auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
      EXPECT_EQ(Complaint(*left, scenario.root, ledger), "") << operations << ' ' << seed;
      GoOn(*left, scenario.root);
    }
    if (!memory.cut()) break;
    ++cuts;
  }
  EXPECT_GE(cuts, 2u);
}

// The negative control: every sync of every scenario is needed.
TEST_P(LocalStoreCrash, NoSyncCanBeLeftOut) {
  const Scenario& scenario = GetParam();
  size_t n = 1;
  for (;; ++n) {
    MemoryFileSystem memory;
    FaultFileSystem files(memory);
    Ledger ledger;
    scenario.before(memory, scenario.root, ledger);
    files.SkipNthSync(n);
    scenario.act(files, scenario.root, ledger);
    EXPECT_FALSE(ledger.kept.empty() && ledger.removed.empty());
    const std::string complaint = Complaint(*memory.CrashDroppingUnsynced(), scenario.root, ledger);
    if (!files.struck()) {
      EXPECT_EQ(complaint, "");
      EXPECT_EQ(n, files.SyncCount() + 1);
      break;
    }
    EXPECT_NE(complaint, "") << "without sync " << n << " nothing is lost";
  }
  EXPECT_GE(n, 3u);
}

// A process is stopped before any call, and the next one takes over what it can see.
TEST(LocalStoreTakeover, WhatIsVisibleCanBeSettled) {
  size_t settled_count = 0;
  for (size_t n = 1;; ++n) {
    MemoryFileSystem memory;
    Ledger ledger;
    FaultFileSystem files(memory);
    files.BeforeNthOfAny(n, [&] {
      for (size_t call = 0; call < static_cast<size_t>(Call::kCount); ++call) {
        files.FailAlways(static_cast<Call>(call), EIO);
      }
    });
    PrepareAndPublish(files, "/vault", ledger);
    const bool finished = ledger.kept.contains("commits/1");
    LocalStore store(memory, "/vault");
    ASSERT_TRUE(IsOk(store.Prepare(kPrefixes)));
    for (const auto& [key, content] : kSegments) {
      if (store.Stat(key).ok()) {
        ledger.contents[key] = content;
        ledger.Settle(store, {key});
        ++settled_count;
      } else {
        ledger.Put(store, {{key, content}});
      }
      EXPECT_TRUE(ledger.kept.contains(key));
    }
    for (uint64_t seed = 0; seed < kSeedCount; ++seed) {
      const auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
      EXPECT_EQ(Complaint(*left, "/vault", ledger), "") << n << ' ' << seed;
    }
    if (finished) break;
  }
  EXPECT_GT(settled_count, 10u);
}

}  // namespace
}  // namespace coffer::store
