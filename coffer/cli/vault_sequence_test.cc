// SPDX-License-Identifier: Apache-2.0
// What a vault says of commits that are missing, late, doubled or foreign; and many writers'
// commands against a model.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
// After gtest.
#include <rapidcheck/gtest.h>

#include "coffer/cli/testing/vault_process.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"

namespace coffer::cli {
namespace {

using vault::FindingClass;

constexpr int64_t kHour_ns = int64_t{3600} * 1'000'000'000;

class SetClock final : public os::Clock {
 public:
  int64_t MonotonicNanoseconds() override { return now; }
  int64_t WallNanoseconds() override { return now; }

  int64_t now = 1'800'000'000LL * 1'000'000'000;
};

class VaultSequence : public ::testing::Test {
 protected:
  VaultSequence() {
    store::LocalStore store(files_, "/vault");
    const crypto::CofferSeed seed = TestSeed();
    EXPECT_TRUE(IsOk(
        vault::InitVault(store, {kTestVaultId, seed, Bytes(212, 1), "k.key"}, os::SystemRandom())));
  }

  // A machine with a memory of its own.
  std::unique_ptr<VaultProcess> Machine(const std::string& name) {
    auto process = std::make_unique<VaultProcess>(files_, "/" + name, clock_);
    EXPECT_TRUE(IsOk(process->Open()));
    return process;
  }

  // The classes of what a machine finds, and of which keys.
  std::map<FindingClass, std::set<std::string>> FindingsOf(const std::string& name) {
    std::map<FindingClass, std::set<std::string>> found;
    const auto machine = Machine(name);
    for (const vault::Finding& finding : machine->vault->findings()) {
      found[finding.what].insert(finding.key);
    }
    return found;
  }

  std::vector<std::string> Commits() {
    store::LocalStore store(files_, "/vault");
    std::vector<std::string> keys;
    const std::vector<store::ObjectInfo> listed = store.List("commits").value();
    keys.reserve(listed.size());
    for (const store::ObjectInfo& info : listed) keys.push_back(info.key);
    return keys;
  }
  // The one commit that was not there before.
  std::string AddOne(VaultProcess& machine, const std::string& name) {
    const std::vector<std::string> before = Commits();
    EXPECT_TRUE(IsOk(machine.Add(name, name)));
    for (const std::string& key : Commits()) {
      if (std::ranges::find(before, key) == before.end()) return key;
    }
    return "none";
  }
  // Takes an object away; what brings it back.
  Bytes TakeAway(const std::string& key) {
    store::LocalStore store(files_, "/vault");
    Bytes content = store::ReadObject(store, key, 1 << 20).value();
    EXPECT_TRUE(IsOk(store.Remove(key)));
    return content;
  }
  void Put(const std::string& key, ByteSpan content) {
    store::LocalStore store(files_, "/vault");
    std::vector<std::unique_ptr<store::Upload>> uploads;
    uploads.push_back(std::move(store::MakeObject(store, key, content).value()));
    EXPECT_TRUE(IsOk(store.Publish(std::move(uploads))));
  }

