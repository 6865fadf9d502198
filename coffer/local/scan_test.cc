// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/scan.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>
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

using os::FileSystem;
using os::JoinPath;
using vault::Entry;
using vault::EntryKind;
using Names = std::vector<std::string>;

class NamedUsers final : public os::Users {
 public:
  std::string UserName(uint32_t user) override { return "user" + std::to_string(user); }
  std::string GroupName(uint32_t group) override { return "group" + std::to_string(group); }
};

// Reads every file, and keeps what it is shown.
class Recorder final : public ScanVisitor {
 public:
  Status OnEntry(ScannedItem& item) override {
    const Status read = item.entry().kind == EntryKind::kFile ? ReadData(item) : OkStatus();
    if (!read.ok()) {
      OnProblem(item.path(), read.error());
      return OkStatus();
    }
    names.push_back(item.entry().path);
    entries[item.entry().path] = item.entry();
    return stop_at == item.entry().path ? Status(Error(ErrorCode::kIo, "stopped")) : OkStatus();
  }
  void OnProblem(const std::string& path, const Error& error) override {
    problems.push_back(path);
    messages.push_back(error.message());
  }
  void OnNote(const std::string& path, const std::string& what) override {
    notes.push_back(path + " " + what);
  }

  Names names;
  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> data;
  Names problems;
  Names messages;
  Names notes;
  std::string stop_at = "(nowhere)";
  std::function<void()> while_reading = [] {};

 private:
  Status ReadData(ScannedItem& item) {
    COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<ScannedFile> file, item.Open());
    std::string content;
    while_reading();
    for (;;) {
      uint8_t buffer[1000];
      COFFER_ASSIGN_OR_RETURN(const size_t count, file->Read(buffer));
      if (count == 0) break;
      content += AsText(ByteSpan(buffer, count));
    }
    COFFER_TRY(file->FinishReading(item.entry()));
    data[item.entry().path] = content;
    return OkStatus();
  }
};

class Scanning : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "Memory") {
      base_ = &memory_;
      ASSERT_TRUE(IsOk(memory_.MakeDirectory(root_ = "/root", 0755)));
    } else {
      base_ = &os::RealFileSystem();
      root_ = directory_.path();
    }
    files_ = std::make_unique<os::FaultFileSystem>(*base_);
  }
  std::string At(const std::string& name) { return JoinPath(root_, name); }
  void Dir(const std::string& name) { ASSERT_TRUE(IsOk(base_->MakeDirectory(At(name), 0755))); }
  void Put(const std::string& name, std::string_view content) {
    os::WriteTestFile(*base_, At(name), content);
  }
  Status ScanTo(Recorder& recorder, const ScanOptions& options = {}) {
    return Scan(*files_, users_, {{At("src"), "src"}}, options, recorder);
  }

  os::TemporaryDirectory directory_;
  os::MemoryFileSystem memory_;
  FileSystem* base_ = nullptr;
  std::string root_;
  std::unique_ptr<os::FaultFileSystem> files_;
  NamedUsers users_;
};

INSTANTIATE_TEST_SUITE_P(All, Scanning, testing::Values("Real", "Memory"));

TEST_P(Scanning, DirectoriesComeFirstAndNamesInOrder) {
  for (const char* name : {"src", "src/b", "src/b/x", "src/a.d", "src/\xff\x1b"}) Dir(name);
  for (const char* name : {"src/z", "src/b/x/1", "src/a", "src/b!", "src/\xff\x1b/\n"}) {
    Put(name, "content of " + std::string(name));
  }
  Recorder recorder;
  ASSERT_TRUE(IsOk(ScanTo(recorder)));
  EXPECT_EQ(recorder.names, (Names{"src", "src/a", "src/a.d", "src/b", "src/b/x", "src/b/x/1",
                                   "src/b!", "src/z", "src/\xff\x1b", "src/\xff\x1b/\n"}));
  EXPECT_EQ(recorder.problems, Names{});
  EXPECT_EQ(recorder.notes, Names{});
  for (const auto& [name, content] : recorder.data) EXPECT_EQ(content, "content of " + name);
}

