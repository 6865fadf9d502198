// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/testing/fault_store.h"

#include <errno.h>

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/store/testing/objects.h"

namespace coffer::store {
namespace {

using Keys = std::vector<std::string>;

class FaultStoreTest : public testing::Test {
 protected:
  FaultStoreTest() { EXPECT_TRUE(IsOk(memory_.Prepare(Keys{"a"}))); }
  MemoryStore memory_;
  FaultStore store_{memory_};
};

TEST_F(FaultStoreTest, CountsByKind) {
  ASSERT_TRUE(IsOk(PutObjects(store_, {{"a/1", "x"}, {"a/2", "y"}})));
  (void)ReadObject(store_, "a/1");
  (void)store_.Stat("a/1");
  (void)store_.List("");
  (void)store_.Settle(Keys{"a/1"});
  (void)store_.Remove("a/1");
  (void)store_.Sweep(std::chrono::seconds(0));
  (void)store_.Prepare({});
  for (const StoreCall call :
       {StoreCall::kPublish, StoreCall::kOpen, StoreCall::kRead, StoreCall::kStat, StoreCall::kList,
        StoreCall::kSettle, StoreCall::kRemove, StoreCall::kSweep, StoreCall::kPrepare}) {
    EXPECT_EQ(store_.Count(call), 1u);
  }
  for (const StoreCall call : {StoreCall::kBegin, StoreCall::kWrite, StoreCall::kFinish}) {
    EXPECT_EQ(store_.Count(call), 2u);
  }
  EXPECT_EQ(store_.TotalCount(), 15u);
  EXPECT_EQ(store_.PublishedCount(), 2u);
  store_.ResetCounts();
  EXPECT_EQ(store_.TotalCount(), 0u);
  EXPECT_EQ(store_.PublishedCount(), 0u);
}

TEST_F(FaultStoreTest, FailsTheNth) {
  ASSERT_TRUE(IsOk(PutObject(store_, "a/1", "x")));
  store_.FailNth(StoreCall::kStat, 2, EIO, 2);
  EXPECT_TRUE(IsOk(store_.Stat("a/1")));
  EXPECT_FALSE(store_.struck());
  EXPECT_EQ(ErrnoOf(store_.Stat("a/1")), EIO);
  EXPECT_TRUE(store_.struck());
  EXPECT_EQ(ErrnoOf(store_.Stat("a/1")), EIO);
  EXPECT_TRUE(IsOk(store_.Stat("a/1")));
  store_.FailNthOfAny(2, ENOSPC);
  EXPECT_TRUE(IsOk(store_.Open("a/1")));
  EXPECT_EQ(ErrnoOf(store_.List("")), ENOSPC);
  store_.FailNth(StoreCall::kOpen, 1, EIO);
  store_.ClearFaults();
  EXPECT_TRUE(IsOk(store_.Open("a/1")));
}

TEST_F(FaultStoreTest, EveryCallCanFail) {
  size_t failures = 0;
  for (size_t n = 1;; ++n) {
    MemoryStore memory;
    FaultStore store(memory);
    store.FailNthOfAny(n, EIO);
    const auto use = [&]() -> Status {
      COFFER_TRY(store.Prepare(Keys{"a"}));
      COFFER_TRY(PutObject(store, "a/1", "x"));
      COFFER_TRY(store.Settle(Keys{"a/1"}));
      COFFER_TRY(ReadObject(store, "a/1"));
      COFFER_TRY(store.Stat("a/1"));
      COFFER_TRY(store.List(""));
      COFFER_TRY(store.Remove("a/1"));
      return store.Sweep(std::chrono::seconds(0));
    };
    const Status status = use();
    if (!store.struck()) break;
    EXPECT_EQ(ErrnoOf(status), EIO);
    ++failures;
  }
  EXPECT_EQ(failures, static_cast<size_t>(StoreCall::kCount));
}

TEST_F(FaultStoreTest, DoesSomeBeforeItFails) {
  store_.DoBeforeFailing(1);
  store_.FailNth(StoreCall::kPublish, 1, EIO);
  EXPECT_EQ(ErrnoOf(PutObjects(store_, {{"a/1", "x"}, {"a/2", "y"}})), EIO);
  EXPECT_EQ(ObjectKeys(memory_), Keys{"a/1"});
  ASSERT_TRUE(IsOk(PutObject(store_, "a/2", "y")));
  store_.FailNth(StoreCall::kRemove, 1, EIO);
  EXPECT_EQ(ErrnoOf(store_.RemoveAll(Keys{"a/1", "a/2"})), EIO);
  EXPECT_EQ(ObjectKeys(memory_), Keys{"a/2"});
  store_.ClearFaults();
  store_.FailNth(StoreCall::kPublish, 1, EIO);
  EXPECT_EQ(ErrnoOf(PutObject(store_, "a/3", "x")), EIO);
  EXPECT_EQ(ObjectKeys(memory_), Keys{"a/2"});
}

TEST_F(FaultStoreTest, WritesHalfAndReadsHalf) {
  auto upload = std::move(store_.Begin(std::nullopt)).value();
  store_.FailNth(StoreCall::kWrite, 1, ENOSPC);
  EXPECT_EQ(ErrnoOf(upload->Write(AsBytes("12345678"))), ENOSPC);
  EXPECT_EQ(upload->size(), 4u);
  ASSERT_TRUE(IsOk(PutObject(store_, "a/1", "12345678")));
  const auto object = std::move(store_.Open("a/1")).value();
  store_.ShortenNthRead(2);
  Bytes out(8);
  EXPECT_EQ(object->ReadAt(0, out).value(), 8u);
  EXPECT_EQ(object->ReadAt(0, out).value(), 4u);
  EXPECT_EQ(object->ReadAt(0, out).value(), 8u);
}

TEST(MemoryStoreTest, CanBeDamaged) {
  MemoryStore store;
  ASSERT_TRUE(IsOk(store.Prepare(Keys{"a"})));
  ASSERT_TRUE(IsOk(PutObject(store, "a/1", "whole")));
  Bytes content = store.Get("a/1");
  content.pop_back();
  store.Put("a/1", content);
  store.Put("a/no key", {});
  EXPECT_EQ(ReadObject(store, "a/1").value(), "whol");
  const std::vector<ObjectInfo> all = store.List("a").value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].key, "a/no key");
  EXPECT_EQ(all[1].kind, EntryKind::kStranger);
}

}  // namespace
}  // namespace coffer::store