  os::MemoryFileSystem files_;
  SetClock clock_;
};

TEST_F(VaultSequence, ALateCommitIsPendingForADayAndThenMissing) {
  const auto writer = Machine("writer");
  const std::string first = AddOne(*writer, "first");
  AddOne(*writer, "second");
  const Bytes content = TakeAway(first);
  // A machine that has not seen it waits; the one that made it does not.
  EXPECT_EQ(FindingsOf("reader")[FindingClass::kPending], std::set{first});
  EXPECT_EQ(FindingsOf("writer")[FindingClass::kMissing], std::set{first});
  clock_.now += 23 * kHour_ns;
  EXPECT_EQ(FindingsOf("reader")[FindingClass::kPending], std::set{first});
  clock_.now += 2 * kHour_ns;
  EXPECT_EQ(FindingsOf("reader")[FindingClass::kMissing], std::set{first});
  Put(first, content);
  EXPECT_TRUE(FindingsOf("reader").empty());
  // It counts anew if it goes again, and is known by now.
  TakeAway(first);
  EXPECT_EQ(FindingsOf("reader")[FindingClass::kMissing], std::set{first});
}

TEST_F(VaultSequence, TheNewestCommitIsMissedByWhoeverSawIt) {
  const auto writer = Machine("writer");
  AddOne(*writer, "first");
  const std::string second = AddOne(*writer, "second");
  EXPECT_TRUE(FindingsOf("reader").empty());
  TakeAway(second);
  EXPECT_EQ(FindingsOf("reader")[FindingClass::kMissing], std::set{second});
  EXPECT_EQ(FindingsOf("writer")[FindingClass::kMissing], std::set{second});
  // Nobody can miss what he never saw.
  EXPECT_TRUE(FindingsOf("stranger").empty());
}

TEST_F(VaultSequence, AGapInTheNumbersOfAWriter) {
  const auto writer = Machine("writer");
  AddOne(*writer, "first");
  const std::string second = AddOne(*writer, "second");
  const std::string third = AddOne(*writer, "third");
  AddOne(*writer, "fourth");
  TakeAway(second);
  TakeAway(third);
  const auto missing = FindingsOf("writer")[FindingClass::kMissing];
  EXPECT_TRUE(missing.contains(second) || missing.contains(third));
  clock_.now += 30 * kHour_ns;
  FindingsOf("reader");
  clock_.now += 30 * kHour_ns;
  EXPECT_FALSE(FindingsOf("reader")[FindingClass::kMissing].empty());
}

TEST_F(VaultSequence, ACopiedWriterMakesAFork) {
  AddOne(*Machine("writer"), "first");
  // A machine is cloned: the copy has its name, and its count.
  const auto copy_file = [&](const std::string& name) {
    os::OpenOptions reading;
    const auto from = files_.Open("/writer/" + name, reading);
    ASSERT_TRUE(IsOk(from));
    Bytes content((*from)->Stat()->size);
    ASSERT_EQ((*from)->ReadAt(0, content).value(), content.size());
    os::OpenOptions writing;
    writing.access = os::Access::kReadWrite;
    writing.creation = os::Creation::kMustBeNew;
    writing.mode = 0600;
    const auto to = files_.Open("/clone/" + name, writing);
    ASSERT_TRUE(IsOk(to));
    ASSERT_TRUE(IsOk((*to)->Write(content)));
  };
  ASSERT_TRUE(IsOk(files_.MakeDirectory("/clone", 0700)));
  const std::vector<os::DirectoryEntry> entries =
      files_.ReadDirectory("/writer", os::FileSystem::kNoLimit).value();
  for (const os::DirectoryEntry& entry : entries) copy_file(entry.name);
  const auto writer = Machine("writer");
  const auto clone = Machine("clone");
  ASSERT_TRUE(IsOk(writer->Add("by the writer", "one")));
  ASSERT_TRUE(IsOk(clone->Add("by the clone", "two")));
  if (writer->installation->writer() != clone->installation->writer()) return;  // it was noticed
  auto found = FindingsOf("reader");
  EXPECT_FALSE(found[FindingClass::kFork].empty());
  EXPECT_TRUE(found[FindingClass::kMissing].empty());
  const auto reader = Machine("reader");
  EXPECT_EQ(reader->ContentOf("by the writer"), "one");
  EXPECT_EQ(reader->ContentOf("by the clone"), "two");
}

// Commands of several writers, each of whom sees the vault as it was when he opened it.
struct Model {
  std::map<std::string, std::string> files;