TEST_P(Scanning, EntriesSayWhatTheFilesAre) {
  Dir("src");
  Put("src/f", "12345");
  ASSERT_TRUE(IsOk(base_->Link(At("src/f"), At("src/g"))));
  ASSERT_TRUE(IsOk(base_->MakeSymlink("no/where\n", At("src/s"))));
  ASSERT_TRUE(IsOk(base_->MakeFifo(At("src/p"), 0600)));
  const os::FileTime early = {-1'000'000'000, 999'999'999};
  const os::FileTime late = {10'000'000'000, 1};  // beyond 2262
  bool has_attributes = false;
  {
    const auto file = std::move(base_->Open(At("src/f"), {})).value();
    ASSERT_TRUE(IsOk(file->SetMode(04751)));
    has_attributes = file->SetAttribute("user.b", AsBytes("2")).ok() &&
                     file->SetAttribute("user.a", AsBytes("1")).ok();
    ASSERT_TRUE(IsOk(file->SetTimes(late, early)));
  }
  Recorder recorder;
  ASSERT_TRUE(IsOk(ScanTo(recorder)));
  const os::FileStat stat = base_->Stat(At("src/f")).value();
  const Entry& f = recorder.entries.at("src/f");
  EXPECT_EQ(f.kind, EntryKind::kFile);
  EXPECT_EQ(f.mode, 04751u);
  EXPECT_EQ(f.size, 5u);
  EXPECT_EQ(f.modified, early);
  EXPECT_TRUE(f.accessed == late || f.accessed == stat.access_time);
  EXPECT_EQ(f.status_changed, stat.change_time);
  EXPECT_EQ(f.inode, stat.inode);
  EXPECT_EQ(f.user_name, "user" + std::to_string(f.user));
  EXPECT_EQ(f.group_name, "group" + std::to_string(f.group));
  EXPECT_EQ(f.flags, 0u);
  if (has_attributes) {
    EXPECT_EQ(f.attributes, (std::vector<vault::Attribute>{{"user.a", {'1'}}, {"user.b", {'2'}}}));
  }
  EXPECT_TRUE(f.link_group.has_value());
  EXPECT_EQ(f.link_group, recorder.entries.at("src/g").link_group);
  EXPECT_EQ(recorder.entries.at("src/s").kind, EntryKind::kSymlink);
  EXPECT_EQ(recorder.entries.at("src/s").link_target, "no/where\n");
  EXPECT_EQ(recorder.entries.at("src/p").kind, EntryKind::kFifo);
  EXPECT_EQ(recorder.entries.at("src").kind, EntryKind::kDirectory);
  EXPECT_FALSE(recorder.entries.at("src").link_group.has_value());
}

TEST_P(Scanning, SourcesMayBeAnythingAndHaveAnyName) {
  Dir("src");
  Put("src/f", "f");
  Dir("other");
  Put("other/g", "g");
  Recorder recorder;
  ASSERT_TRUE(IsOk(Scan(
      *files_, users_,
      {{At("src/f"), "deep/name"}, {At("other"), "o"}, {At("none"), "none"}, {At("src/f"), "b"}},
      {}, recorder)));
  EXPECT_EQ(recorder.names, (Names{"deep/name", "o", "o/g", "b"}));
  EXPECT_EQ(recorder.problems, Names{At("none")});
  Recorder top;
  ASSERT_TRUE(IsOk(Scan(*files_, users_, {{At("src/f"), ""}}, {}, top)));
  EXPECT_EQ(top.problems, Names{At("src/f")});  // a file needs a name
}

TEST_P(Scanning, OverlapsAreOneOrAnError) {
  Dir("src");
  Dir("src/d");
  Put("src/d/f", "f");
  const auto scan = [&](const std::vector<ScanSource>& sources) {
    Recorder recorder;
    const Status status = Scan(*files_, users_, sources, {}, recorder);
    return status.ok() ? recorder.names : Names{ClassOf(status)};
  };
  const Names all = {"src", "src/d", "src/d/f"};
  EXPECT_EQ(scan({{At("src"), "src"}, {At("src/d"), "src/d"}}), all);
  EXPECT_EQ(scan({{At("src/d/f"), "src/d/f"}, {At("src"), "src"}}), all);
  EXPECT_EQ(scan({{At("src"), "src"}, {At("src"), "src"}}), all);
  const Names refused = {"invalid argument"};
  EXPECT_EQ(scan({{At("src"), "a"}, {At("src/d"), "a"}}), refused);
  EXPECT_EQ(scan({{At("src"), "a"}, {At("src/d"), "a/b"}}), refused);
  EXPECT_EQ(scan({{At("src"), "../a"}}), refused);
  EXPECT_EQ(scan({{At("src"), "/a"}}), refused);
  EXPECT_EQ(scan({{At("src/d"), ""}}), (Names{"f"}));
  EXPECT_EQ(scan({{At("src/./"), ""}, {At("src//d"), "d"}}), (Names{"d", "d/f"}));
  EXPECT_EQ(scan({{At("src/d"), "x"}, {At("src/d/f"), "y"}}), (Names{"x", "x/f", "y"}));
}

TEST_P(Scanning, ALinkThatWasNamedIsALink) {
  Dir("d");
  ASSERT_TRUE(IsOk(base_->MakeSymlink("d", At("src"))));
  Recorder recorder;
  ASSERT_TRUE(IsOk(ScanTo(recorder)));
  EXPECT_EQ(recorder.names, Names{"src"});
  EXPECT_EQ(recorder.entries["src"].link_target, "d");
}

TEST_P(Scanning, LeavesOutWhatIsExcludedAndTheVault) {
  for (const char* name : {"src", "src/keep", "src/cache", "src/vault", "src/keep/cache"})
    Dir(name);
  for (const char* name : {"src/a.o", "src/keep/b.o", "src/cache/x", "src/vault/x"}) Put(name, "");
  Put("src/keep/c", "");
  ScanOptions options;
  ASSERT_TRUE(IsOk(options.excludes.AddLines("# objects\n*.o\r\n\n/src/cache/\nsrc\n")));
  options.vault = base_->Stat(At("src/vault")).value();
  Recorder recorder;
  ASSERT_TRUE(IsOk(ScanTo(recorder, options)));
  EXPECT_EQ(recorder.names, (Names{"src", "src/keep", "src/keep/c", "src/keep/cache"}));
  EXPECT_EQ(recorder.notes, Names{At("src/vault") + " is the vault itself, and left out"});
}

TEST_P(Scanning, FilesThatChangeAreMarked) {
  Dir("src");
  Put("src/f", std::string(5000, 'x'));
  for (const size_t size : {size_t{10'000}, size_t{3000}, size_t{0}, size_t{5000}}) {
    Put("src/f", std::string(5000, 'x'));
    Recorder recorder;
    recorder.while_reading = [&] { Put("src/f", std::string(size, 'y')); };
    ASSERT_TRUE(IsOk(ScanTo(recorder)));
    const Entry& entry = recorder.entries.at("src/f");
    EXPECT_EQ(entry.size, std::min<size_t>(size, 5000));
    EXPECT_EQ(entry.size, recorder.data.at("src/f").size());
    EXPECT_EQ(entry.flags, vault::kChangedWhileRead);
  }
}

TEST_P(Scanning, AFileThatWasReplacedIsAProblem) {
  Dir("src");
  Put("src/f", "old");
  Put("secret", "secret");
  bool planted = false;
  for (const bool as_link : {false, true}) {
    // Between the look at the name and the opening.
    for (size_t n = 1; n <= 12; ++n) {
      Put("src/f", "old");
      Recorder recorder;
      files_->BeforeNthOfAny(n, [&] {
        EXPECT_TRUE(IsOk(base_->Rename(At("src/f"), At("moved"))));
        if (as_link) {
          EXPECT_TRUE(IsOk(base_->MakeSymlink("../secret", At("src/f"))));
        } else {
          Put("src/f", "new");
        }
      });
      ASSERT_TRUE(IsOk(ScanTo(recorder)));
      for (const auto& [name, data] : recorder.data) EXPECT_NE(data, "secret");
      if (!recorder.problems.empty()) {
        planted = true;
        EXPECT_EQ(recorder.problems, Names{At("src/f")});
      }
      (void)base_->Unlink(At("src/f"));
      files_->ClearFaults();
    }
  }
  EXPECT_TRUE(planted);
}

TEST_P(Scanning, AVisitorEndsIt) {
  Dir("src");
  Put("src/a", "");
  Put("src/b", "");
  Recorder recorder;
  recorder.stop_at = "src/a";
  EXPECT_EQ(MessageOf(ScanTo(recorder)), "stopped");
  EXPECT_EQ(recorder.names, (Names{"src", "src/a"}));
}

// Whatever call fails, each item is there, or is named.
TEST_P(Scanning, AnyCallMayFail) {
  for (const char* name : {"src", "src/d", "src/e"}) Dir(name);
  for (const char* name : {"src/d/f", "src/d/g", "src/h"}) Put(name, "data");
  ASSERT_TRUE(IsOk(base_->MakeSymlink("x", At("src/s"))));
  const Names all = {"src", "src/d", "src/d/f", "src/d/g", "src/e", "src/h", "src/s"};
  size_t incomplete = 0;
  for (size_t n = 1;; ++n) {
    Recorder recorder;
    files_->ClearFaults();
    files_->FailNthOfAny(n, EIO);
    ASSERT_TRUE(IsOk(ScanTo(recorder)));
    if (!files_->struck()) {
      EXPECT_EQ(recorder.names, all);
      break;
    }
    EXPECT_LE(recorder.problems.size(), 1u);
    if (recorder.names == all && recorder.problems.empty()) continue;  // an attribute, or nothing
    ++incomplete;
    ASSERT_EQ(recorder.problems.size(), 1u) << n;
    const std::string& lost = recorder.problems[0];
    for (const std::string& name : all) {
      const bool there = recorder.entries.contains(name);
      EXPECT_TRUE(there || At(name).starts_with(lost)) << name << ' ' << n;
    }
  }
  EXPECT_GT(incomplete, 10u);
}

TEST(ScanReal, SocketsAndDevicesAreNeverOpened) {
  const os::TemporaryDirectory directory;
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (directory / "socket").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  NamedUsers users;
  Recorder recorder;
  ASSERT_TRUE(IsOk(Scan(os::RealFileSystem(), users,
                        {{directory.path(), "d"}, {"/dev/null", "null"}}, {}, recorder)));
  close(descriptor);
  EXPECT_EQ(recorder.entries.at("d/socket").kind, EntryKind::kSocket);
  EXPECT_EQ(recorder.entries.at("null").kind, EntryKind::kCharacterDevice);
  EXPECT_EQ(recorder.entries.at("null").device, (std::pair<uint64_t, uint64_t>(1, 3)));
  EXPECT_EQ(recorder.problems, Names{});
}

TEST(ScanReal, HolesAreNotRead) {
  const os::TemporaryDirectory directory;
  const auto make = [&](const std::string& name, const std::vector<uint64_t>& places,
                        uint64_t size) {
    os::WriteTestFile(os::RealFileSystem(), directory / name, "");
    os::OpenOptions options;
    options.access = os::Access::kReadWrite;
    const auto file = std::move(os::RealFileSystem().Open(directory / name, options)).value();
    for (const uint64_t place : places) {
      ASSERT_TRUE(IsOk(file->WriteAt(place, AsBytes(std::string(4096, 'd')))));
    }
    ASSERT_TRUE(IsOk(file->Truncate(size)));
  };
  make("all", {}, 1 << 20);
  make("middle", {1 << 20}, 3 << 20);
  make("ends", {0, 2 << 20}, (2 << 20) + 4096);
  NamedUsers users;
  Recorder recorder;
  ASSERT_TRUE(IsOk(Scan(os::RealFileSystem(), users, {{directory.path(), ""}}, {}, recorder)));
  for (const auto& [name, entry] : recorder.entries) {
    uint64_t holes = 0;
    for (const vault::Hole& hole : entry.holes) holes += hole.size;
    EXPECT_EQ(recorder.data.at(name).size(), entry.size - holes) << name;
  }
  if (recorder.entries.at("all").holes.empty()) return;  // a file system without holes
  EXPECT_EQ(recorder.entries.at("all").holes, (std::vector<vault::Hole>{{0, 1 << 20}}));
  EXPECT_EQ(recorder.entries.at("middle").holes.size(), 2u);
  EXPECT_EQ(recorder.entries.at("ends").holes.size(), 1u);
  EXPECT_EQ(recorder.data.at("middle"), std::string(4096, 'd'));
}

TEST(NormalizeName, KeepsWhatWasTyped) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a", "a"}, {"./a", "a"}, {"/a", "a"}, {"//a//b/", "a/b"},   {"a/./b/.", "a/b"},  {".", ""},
      {"/", ""},  {"", ""},     {"./", ""},  {".a/..b", ".a/..b"}, {"\xff/ ", "\xff/ "}};
  for (const auto& [typed, name] : cases) EXPECT_EQ(NormalizeName(typed).value(), name) << typed;
  for (const std::string& typed : {std::string(".."), std::string("../a"), std::string("a/.."),
                                   std::string("a\0b", 3), std::string((1 << 20) + 1, 'x')}) {
    EXPECT_EQ(ClassOf(NormalizeName(typed)), "invalid argument");
  }
  EXPECT_TRUE(IsOk(NormalizeName(std::string(1 << 20, 'x'))));
}

TEST(IsUnchanged, OnlyIfNothingDiffersAndAllIsOlder) {
  Entry stored;
  stored.size = 7;
  stored.modified = {100, 0};
  stored.status_changed = os::FileTime{200, 5};
  stored.inode = 9;
  const os::FileTime started = {200, 6};
  EXPECT_TRUE(IsUnchanged(stored, stored, started));
  EXPECT_FALSE(IsUnchanged(stored, stored, {200, 5}));  // at the start
  EXPECT_FALSE(IsUnchanged(stored, stored, {50, 0}));
  const std::vector<std::function<void(Entry&)>> changes = {
      [](Entry& e) { e.size = 8; },
      [](Entry& e) { e.modified.nanoseconds = 1; },
      [](Entry& e) { e.status_changed->nanoseconds = 4; },
      [](Entry& e) { e.status_changed.reset(); },
      [](Entry& e) { e.inode = 10; },
      [](Entry& e) { e.inode.reset(); },
      [](Entry& e) { e.kind = EntryKind::kSymlink; }};
  for (const auto& change : changes) {
    Entry scanned = stored;
    change(scanned);
    EXPECT_FALSE(IsUnchanged(scanned, stored, started));
    EXPECT_FALSE(IsUnchanged(stored, scanned, started));
  }
  Entry unknown = stored;
  unknown.status_changed.reset();
  EXPECT_FALSE(IsUnchanged(unknown, unknown, started));
  Entry young = stored;
  young.modified = {300, 0};
  EXPECT_FALSE(IsUnchanged(young, young, started));
}

}  // namespace
}  // namespace coffer::local
