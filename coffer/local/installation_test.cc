// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/installation.h"

#include <errno.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/local/internal/writer_file.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::local {
namespace {

using os::Call;
using os::FileSystem;
using vault::Absence;
using vault::Id;
using vault::SeenCommit;
using vault::WriterId;

const std::string kDirectory = "/user/state/coffer/abcd";

Id IdOf(uint8_t value) {
  Id id;
  id.fill(value);
  return id;
}

SeenCommit Commit(uint8_t writer, uint64_t seq) {
  SeenCommit commit;
  commit.writer.fill(writer);
  commit.seq = seq;
  commit.id = IdOf(static_cast<uint8_t>(seq));
  return commit;
}

std::vector<SeenCommit> Sorted(std::vector<SeenCommit> commits) {
  std::ranges::sort(commits);
  return commits;
}

class Installation : public testing::Test {
 protected:
  Installation() {
    EXPECT_TRUE(IsOk(memory_.MakeDirectory("/etc", 0755)));
    EXPECT_TRUE(IsOk(memory_.MakeDirectory("/user", 0755)));
    os::WriteTestFile(memory_, "/etc/machine-id", "0123456789abcdef\n");
  }

  static std::unique_ptr<FileInstallation> OpenOn(FileSystem& files,
                                                  const std::string& directory = kDirectory) {
    auto opened = FileInstallation::Open(files, {.directory = directory});
    EXPECT_TRUE(IsOk(opened));
    return std::move(opened).value();
  }
  std::unique_ptr<FileInstallation> Open() { return OpenOn(files_); }

  static void Add(FileInstallation& installation, uint64_t seq) {
    auto turn = installation.TakeTurn();
    ASSERT_TRUE(IsOk(turn));
    ASSERT_TRUE(IsOk((*turn)->Record(seq, IdOf(static_cast<uint8_t>(seq)))));
    ASSERT_TRUE(IsOk((*turn)->Confirm()));
  }

