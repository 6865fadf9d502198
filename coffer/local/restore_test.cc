// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/restore.h"

#include <errno.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::local {
namespace {

using os::Call;
using os::FileKind;
using os::FileSystem;
using os::JoinPath;
using vault::Entry;
using vault::EntryKind;
using Names = std::vector<std::string>;

Entry Of(EntryKind kind, const std::string& path, uint32_t mode = 0640) {
  Entry entry;
  entry.kind = kind;
  entry.path = path;
  entry.mode = mode;
  entry.modified = {1'000'000'000, 123'456'789};
  return entry;
}

Entry FileOf(const std::string& path, const std::string& content, uint32_t mode = 0640) {
  Entry entry = Of(EntryKind::kFile, path, mode);
  entry.inline_data.assign(content.begin(), content.end());
  entry.size = content.size();
  return entry;
}

Entry SymlinkOf(const std::string& path, const std::string& target) {
  Entry entry = Of(EntryKind::kSymlink, path);
  entry.link_target = target;
  return entry;
}

Status Inline(const Entry& entry, DataSink& sink) {
  // In two parts, the second one first.
  const ByteSpan data(entry.inline_data);
  const size_t half = data.size() / 2;
  COFFER_TRY(sink.WriteAt(half, data.subspan(half)));
  return sink.WriteAt(0, data.first(half));
}

struct Outcome {
  Names failures;
  Names notes;
  std::string messages;
};

class Restoring : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "Memory") {
      base_ = &memory_;
      ASSERT_TRUE(IsOk(memory_.MakeDirectory(root_ = "/root", 0755)));
    } else {
      base_ = &os::RealFileSystem();
      root_ = directory_.path();
    }
    ASSERT_TRUE(IsOk(base_->MakeDirectory(At("outside"), 0755)));
    os::WriteTestFile(*base_, At("outside/secret"), "secret");
    files_ = std::make_unique<os::FaultFileSystem>(*base_);
  }
  std::string At(const std::string& name) { return JoinPath(root_, name); }
  std::string Get(const std::string& name) { return os::ReadTestFile(*base_, At("to/" + name)); }
  os::FileStat StatOf(const std::string& name) {
    return base_->StatNoFollow(At("to/" + name)).value();
  }
  bool Exists(const std::string& name) { return os::TestFileExists(*base_, At("to/" + name)); }

  Outcome Restore(const std::vector<Entry>& entries, const RestoreOptions& options = {},
                  const DataProvider& provider = Inline) {
    Outcome outcome;
    auto restorer = Restorer::Create(*files_, At("to"), options, provider);
    if (!restorer.ok()) {
      outcome.failures.emplace_back("(destination)");
      return outcome;
    }
    for (const Entry& entry : entries) (*restorer)->Add(entry, entry.path);
    (*restorer)->Finish();
    for (const RestoreProblem& problem : (*restorer)->problems()) {
      Names& list =
          problem.kind == RestoreProblem::Kind::kFailure ? outcome.failures : outcome.notes;
      const std::string prefix = At("to/");
      list.push_back(problem.path.starts_with(prefix) ? problem.path.substr(prefix.size())
                                                      : problem.path);
      outcome.messages += problem.message + '\n';
    }
    EXPECT_EQ((*restorer)->failed(), !outcome.failures.empty());
    return outcome;
  }

  // All temporaries below the root.
  size_t CountTemporaries(const std::string& directory) {
    size_t count = 0;
    for (const std::string& name : os::ListTestDirectory(*base_, directory)) {
      const std::string path = JoinPath(directory, name);
      if (name.starts_with(".coffer-tmp-")) ++count;
      const auto stat = base_->StatNoFollow(path);
      if (stat->kind == FileKind::kDirectory) count += CountTemporaries(path);
    }
    return count;
  }

  os::TemporaryDirectory directory_;
  os::MemoryFileSystem memory_;
  FileSystem* base_ = nullptr;
  std::string root_;
  std::unique_ptr<os::FaultFileSystem> files_;
};

INSTANTIATE_TEST_SUITE_P(All, Restoring, testing::Values("Real", "Memory"));

