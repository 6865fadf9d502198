// SPDX-License-Identifier: Apache-2.0
// What every store does, whatever it stands on.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"
#include "coffer/store/local_store.h"
#include "coffer/store/store.h"
#include "coffer/store/testing/fault_store.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/store/testing/objects.h"

namespace coffer::store {
namespace {

using Keys = std::vector<std::string>;

struct Subject {
  virtual ~Subject() = default;
  virtual Store& store() = 0;
};

struct MemorySubject final : Subject {
  Store& store() override { return memory; }
  MemoryStore memory;
};

struct LocalOnMemorySubject final : Subject {
  Store& store() override { return local; }
  os::MemoryFileSystem files;
  LocalStore local{files, "/vault"};
};

struct LocalOnDiskSubject final : Subject {
  Store& store() override { return local; }
  os::TemporaryDirectory directory;
  LocalStore local{os::RealFileSystem(), directory / "vault"};
};

struct FaultSubject final : Subject {
  Store& store() override { return fault; }
  LocalOnMemorySubject base;
  FaultStore fault{base.local};
};

template <class T>
std::unique_ptr<Subject> Make() {
  return std::make_unique<T>();
}

struct Maker {
  const char* name;
  std::unique_ptr<Subject> (*make)();
};

class StoreConformance : public testing::TestWithParam<Maker> {
 protected:
  void Prepare(const Keys& prefixes = {"segments/ab", "segments/cd", "commits"}) {
    ASSERT_TRUE(IsOk(store_.Prepare(prefixes)));
  }
  std::unique_ptr<Subject> subject_ = GetParam().make();
  Store& store_ = subject_->store();
};

INSTANTIATE_TEST_SUITE_P(All, StoreConformance,
                         testing::Values(Maker{"Memory", Make<MemorySubject>},
                                         Maker{"LocalOnMemory", Make<LocalOnMemorySubject>},
                                         Maker{"LocalOnDisk", Make<LocalOnDiskSubject>},
                                         Maker{"FaultStore", Make<FaultSubject>}),
                         [](const auto& param_info) { return param_info.param.name; });

TEST_P(StoreConformance, PublishesWhatWasWritten) {
  Prepare();
  for (const size_t size : std::initializer_list<size_t>{0, 1, 4096, 100'000, (8 << 20) + 3}) {
    const std::string key = "segments/ab/" + std::to_string(size);
    std::string content(size, 'a');
    for (size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 7 % 251);
    auto upload = std::move(store_.Begin(std::nullopt)).value();
    const size_t half = size / 2;
    ASSERT_TRUE(IsOk(upload->Write(AsBytes(content).first(half))));
    EXPECT_EQ(upload->size(), half);
    EXPECT_EQ(upload->key(), "");
    ASSERT_TRUE(IsOk(upload->Write(AsBytes(content).subspan(half))));
    ASSERT_TRUE(IsOk(upload->Finish(key)));
    EXPECT_EQ(upload->size(), size);
    EXPECT_EQ(upload->key(), key);
    std::vector<std::unique_ptr<Upload>> uploads;
    uploads.push_back(std::move(upload));
    ASSERT_TRUE(IsOk(store_.Publish(std::move(uploads))));
    EXPECT_EQ(store_.Stat(key)->size, size);
    EXPECT_TRUE(ReadObject(store_, key).value() == content) << size;
  }
  EXPECT_TRUE(store_.Warnings().empty());
}

TEST_P(StoreConformance, TheExpectedSizeIsAHint) {
  Prepare();
  int number = 0;
  for (const uint64_t expected : std::initializer_list<uint64_t>{0, 1, 5, 6, 100'000}) {
    const std::string key = "commits/" + std::to_string(number++);
    auto upload = std::move(store_.Begin(expected)).value();
    ASSERT_TRUE(IsOk(upload->Write(AsBytes("hello"))));
    ASSERT_TRUE(IsOk(upload->Finish(key)));
    std::vector<std::unique_ptr<Upload>> uploads;
    uploads.push_back(std::move(upload));
    ASSERT_TRUE(IsOk(store_.Publish(std::move(uploads))));
    EXPECT_EQ(ReadObject(store_, key).value(), "hello") << expected;
  }
}

TEST_P(StoreConformance, NothingShowsBeforePublish) {
  Prepare();
  auto upload = MakeUpload(store_, "commits/a", "content");
  ASSERT_TRUE(IsOk(upload));
  EXPECT_EQ(ClassOf(store_.Stat("commits/a")), "not found");
  EXPECT_EQ(ObjectKeys(store_), Keys{});
  upload->reset();
  EXPECT_EQ(ObjectKeys(store_), Keys{});
  EXPECT_TRUE(IsOk(store_.Publish({})));
  EXPECT_EQ(ObjectKeys(store_), Keys{});
}

TEST_P(StoreConformance, PublishesMany) {
  Prepare();
  std::vector<std::pair<std::string, std::string>> objects;
  for (int i = 0; i < 40; ++i) {
    objects.emplace_back("segments/" + std::string(i % 2 == 0 ? "ab/" : "cd/") + std::to_string(i),
                         "content " + std::to_string(i));
  }
  ASSERT_TRUE(IsOk(PutObjects(store_, objects)));
  for (const auto& [key, content] : objects) EXPECT_EQ(ReadObject(store_, key).value(), content);
  EXPECT_EQ(ObjectKeys(store_).size(), 40u);
  EXPECT_TRUE(IsOk(store_.Settle(Keys{"segments/ab/0", "segments/cd/1", "segments/cd/3"})));
}

TEST_P(StoreConformance, ATakenKeyIsRefused) {
  Prepare();
  ASSERT_TRUE(IsOk(PutObject(store_, "commits/b", "old")));
  const Status status =
      PutObjects(store_, {{"commits/a", "first"}, {"commits/b", "second"}, {"commits/c", "third"}});
  EXPECT_EQ(ClassOf(status), "already exists");
  EXPECT_NE(MessageOf(status).find("commits/b"), std::string::npos) << MessageOf(status);
  EXPECT_EQ(ReadObject(store_, "commits/b").value(), "old");
  EXPECT_EQ(ReadObject(store_, "commits/a").value(), "first");
  EXPECT_EQ(ClassOf(store_.Stat("commits/c")), "not found");
  // The store goes on.
  EXPECT_TRUE(IsOk(PutObject(store_, "commits/c", "third")));
}

TEST_P(StoreConformance, AKeyIsTakenByTheSameCall) {
  Prepare();
  EXPECT_EQ(ClassOf(PutObjects(store_, {{"a", "first"}, {"a", "second"}})), "already exists");
  EXPECT_EQ(ReadObject(store_, "a").value(), "first");
}

TEST_P(StoreConformance, ChecksKeys) {
  Prepare();
  const std::string longest(kMaxComponentSize, 'x');
  const Keys bad = {"",
                    ".",
                    "..",
                    "/a",
                    "a/",
                    "a//b",
                    "a/.",
                    "../a",
                    "a/../b",
                    "a b",
                    "a\\b",
                    "a\nb",
                    "tmp",
                    "tmp/a",
                    "1/2/3/4/5",
                    "\xc3u",
                    "a:b",
                    "~",
                    "*",
                    longest + "x",
                    "a/" + longest + "x",
                    std::string("a\0b", 3)};
  for (const std::string& key : bad) {
    EXPECT_FALSE(IsValidKey(key)) << key;
    auto upload = std::move(store_.Begin(std::nullopt)).value();
    EXPECT_EQ(ClassOf(upload->Finish(key)), "invalid argument") << key;
    EXPECT_EQ(ClassOf(store_.Open(key)), "invalid argument");
    EXPECT_EQ(ClassOf(store_.Stat(key)), "invalid argument");
    EXPECT_EQ(ClassOf(store_.Remove(key)), "invalid argument");
    EXPECT_EQ(ClassOf(store_.Settle({&key, 1})), "invalid argument");
    EXPECT_EQ(ClassOf(store_.Prepare({&key, 1})), "invalid argument");
    if (key.empty()) continue;
    EXPECT_EQ(ClassOf(store_.List(key)), "invalid argument");
  }
  EXPECT_EQ(ClassOf(store_.List("1/2/3/4")), "invalid argument");
  EXPECT_EQ(ClassOf(store_.Prepare(Keys{"1/2/3/4"})), "invalid argument");

  const Keys good = {"a",    "Az09._-", "...",       ".a",    "-",
                     "tmp.", "1/2/3/4", "1/tmp/3/x", longest, "1/2/3/" + longest};
  ASSERT_TRUE(IsOk(store_.Prepare(Keys{"1/2/3", "1/tmp/3"})));
  for (const std::string& key : good) {
    EXPECT_TRUE(IsValidKey(key));
    EXPECT_TRUE(IsOk(PutObject(store_, key, key)));
    EXPECT_EQ(ReadObject(store_, key).value(), key);
  }
  EXPECT_EQ(ObjectKeys(store_).size(), good.size());
}

TEST_P(StoreConformance, SaysWhatIsNotThere) {
  Prepare();
  EXPECT_EQ(ClassOf(store_.Open("commits/a")), "not found");
  EXPECT_EQ(ClassOf(store_.Stat("nowhere/a")), "not found");
  EXPECT_EQ(ClassOf(store_.Remove("commits/a")), "not found");
  EXPECT_EQ(ClassOf(store_.Settle(Keys{"commits/a"})), "not found");
  EXPECT_NE(MessageOf(store_.Open("commits/a")).find("commits/a"), std::string::npos);
  EXPECT_EQ(store_.List("nowhere")->size(), 0u);
  EXPECT_TRUE(IsOk(PutObject(store_, "commits/a", "")));
}

TEST_P(StoreConformance, ReadsAtOffsets) {
  Prepare();
  ASSERT_TRUE(IsOk(PutObject(store_, "a", "0123456789")));
  const auto object = std::move(store_.Open("a")).value();
  EXPECT_EQ(object->size(), 10u);
  const auto read = [&](uint64_t offset, size_t size) {
    Bytes out(size);
    const size_t count = object->ReadAt(offset, out).value();
    return std::string(AsText(ByteSpan(out).first(count)));
  };
  EXPECT_EQ(read(0, 10), "0123456789");
  EXPECT_EQ(read(3, 4), "3456");
  EXPECT_EQ(read(8, 4), "89");
  EXPECT_EQ(read(10, 4), "");
  EXPECT_EQ(read(11, 4), "");
  EXPECT_EQ(read(UINT64_MAX, 4), "");
  EXPECT_EQ(read(0, 0), "");
}

TEST_P(StoreConformance, ListsWhatIsBelowAPrefix) {
  Prepare({"a", "a/b", "ab"});
  ASSERT_TRUE(IsOk(PutObjects(
      store_, {{"ab/1", "12"}, {"a/b/2", "1"}, {"a/3", ""}, {"top", "123"}, {"a-", ""}})));
  EXPECT_EQ(ObjectKeys(store_), (Keys{"a-", "a/3", "a/b/2", "ab/1", "top"}));
  EXPECT_EQ(ObjectKeys(store_, "a"), (Keys{"a/3", "a/b/2"}));
  EXPECT_EQ(ObjectKeys(store_, "a/b"), Keys{"a/b/2"});
  EXPECT_EQ(ObjectKeys(store_, "ab"), Keys{"ab/1"});
  const std::vector<ObjectInfo> all = store_.List("").value();
  for (const ObjectInfo& info : all) {
    EXPECT_NE(info.kind, EntryKind::kStranger) << info.key;
    if (info.kind != EntryKind::kObject) continue;
    const ObjectInfo same = store_.Stat(info.key).value();
    EXPECT_EQ(same.key, info.key);
    EXPECT_EQ(same.kind, EntryKind::kObject);
    EXPECT_EQ(same.size, info.size);
    EXPECT_EQ(same.modified, info.modified);
    EXPECT_GT(info.modified.seconds, 1'600'000'000);
  }
  EXPECT_EQ(store_.Stat("top")->size, 3u);
}

TEST_P(StoreConformance, RemovesObjects) {
  Prepare();
  ASSERT_TRUE(IsOk(PutObjects(store_, {{"commits/a", "a"}, {"commits/b", "b"}, {"c", "c"}})));
  ASSERT_TRUE(IsOk(store_.Remove("commits/a")));
  EXPECT_EQ(ClassOf(store_.Open("commits/a")), "not found");
  EXPECT_EQ(ObjectKeys(store_), (Keys{"c", "commits/b"}));
  ASSERT_TRUE(IsOk(PutObject(store_, "commits/a", "anew")));
  EXPECT_EQ(ReadObject(store_, "commits/a").value(), "anew");
  EXPECT_EQ(ClassOf(store_.RemoveAll(Keys{"commits/a", "nowhere/x", "commits/b"})), "not found");
  EXPECT_EQ(ObjectKeys(store_), Keys{"c"});
  EXPECT_TRUE(IsOk(store_.RemoveAll({})));
}

TEST_P(StoreConformance, NeedsToBePrepared) {
  EXPECT_FALSE(store_.Begin(std::nullopt).ok());
  EXPECT_EQ(ClassOf(store_.List("")), "not found");
  EXPECT_EQ(ClassOf(store_.List("commits")), "not found");
  EXPECT_EQ(ClassOf(store_.Open("a")), "not found");
  Prepare({});
  EXPECT_EQ(store_.List("")->size(), 0u);
  EXPECT_TRUE(IsOk(PutObject(store_, "a", "a")));
  Prepare();
  EXPECT_TRUE(IsOk(PutObject(store_, "commits/a", "a")));
  Prepare();
  EXPECT_EQ(ObjectKeys(store_), (Keys{"a", "commits/a"}));
}

// A store is copied by programs that know of objects only.
TEST_P(StoreConformance, PrefixesThatWereLostAreMadeAnew) {
  Prepare({});
  EXPECT_TRUE(IsOk(PutObjects(store_, {{"segments/ab/1", "one"}, {"segments/cd/2", "two"}})));
  EXPECT_TRUE(IsOk(PutObject(store_, "segments/ab/3", "three")));
  EXPECT_EQ(ObjectKeys(store_), (Keys{"segments/ab/1", "segments/ab/3", "segments/cd/2"}));
}

TEST_P(StoreConformance, SweepingSparesLivingUploads) {
  Prepare();
  auto upload = std::move(store_.Begin(std::nullopt)).value();
  ASSERT_TRUE(IsOk(upload->Write(AsBytes("one "))));
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::seconds(0))));
  ASSERT_TRUE(IsOk(upload->Write(AsBytes("two"))));
  ASSERT_TRUE(IsOk(upload->Finish("a")));
  ASSERT_TRUE(IsOk(store_.Sweep(std::chrono::hours(1))));
  std::vector<std::unique_ptr<Upload>> uploads;
  uploads.push_back(std::move(upload));
  ASSERT_TRUE(IsOk(store_.Publish(std::move(uploads))));
  EXPECT_EQ(ReadObject(store_, "a").value(), "one two");
}

}  // namespace
}  // namespace coffer::store