  os::MemoryFileSystem memory_;
  os::FaultFileSystem files_{memory_};
};

TEST_F(Installation, BeginsAsAWriterThatStays) {
  const auto first = Open();
  EXPECT_NE(first->writer(), WriterId{});
  EXPECT_EQ(first->notes(), std::vector<std::string>{});
  EXPECT_EQ(Open()->writer(), first->writer());
  EXPECT_EQ(memory_.Stat(kDirectory)->mode, 0700u);
  EXPECT_EQ(memory_.Stat(kDirectory + "/writer")->mode, 0600u);
  EXPECT_NE(OpenOn(memory_, "/user/other")->writer(), first->writer());
  const auto turn = std::move(first->TakeTurn()).value();
  EXPECT_EQ(turn->last(), std::nullopt);
  EXPECT_EQ(turn->intended(), std::nullopt);
}

TEST_F(Installation, CountsOnAcrossProcesses) {
  for (uint64_t seq = 1; seq <= 6; ++seq) {
    const auto installation = Open();
    auto turn = std::move(installation->TakeTurn()).value();
    const SeenCommit before = {installation->writer(), seq - 1,
                               IdOf(static_cast<uint8_t>(seq - 1))};
    EXPECT_EQ(turn->last(), seq == 1 ? std::nullopt : std::optional(before));
    EXPECT_EQ(turn->intended(), std::nullopt);
    ASSERT_TRUE(IsOk(turn->Record(seq, IdOf(static_cast<uint8_t>(seq)))));
    EXPECT_EQ(turn->intended()->seq, seq);
    ASSERT_TRUE(IsOk(turn->Confirm()));
    EXPECT_EQ(turn->last()->seq, seq);
  }
}

TEST_F(Installation, AnInterruptedCommitIsKnown) {
  Add(*Open(), 1);
  {
    const auto turn = std::move(Open()->TakeTurn()).value();
    ASSERT_TRUE(IsOk(turn->Record(2, IdOf(0x22))));
  }
  {
    const auto turn = std::move(Open()->TakeTurn()).value();
    EXPECT_EQ(turn->last()->seq, 1u);
    EXPECT_EQ(turn->intended()->id, IdOf(0x22));
    ASSERT_TRUE(IsOk(turn->Record(2, IdOf(0x23))));  // it was not published
  }
  const auto turn = std::move(Open()->TakeTurn()).value();
  EXPECT_EQ(turn->intended()->id, IdOf(0x23));
  ASSERT_TRUE(IsOk(turn->Confirm()));  // this one was
  EXPECT_EQ(turn->last()->id, IdOf(0x23));
}

TEST_F(Installation, NumbersFollowEachOther) {
  const auto installation = Open();
  auto turn = std::move(installation->TakeTurn()).value();
  EXPECT_EQ(ClassOf(turn->Confirm()), "invalid argument");
  EXPECT_EQ(ClassOf(turn->Record(0, {})), "invalid argument");
  EXPECT_EQ(ClassOf(turn->Record(2, {})), "invalid argument");
  EXPECT_TRUE(IsOk(turn->Record(1, {})));
}

TEST_F(Installation, ARecordCostsOneSync) {
  Add(*Open(), 1);
  const auto installation = Open();
  files_.ResetCounts();
  Add(*installation, 2);
  EXPECT_EQ(files_.SyncCount(), 1u);
  Add(*installation, 3);
  EXPECT_EQ(files_.SyncCount(), 2u);
  // After a record that was not confirmed one more: whether it was synced is not known.
  {
    ASSERT_TRUE(IsOk(std::move(installation->TakeTurn()).value()->Record(4, {})));
  }
  files_.ResetCounts();
  Add(*installation, 4);
  EXPECT_EQ(files_.SyncCount(), 2u);
}

TEST_F(Installation, ReadingSyncsNothing) {
  const auto installation = Open();
  EXPECT_TRUE(IsOk(installation->Remember(std::vector{Commit(1, 1)})));
  EXPECT_EQ(files_.SyncCount(), 0u);
}

TEST_F(Installation, TurnsExcludeEachOther) {
  auto first = std::move(Open()->TakeTurn()).value();
  std::atomic<bool> ended = false;
  std::thread other([&] {
    auto second = std::move(Open()->TakeTurn()).value();
    EXPECT_TRUE(ended);
    EXPECT_EQ(second->last()->seq, 1u);
  });
  ASSERT_TRUE(IsOk(first->Record(1, IdOf(1))));
  ASSERT_TRUE(IsOk(first->Confirm()));
  EXPECT_TRUE(IsOk(Open()->Remember(std::vector{Commit(1, 1)})));  // without waiting
  ended = true;
  first.reset();
  other.join();
}

TEST_F(Installation, RemembersTheNewestOfEachWriter) {
  const auto one = Open();
  const auto other = Open();
  ASSERT_TRUE(IsOk(one->Remember(std::vector{Commit(2, 5), Commit(1, 1)})));
  ASSERT_TRUE(IsOk(other->Remember(std::vector{Commit(3, 7), Commit(1, 4)})));
  ASSERT_TRUE(IsOk(one->Remember(std::vector{Commit(2, 3), Commit(3, 6)})));
  const std::vector expected = {Commit(1, 4), Commit(2, 5), Commit(3, 7)};
  EXPECT_EQ(Open()->Seen(), expected);
  EXPECT_EQ(one->Seen(), expected);
  files_.ResetCounts();
  ASSERT_TRUE(IsOk(one->Remember(expected)));
  EXPECT_EQ(files_.TotalCount(), 0u);
}

// Nobody need have read the vault since.
TEST_F(Installation, HasSeenWhatItPublished) {
  const WriterId writer = Open()->writer();
  {
    const auto installation = Open();
    const auto turn = std::move(installation->TakeTurn()).value();
    ASSERT_TRUE(IsOk(turn->Record(1, IdOf(5))));
    EXPECT_TRUE(Open()->Seen().empty());
    ASSERT_TRUE(IsOk(turn->Confirm()));
  }
  EXPECT_EQ(Open()->Seen(), (std::vector<SeenCommit>{{writer, 1, IdOf(5)}}));
}

TEST_F(Installation, NotesWhenAbsencesWereFirstNoticed) {
  const Absence a = {IdOf(1), {}, 0};
  const Absence b = {{}, Commit(7, 1).writer, 9};
  const vault::FileTime early = {-5, 7};
  const vault::FileTime late = {10'000'000'000, 999'999'999};
  const auto note = [&](const std::vector<Absence>& now, vault::FileTime time) {
    std::vector<std::pair<Absence, vault::FileTime>> result;
    std::vector<vault::FirstNoticed> current;
    current.reserve(now.size());
    for (const Absence& absence : now) current.push_back({absence, time});
    const auto all = Open()->NoteAbsences(current);
    for (const auto& noticed : all.value()) {
      result.emplace_back(noticed.absence, noticed.when);
    }
    return result;
  };
  using List = std::vector<std::pair<Absence, vault::FileTime>>;
  EXPECT_EQ(note({a}, early), (List{{a, early}}));
  EXPECT_EQ(note({b, a, b}, late), (List{{b, late}, {a, early}}));
  EXPECT_EQ(note({b}, early), (List{{b, late}}));
  EXPECT_EQ(note({a, b}, late), (List{{b, late}, {a, late}}));  // a was forgotten
  EXPECT_EQ(note({}, late), List{});
  EXPECT_EQ(Open()->Seen(), std::vector<SeenCommit>{});
}

TEST_F(Installation, ACopyIsANewWriterThatKnowsWhatWasSeen) {
  const WriterId before = Open()->writer();
  ASSERT_TRUE(IsOk(Open()->Remember(std::vector{Commit(1, 1)})));
  Add(*Open(), 1);
  // To another machine, another directory, and back into the same one.
  const std::vector<SeenCommit> all = Sorted({Commit(1, 1), {before, 1, IdOf(1)}});
  const auto expect_new = [&](const std::string& directory, const std::vector<SeenCommit>& seen) {
    const auto copy = OpenOn(memory_, directory);
    EXPECT_NE(copy->writer(), before);
    EXPECT_EQ(copy->Seen(), seen);
    ASSERT_EQ(copy->notes().size(), 1u);
    EXPECT_NE(copy->notes()[0].find("copied or restored"), std::string::npos);
    EXPECT_EQ(std::move(copy->TakeTurn()).value()->last(), std::nullopt);
    EXPECT_EQ(OpenOn(memory_, directory)->writer(), copy->writer());
    EXPECT_EQ(OpenOn(memory_, directory)->notes(), std::vector<std::string>{});
  };
  const std::string writer = os::ReadTestFile(memory_, kDirectory + "/writer");
  const std::string name = "/user/copy";
  ASSERT_TRUE(IsOk(memory_.MakeDirectory(name, 0700)));
  for (const std::string& file : os::ListTestDirectory(memory_, kDirectory)) {
    os::WriteTestFile(memory_, name + "/" + file,
                      os::ReadTestFile(memory_, kDirectory + "/" + file));
  }
  expect_new(name, all);
  ASSERT_TRUE(IsOk(memory_.Unlink(kDirectory + "/writer")));
  os::WriteTestFile(memory_, "/user/kept-out-of-the-way", "takes an inode");
  os::WriteTestFile(memory_, kDirectory + "/writer", writer);
  expect_new(kDirectory, all);
  // By now the directory has a writer that published nothing.
  os::WriteTestFile(memory_, "/etc/machine-id", "another\n");
  expect_new(kDirectory, {Commit(1, 1)});
}

TEST_F(Installation, DamageMakesANewWriter) {
  const WriterId before = Open()->writer();
  Add(*Open(), 1);
  Add(*Open(), 2);
  const std::string path = kDirectory + "/writer";
  const std::string good = os::ReadTestFile(memory_, path);
  ASSERT_EQ(good.size(), 2 * internal::kSlotSize);
  std::vector<std::string> damaged = {"", "x", good.substr(0, good.size() - 1), good + good};
  damaged.pop_back();  // more than is needed is not looked at
  for (const size_t place : {size_t{0}, size_t{20}, size_t{200}, internal::kSlotSize - 1}) {
    damaged.push_back(good);
    damaged.back()[place] ^= 1;
    damaged.back()[internal::kSlotSize + place] ^= 1;
  }
  for (const std::string& content : damaged) {
    os::WriteTestFile(memory_, path, content);
    const auto installation = Open();
    EXPECT_NE(installation->writer(), before);
    ASSERT_EQ(installation->notes().size(), 1u);
    EXPECT_NE(installation->notes()[0].find("damaged"), std::string::npos);
    Add(*installation, 1);
  }
}

TEST_F(Installation, OneWholeSlotIsEnough) {
  Add(*Open(), 1);
  const auto turn = std::move(Open()->TakeTurn()).value();
  const std::string path = kDirectory + "/writer";
  const std::string good = os::ReadTestFile(memory_, path);
  size_t kept = 0;
  for (size_t slot = 0; slot < 2; ++slot) {
    std::string torn = good;
    torn[slot * internal::kSlotSize + 100] ^= 1;
    os::WriteTestFile(memory_, path, torn);
    const auto file = internal::WriterFile::Open(memory_, path, os::Access::kRead);
    ASSERT_TRUE(IsOk(file));
    kept += (*file)->current().last_seq + (*file)->current().intended_seq;
  }
  EXPECT_EQ(kept, 2u);  // recorded in the one, confirmed in the other
}

TEST_F(Installation, DamageToWhatWasSeenIsTold) {
  ASSERT_TRUE(IsOk(Open()->Remember(std::vector{Commit(1, 1)})));
  ASSERT_TRUE(IsOk(Open()->Remember(std::vector{Commit(1, 2)})));
  const auto spoil = [&](const char* name) {
    std::string content = os::ReadTestFile(memory_, kDirectory + "/" + name);
    content[content.size() / 2] ^= 1;
    os::WriteTestFile(memory_, kDirectory + "/" + name, content);
  };
  spoil("seen-0");
  EXPECT_EQ(Open()->Seen(), std::vector{Commit(1, 1)});  // the one before
  EXPECT_EQ(Open()->notes(), std::vector<std::string>{});
  spoil("seen-1");
  EXPECT_EQ(Open()->Seen(), std::vector<SeenCommit>{});
  ASSERT_EQ(Open()->notes().size(), 1u);
  ASSERT_TRUE(IsOk(Open()->Remember(std::vector{Commit(1, 3)})));
  EXPECT_EQ(Open()->Seen(), std::vector{Commit(1, 3)});
  EXPECT_EQ(Open()->notes(), std::vector<std::string>{});
  os::WriteTestFile(memory_, kDirectory + "/seen-1", std::string(17 << 20, 'x'));
  os::WriteTestFile(memory_, kDirectory + "/seen-0", "");
  EXPECT_EQ(Open()->notes().size(), 1u);
}

// A home that cannot be written: everything that reads goes on.
TEST_F(Installation, WhatCannotBeKeptIsKeptForTheProcess) {
  Add(*Open(), 1);
  const WriterId writer = Open()->writer();
  for (const bool known : {true, false}) {
    os::FaultFileSystem files(memory_);
    for (const Call call :
         {Call::kCreate, Call::kCreateUnnamed, Call::kMakeDirectory, Call::kWrite, Call::kRename}) {
      files.FailAlways(call, EROFS);
    }
    const auto installation = OpenOn(files, known ? kDirectory : "/user/none/there");
    if (known) {
      EXPECT_EQ(installation->writer(), writer);
    } else {
      EXPECT_NE(installation->writer(), WriterId{});
      EXPECT_EQ(installation->notes().size(), 1u);
    }
    ASSERT_TRUE(IsOk(installation->Remember(std::vector{Commit(1, 1)})));
    std::vector<SeenCommit> seen = {Commit(1, 1)};
    if (known) seen.push_back({writer, 1, IdOf(1)});
    EXPECT_EQ(installation->Seen(), Sorted(seen));
    const Absence absence = {IdOf(1), {}, 0};
    const std::vector<vault::FirstNoticed> at_first = {{absence, {5, 0}}};
    const std::vector<vault::FirstNoticed> later = {{absence, {9, 0}}};
    EXPECT_EQ(installation->NoteAbsences(at_first)->size(), 1u);
    EXPECT_EQ(installation->NoteAbsences(later)->front().when.seconds, 5);
    ASSERT_FALSE(installation->notes().empty());
    EXPECT_NE(installation->notes()[0].find("cannot remember"), std::string::npos);
    EXPECT_EQ(ErrnoOf(installation->TakeTurn()), EROFS);
  }
}

TEST_F(Installation, AnyCallMayFail) {
  for (size_t n = 1;; ++n) {
    os::MemoryFileSystem memory;
    os::FaultFileSystem files(memory);
    ASSERT_TRUE(IsOk(memory.MakeDirectory("/user", 0755)));
    files.FailNthOfAny(n, EIO);
    auto opened = FileInstallation::Open(files, {.directory = kDirectory});
    ASSERT_TRUE(IsOk(opened));
    Status status = OkStatus();
    if (auto turn = (*opened)->TakeTurn(); turn.ok()) {
      status = (*turn)->Record(1, IdOf(1));
      if (status.ok()) status = (*turn)->Confirm();
      if (!status.ok()) {
        EXPECT_FALSE((*turn)->Record(1, IdOf(2)).ok()) << n;
      }
    } else {
      status = turn.error();
    }
    EXPECT_TRUE(IsOk((*opened)->Remember(std::vector{Commit(1, 1)})));
    EXPECT_EQ((*opened)->Seen(), std::vector{Commit(1, 1)});
    const bool struck = files.struck();
    files.ClearFaults();
    // What comes after begins from what is there.
    const auto next = OpenOn(files);
    auto turn = std::move(next->TakeTurn()).value();
    const uint64_t seq = turn->last() ? 2 : 1;
    if (status.ok()) {
      EXPECT_EQ(seq, 2u);
    }
    EXPECT_TRUE(IsOk(turn->Record(seq, IdOf(9))));
    for (const std::string& name : os::ListTestDirectory(memory, kDirectory)) {
      EXPECT_FALSE(name.starts_with(".coffer-tmp-")) << n;
    }
    if (!struck) break;
    ASSERT_LT(n, 200u);
  }
}

TEST(StateDirectory, IsWhereTheUserKeepsState) {
  vault::VaultId vault{};
  vault[0] = 0xab;
  const std::string id = "ab000000000000000000000000000000";
  ASSERT_EQ(setenv("HOME", "/user/me", 1), 0);
  ASSERT_EQ(setenv("XDG_STATE_HOME", "/state", 1), 0);
  EXPECT_EQ(StateDirectoryOf(vault).value(), "/state/coffer/" + id);
  ASSERT_EQ(setenv("XDG_STATE_HOME", "relative", 1), 0);
  EXPECT_EQ(StateDirectoryOf(vault).value(), "/user/me/.local/state/coffer/" + id);
  ASSERT_EQ(unsetenv("XDG_STATE_HOME"), 0);
  EXPECT_EQ(StateDirectoryOf(vault).value(), "/user/me/.local/state/coffer/" + id);
  ASSERT_EQ(unsetenv("HOME"), 0);
  EXPECT_EQ(ClassOf(StateDirectoryOf(vault)), "invalid argument");
}

}  // namespace
}  // namespace coffer::local