TEST_P(Restoring, MakesWhatTheEntriesSay) {
  Entry file = FileOf("d/f\n\xff", "content", 0440);
  file.accessed = os::FileTime{10'000'000'000, 1};
  file.modified = {-1'000'000'000, 999'999'999};
  Entry directory = Of(EntryKind::kDirectory, "d", 0550);
  Entry link = SymlinkOf("d/s", "/no/where");
  const Outcome outcome =
      Restore({directory, file, link, Of(EntryKind::kFifo, "d/p", 0604), FileOf("e/x/y", "")});
  EXPECT_EQ(outcome.messages, "");
  EXPECT_EQ(Get("d/f\n\xff"), "content");
  EXPECT_EQ(StatOf("d/f\n\xff").mode, 0440u);
  EXPECT_EQ(StatOf("d/f\n\xff").modify_time, file.modified);
  EXPECT_EQ(StatOf("d").mode, 0550u);
  EXPECT_EQ(StatOf("d").modify_time, directory.modified);
  EXPECT_EQ(base_->ReadLink(At("to/d/s")).value(), "/no/where");
  EXPECT_EQ(StatOf("d/s").modify_time, link.modified);
  EXPECT_EQ(StatOf("d/p").kind, FileKind::kFifo);
  EXPECT_EQ(StatOf("d/p").mode, 0604u);
  EXPECT_EQ(StatOf("e").mode, 0777 & ~base_->Umask());  // nobody said which
  EXPECT_EQ(StatOf("e/x").mode, 0777 & ~base_->Umask());
}

TEST_P(Restoring, AnyOrderWillDo) {
  const Outcome outcome = Restore({FileOf("a/b/f", "f"), Of(EntryKind::kDirectory, "a/b", 0500),
                                   Of(EntryKind::kDirectory, "a", 0510), FileOf("a/g", "g"),
                                   Of(EntryKind::kDirectory, "", 0511)});
  EXPECT_EQ(outcome.messages, "");
  EXPECT_EQ(StatOf("a/b").mode, 0500u);
  EXPECT_EQ(StatOf("a").mode, 0510u);
  EXPECT_EQ(base_->Stat(At("to"))->mode, 0511u);
  EXPECT_EQ(Get("a/g") + Get("a/b/f"), "gf");
}

TEST_P(Restoring, KeepsAttributesWhereThereAreAny) {
  Entry file = FileOf("f", "x", 0400);
  file.attributes = {{"user.coffer", {1, 0, 2}}};
  Entry bad = FileOf("g", "x");
  bad.attributes = {{std::string("user.a\0b", 8), {1}}};
  const Outcome outcome = Restore({file, bad});
  EXPECT_EQ(outcome.failures, Names{});
  EXPECT_EQ((*base_->Open(At("to/g"), {}))->ListAttributes().value(), Names{});
  const auto value = (*base_->Open(At("to/f"), {}))->GetAttribute("user.coffer");
  if (outcome.notes.empty()) {
    EXPECT_EQ(value.value(), (Bytes{1, 0, 2}));
  } else {
    EXPECT_EQ(outcome.notes, Names{"f"});
  }
}

TEST_P(Restoring, HolesStay) {
  Entry file = FileOf("f", std::string(4096, 'a') + std::string(100, 'b'));
  file.holes = {{0, 1 << 20}, {(1 << 20) + 4096, 1 << 20}, {(2 << 20) + 4196, 1 << 19}};
  file.size = (2 << 20) + 4196 + (1 << 19);
  EXPECT_EQ(Restore({file}).messages, "");
  std::string expected(file.size, '\0');
  std::fill_n(expected.begin() + (1 << 20), 4096, 'a');
  std::fill_n(expected.begin() + (2 << 20) + 4096, 100, 'b');
  EXPECT_EQ(Get("f"), expected);
  if (std::string(GetParam()) == "Real") {
    EXPECT_LE(StatOf("f").stored_size, 65536u);
  }

  Entry empty = Of(EntryKind::kFile, "hole");
  empty.size = 12345;
  empty.holes = {{0, 12345}};
  EXPECT_EQ(Restore({empty}).messages, "");
  EXPECT_EQ(Get("hole"), std::string(12345, '\0'));
}

TEST_P(Restoring, DataThatDoesNotFitIsRefused) {
  Entry less = FileOf("less", "abc");
  less.size = 4;
  Entry more = FileOf("more", "abc");
  more.size = 2;
  Entry outside = FileOf("outside", "abc");
  outside.holes = {{2, 2}};
  Entry overlap = FileOf("overlap", "");
  overlap.size = 100;
  overlap.holes = {{0, 60}, {50, 50}};
  Entry wrapped = FileOf("wrapped", "");
  wrapped.holes = {{UINT64_MAX, 2}};
  const Outcome outcome = Restore({less, more, outside, overlap, wrapped, FileOf("good", "abc")});
  EXPECT_EQ(outcome.failures, (Names{"less", "more", "outside", "overlap", "wrapped"}));
  EXPECT_EQ(os::ListTestDirectory(*base_, At("to")), Names{"good"});
}

TEST_P(Restoring, LinksAreRestoredAsLinks) {
  std::vector<Entry> entries;
  for (const char* name : {"a", "d/b", "c", "other"}) {
    Entry entry = FileOf(name, "linked");
    entry.link_group = 7;
    entry.inode = 42;
    entries.push_back(entry);
  }
  entries[3] = FileOf("other", "different");  // a number that passed on
  entries[3].link_group = 7;
  EXPECT_EQ(Restore(entries).messages, "");
  EXPECT_EQ(StatOf("a").link_count, 3u);
  EXPECT_TRUE(os::SameObject(StatOf("a"), StatOf("d/b")));
  EXPECT_TRUE(os::SameObject(StatOf("a"), StatOf("c")));
  EXPECT_EQ(Get("other"), "different");
  EXPECT_EQ(StatOf("other").link_count, 1u);
}

TEST_P(Restoring, LinksOfAFileThatFailedAreFiles) {
  std::vector<Entry> entries;
  for (const char* name : {"a", "b", "c"}) {
    entries.push_back(FileOf(name, "linked"));
    entries.back().link_group = 0;
  }
  const auto fail_a = [](const Entry& entry, DataSink& sink) {
    if (entry.path == "a") return Status(Error(ErrorCode::kDamaged, "damaged"));
    return Inline(entry, sink);
  };
  EXPECT_EQ(Restore(entries, {}, fail_a).failures, Names{"a"});
  EXPECT_EQ(Get("b"), "linked");
  EXPECT_TRUE(os::SameObject(StatOf("b"), StatOf("c")));
  // Where there are no links.
  files_->FailAlways(Call::kLink, EPERM);
  for (Entry& entry : entries) entry.path = "n" + entry.path;
  EXPECT_EQ(Restore(entries).messages, "");
  EXPECT_EQ(Get("na") + Get("nb") + Get("nc"), "linkedlinkedlinked");
}

TEST_P(Restoring, WhatExistsStaysUnlessAskedFor) {
  ASSERT_TRUE(IsOk(base_->MakeDirectory(At("to"), 0755)));
  ASSERT_TRUE(IsOk(base_->MakeDirectory(At("to/dir"), 0711)));
  os::WriteTestFile(*base_, At("to/file"), "old");
  ASSERT_TRUE(IsOk(base_->MakeSymlink("file", At("to/link"))));
  const std::vector<Entry> entries = {FileOf("file", "new"),
                                      FileOf("link", "new"),
                                      SymlinkOf("file2", "x"),
                                      FileOf("file2", "new"),
                                      FileOf("dir", "new"),
                                      Of(EntryKind::kDirectory, "dir", 0700),
                                      Of(EntryKind::kDirectory, "file", 0700)};
  const Outcome kept = Restore(entries);
  EXPECT_EQ(kept.failures, (Names{"file", "link", "file2", "dir", "file"}));
  EXPECT_EQ(Get("file"), "old");
  EXPECT_EQ(base_->ReadLink(At("to/link")).value(), "file");
  EXPECT_EQ(StatOf("dir").mode, 0711u);

  const Outcome replaced = Restore(entries, {.overwrite = true});
  EXPECT_EQ(replaced.failures, (Names{"file", "dir"}));  // a directory for a file, and back
  EXPECT_EQ(Get("file"), "new");
  EXPECT_EQ(StatOf("link").kind, FileKind::kRegular);
  EXPECT_EQ(Get("file2"), "new");
  EXPECT_EQ(StatOf("dir").mode, 0700u);
  EXPECT_EQ(Restore({SymlinkOf("file", "y")}, {.overwrite = true}).messages, "");
  EXPECT_EQ(base_->ReadLink(At("to/file")).value(), "y");
  EXPECT_EQ(CountTemporaries(root_), 0u);
}

TEST_P(Restoring, NothingLeavesTheDestination) {
  ASSERT_TRUE(IsOk(base_->MakeDirectory(At("to"), 0755)));
  ASSERT_TRUE(IsOk(base_->MakeSymlink("../outside", At("to/before"))));
  const Outcome outcome =
      Restore({FileOf("before/f", "x"), SymlinkOf("entry", "../outside"), FileOf("entry/f", "x"),
               Of(EntryKind::kDirectory, "entry/d"), SymlinkOf("entry/s", "x"),
               Of(EntryKind::kFifo, "entry/p"), FileOf("../up", "x"), FileOf("/abs", "x"),
               FileOf("a/../../up", "x"), FileOf("a//b", "x"), FileOf(".", "x"), FileOf("", "x"),
               Of(EntryKind::kDirectory, "before"), FileOf(std::string("nul\0x", 5), "x"),
               SymlinkOf("nul", std::string("a\0b", 3)), FileOf("good", "x")},
              {.overwrite = true});
  EXPECT_EQ(outcome.failures.size(), 14u);
  EXPECT_EQ(os::ListTestDirectory(*base_, At("outside")), Names{"secret"});
  EXPECT_EQ(os::ListTestDirectory(*base_, At("to")), (Names{"before", "entry", "good"}));
  EXPECT_EQ(os::ListTestDirectory(*base_, root_), (Names{"outside", "to"}));
  EXPECT_NE(outcome.messages.find("is a symbolic link, where a directory should be"),
            std::string::npos);
}

// Somebody who may write below the destination swaps a directory for a link, at any moment.
TEST_P(Restoring, APlantedLinkIsNotFollowed) {
  Entry linked = FileOf("d/e/l1", "x");
  linked.link_group = 1;
  Entry second = linked;
  second.path = "d/l2";
  const std::vector<Entry> entries = {Of(EntryKind::kDirectory, "d", 0755),
                                      Of(EntryKind::kDirectory, "d/e", 0755),
                                      FileOf("d/secret", "overwritten"),
                                      FileOf("d/e/secret", "overwritten"),
                                      linked,
                                      second,
                                      SymlinkOf("d/s", "x"),
                                      Of(EntryKind::kFifo, "d/p")};
  size_t swaps = 0;
  for (const bool overwrite : {false, true}) {
    for (size_t n = 1;; ++n) {
      bool ran = false;
      files_->BeforeNthOfAny(n, [&] {
        ran = true;
        for (const char* name : {"to/d", "to/d/e"}) {
          if (!base_->Rename(At(name), At("aside")).ok()) continue;
          const char* target = name == std::string("to/d") ? "../outside" : "../../outside";
          EXPECT_TRUE(IsOk(base_->MakeSymlink(target, At(name))));
          ++swaps;
          break;
        }
      });
      (void)Restore(entries, {.overwrite = overwrite});
      files_->ClearFaults();
      EXPECT_EQ(os::ListTestDirectory(*base_, At("outside")), Names{"secret"}) << n;
      EXPECT_EQ(os::ReadTestFile(*base_, At("outside/secret")), "secret");
      EXPECT_EQ(base_->Stat(At("outside"))->mode, 0755u);
      // Away with all of it.
      const std::function<void(const std::string&)> remove = [&](const std::string& path) {
        const auto stat = base_->StatNoFollow(path);
        if (!stat.ok()) return;
        if (stat->kind != FileKind::kDirectory) {
          EXPECT_TRUE(IsOk(base_->Unlink(path)));
          return;
        }
        for (const std::string& name : os::ListTestDirectory(*base_, path)) {
          remove(JoinPath(path, name));
        }
        EXPECT_TRUE(IsOk(base_->RemoveDirectory(path)));
      };
      remove(At("to"));
      remove(At("aside"));
      if (!ran) break;
    }
  }
  EXPECT_GT(swaps, 40u);
}

TEST_P(Restoring, WhatCannotBeHereIsNoted) {
  Entry owned = FileOf("owned", "x", 06755);
  owned.user = 4'000'000;
  owned.group = 4'000'001;
  const Outcome outcome =
      Restore({Of(EntryKind::kSocket, "socket"), Of(EntryKind::kBlockDevice, "disk"), owned,
               FileOf(std::string(256, 'n'), "x")},
              {.set_owner = false});
  EXPECT_EQ(outcome.notes, (Names{"socket", "disk", "owned"}));
  EXPECT_EQ(outcome.failures, Names{std::string(256, 'n')});
  EXPECT_EQ(StatOf("owned").mode, 0755u);
  EXPECT_EQ(os::ListTestDirectory(*base_, At("to")), Names{"owned"});
  if (std::string(GetParam()) == "Real" && !os::MaySetOwners()) return;
  owned.path = "given";
  EXPECT_EQ(Restore({owned}, {.set_owner = true}).messages, "");
  EXPECT_EQ(StatOf("given").user, 4'000'000u);
  EXPECT_EQ(StatOf("given").mode, 06755u);
}

TEST_P(Restoring, WaitsForTheDiskOnceForEachFileAndDirectory) {
  std::vector<Entry> entries = {Of(EntryKind::kDirectory, "d"), Of(EntryKind::kDirectory, "d/e")};
  for (size_t i = 0; i < 600; ++i) {
    entries.push_back(FileOf((i % 2 == 0 ? "d/" : "d/e/") + std::to_string(i), "x"));
  }
  ASSERT_TRUE(IsOk(base_->MakeDirectory(At("to"), 0755)));
  EXPECT_EQ(Restore(entries).messages, "");
  EXPECT_EQ(files_->Count(Call::kSync), 600u + 3u);
  EXPECT_EQ(files_->Count(Call::kSyncDirectory), 0u);
  EXPECT_EQ(Get("d/e/599"), "x");
}

// Whatever call fails: what is there is whole, and what is not is named.
TEST_P(Restoring, AnyCallMayFail) {
  const auto entries_at = [&](const std::string& top) {
    Entry one = FileOf(top + "/d/one", std::string(9000, '1'));
    one.link_group = 3;
    Entry two = one;
    two.path = top + "/two";
    return std::vector<Entry>{Of(EntryKind::kDirectory, top, 0755),
                              Of(EntryKind::kDirectory, top + "/d", 0755),
                              one,
                              FileOf(top + "/d/f", "f"),
                              two,
                              SymlinkOf(top + "/s", "x"),
                              Of(EntryKind::kFifo, top + "/p")};
  };
  for (const bool overwrite : {false, true}) {
    size_t incomplete = 0;
    for (size_t n = 1;; ++n) {
      const std::string top = std::to_string(n) + (overwrite ? "o" : "");
      const std::vector<Entry> entries = entries_at(top);
      if (overwrite) (void)Restore(entries);
      files_->FailNthOfAny(n, ENOSPC);
      const Outcome outcome = Restore(entries, {.overwrite = overwrite});
      const bool struck = files_->struck();
      files_->ClearFaults();
      if (!struck) {
        EXPECT_EQ(outcome.messages, "");
        break;
      }
      if (outcome.failures == Names{"(destination)"}) continue;
      for (const Entry& entry : entries) {
        const bool named = std::ranges::any_of(outcome.failures, [&](const std::string& failed) {
          return entry.path.starts_with(failed) || failed.starts_with(At("to"));
        });
        const bool there = Exists(entry.path);
        EXPECT_TRUE(there || named) << entry.path << ' ' << n << '\n' << outcome.messages;
        if (there && entry.kind == EntryKind::kFile) {
          EXPECT_EQ(Get(entry.path).size(), entry.size);
        }
      }
      if (!outcome.failures.empty()) ++incomplete;
      EXPECT_EQ(CountTemporaries(At("to")), 0u) << n;
    }
    EXPECT_GT(incomplete, 15u);
  }
}

TEST_P(Restoring, OneFileAtAPath) {
  std::vector<RestoreProblem> problems;
  Entry entry = FileOf("deep/in/the/vault", "content", 0604);
  EXPECT_TRUE(IsOk(RestoreFile(*files_, entry, At("out"), {}, Inline, problems)));
  EXPECT_EQ(os::ReadTestFile(*base_, At("out")), "content");
  EXPECT_EQ(base_->Stat(At("out"))->mode, 0604u);
  entry = FileOf("x", "second");
  EXPECT_FALSE(RestoreFile(*files_, entry, At("out"), {}, Inline, problems).ok());
  EXPECT_EQ(problems.size(), 1u);
  EXPECT_TRUE(IsOk(RestoreFile(*files_, entry, At("out"), {.overwrite = true}, Inline, problems)));
  EXPECT_EQ(os::ReadTestFile(*base_, At("out")), "second");
  EXPECT_EQ(
      ClassOf(RestoreFile(*files_, Of(EntryKind::kDirectory, "d"), At("d"), {}, Inline, problems)),
      "invalid argument");
}

// Without O_TMPFILE there are names beside, which a run that was killed leaves behind.
TEST_P(Restoring, NamedTemporariesAreSwept) {
  files_->FailAlways(Call::kCreateUnnamed, ENOTSUP);
  std::vector<Entry> entries;
  for (int i = 0; i < 300; ++i) entries.push_back(FileOf("d/" + std::to_string(i), "x"));
  EXPECT_EQ(Restore(entries).messages, "");
  os::WriteTestFile(*base_, At("to/d/.coffer-tmp-0123456789abcdef"), "left over");
  os::WriteTestFile(*base_, At("to/.coffer-tmp-0123456789abcdef"), "left over");
  EXPECT_EQ(Restore({FileOf("d/more", "x")}).messages, "");
  EXPECT_EQ(CountTemporaries(At("to")), 0u);
  EXPECT_EQ(os::ListTestDirectory(*base_, At("to/d")).size(), 301u);
}

// The power goes after any operation: a file that has its name has its content.
TEST(RestoreCrash, NoFileIsTorn) {
  for (size_t operations = 0;; ++operations) {
    os::MemoryFileSystem memory;
    ASSERT_TRUE(IsOk(memory.MakeDirectory("/to", 0755)));
    ASSERT_TRUE(IsOk(memory.SyncDirectory("/")));
    memory.CutAfter(operations);
    const std::vector<Entry> entries = {FileOf("d/a", std::string(9000, 'a')), FileOf("d/e/b", "b"),
                                        FileOf("c", "c")};
    auto restorer = Restorer::Create(memory, "/to", {}, Inline);
    bool all = false;
    if (restorer.ok()) {
      for (const Entry& entry : entries) (*restorer)->Add(entry, entry.path);
      (*restorer)->Finish();
      all = !(*restorer)->failed();
    }
    for (uint64_t seed = 0; seed < 16; ++seed) {
      const auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
      for (const Entry& entry : entries) {
        const std::string path = "/to/" + entry.path;
        const bool there = os::TestFileExists(*left, path);
        EXPECT_TRUE(there || !all) << path;
        if (there) {
          EXPECT_EQ(AsBytes(os::ReadTestFile(*left, path)).size(), entry.size);
        }
      }
    }
    if (!memory.cut()) {
      EXPECT_TRUE(all);
      break;
    }
  }
}

}  // namespace
}  // namespace coffer::local