  bool operator==(const Model&) const = default;
};

Model SeenBy(VaultProcess& process) {
  Model model;
  for (const vault::Version& version : process.vault->state().versions()) {
    model.files.emplace(version.entry.path, process.ContentOf(version.entry.path));
  }
  return model;
}

// Does something to both; the machine has seen all that there is.
void DoOneThing(VaultProcess& machine, Model& model) {
  const std::string name = *rc::gen::element<std::string>("a", "b", "c", "d/e");
  const bool is_there = model.files.contains(name);
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
    case 1: {
      const std::string content(*rc::gen::inRange<size_t>(0, 300), *rc::gen::inRange('a', 'z'));
      RC_ASSERT(machine.Add(name, content).ok());
      model.files[name] = content;
      break;
    }
    case 2:
      if (!is_there) break;
      RC_ASSERT(machine.Remove(name).ok());
      model.files.erase(name);
      break;
    default: {
      const std::string to = *rc::gen::element<std::string>("x", "y");
      if (!is_there || model.files.contains(to)) break;
      RC_ASSERT(machine.Move(name, to).ok());
      model.files[to] = model.files[name];
      model.files.erase(name);
      break;
    }
  }
}

RC_GTEST_PROP(VaultModel, AddRemoveMoveAndGet, ()) {
  os::MemoryFileSystem files;
  SetClock clock;
  store::LocalStore store(files, "/vault");
  const crypto::CofferSeed seed = TestSeed();
  RC_ASSERT(
      vault::InitVault(store, {kTestVaultId, seed, Bytes(212, 1), "k.key"}, os::SystemRandom())
          .ok());
  Model model;
  const size_t count = *rc::gen::inRange<size_t>(1, 25);
  for (size_t i = 0; i < count; ++i) {
    clock.now += 1'000'000'000;
    VaultProcess machine(files, *rc::gen::element<std::string>("/one", "/two", "/three"), clock);
    RC_ASSERT(machine.Open().ok());
    RC_ASSERT(SeenBy(machine) == model);
    RC_ASSERT(machine.vault->findings().empty());
    DoOneThing(machine, model);
  }
  VaultProcess last(files, "/four", clock);
  RC_ASSERT(last.Open().ok());
  RC_ASSERT(SeenBy(last) == model);
  RC_ASSERT(last.vault->findings().empty());
}

// Two writers who do not see each other: what either of them added and nobody who saw it removed is
// there, for both, whoever published first.
RC_GTEST_PROP(VaultModel, WhatAWriterDidNotSeeSurvivesHim, ()) {
  os::MemoryFileSystem files;
  SetClock clock;
  store::LocalStore store(files, "/vault");
  const crypto::CofferSeed seed = TestSeed();
  RC_ASSERT(
      vault::InitVault(store, {kTestVaultId, seed, Bytes(212, 1), "k.key"}, os::SystemRandom())
          .ok());
  VaultProcess one(files, "/one", clock);
  RC_ASSERT(one.Open().ok());
  RC_ASSERT(one.Add("shared", "at first").ok());
  RC_ASSERT(one.Open().ok());
  VaultProcess two(files, "/two", clock);
  RC_ASSERT(two.Open().ok());
  clock.now += 1'000'000'000;
  const bool removes = *rc::gen::arbitrary<bool>();
  if (removes) {
    RC_ASSERT(one.Remove("shared").ok());
  } else {
    RC_ASSERT(one.Add("shared", "by one").ok());
  }
  clock.now += *rc::gen::inRange<int64_t>(-5, 5) * 1'000'000'000;
  RC_ASSERT(two.Add("shared", "by two").ok());
  VaultProcess reader(files, "/three", clock);
  RC_ASSERT(reader.Open().ok());
  std::set<std::string> contents;
  vault::ContentReader content_reader(reader.store, reader.vault->state().segments());
  for (const vault::Version& version : reader.vault->state().Find("shared")) {
    std::string content;
    RC_ASSERT(content_reader
                  .Read(version.entry,
                        [&](uint64_t, ByteSpan bytes) {
                          content += AsText(bytes);
                          return OkStatus();
                        })
                  .ok());
    contents.insert(content);
  }
  const std::set<std::string> expected =
      removes ? std::set<std::string>{"by two"} : std::set<std::string>{"by one", "by two"};
  RC_ASSERT(contents == expected);
}

}  // namespace
}  // namespace coffer::cli
