// SPDX-License-Identifier: Apache-2.0
// A store used by many threads at once.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"
#include "coffer/store/local_store.h"
#include "coffer/store/testing/fault_store.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/store/testing/objects.h"

namespace coffer::store {
namespace {

using Keys = std::vector<std::string>;

constexpr int kWriterCount = 4;
constexpr int kRounds = 12;

std::string ContentOf(const std::string& key) {
  std::string content;
  for (int i = 0; i < 300; ++i) content += key;
  return content;
}

std::string KeyOf(int writer, int round, int number) {
  return (number % 2 == 0 ? "segments/ab/" : "segments/cd/") + std::to_string(writer) + '-' +
         std::to_string(round) + '-' + std::to_string(number);
}

void WriteAll(Store& store, int writer) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<Upload>> uploads;
    for (int number = 0; number < 3; ++number) {
      const std::string key = KeyOf(writer, round, number);
      auto upload = MakeUpload(store, key, ContentOf(key));
      ASSERT_TRUE(IsOk(upload));
      uploads.push_back(std::move(upload).value());
    }
    ASSERT_TRUE(IsOk(store.Publish(std::move(uploads))));
    if (round % 4 != 0) continue;
    ASSERT_TRUE(IsOk(store.Settle(Keys{KeyOf(writer, round, 0)})));
    ASSERT_TRUE(IsOk(store.Remove(KeyOf(writer, round, 2))));
    ASSERT_TRUE(IsOk(store.Sweep(std::chrono::seconds(0))));
  }
}

void ReadAll(Store& store, const std::atomic<bool>& done) {
  while (!done) {
    for (const std::string& key : ObjectKeys(store)) {
      const auto content = ReadObject(store, key);
      if (content.ok()) {
        EXPECT_EQ(*content, ContentOf(key));
      } else {
        EXPECT_EQ(ClassOf(content), "not found");
      }
      (void)store.Stat(key);
    }
    EXPECT_TRUE(store.Warnings().empty());
  }
}

void UseFromManyThreads(Store& store) {
  ASSERT_TRUE(IsOk(store.Prepare(Keys{"segments/ab", "segments/cd"})));
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  std::vector<std::thread> writers;
  readers.reserve(2);
  writers.reserve(kWriterCount);
  for (int i = 0; i < 2; ++i) readers.emplace_back([&] { ReadAll(store, done); });
  for (int i = 0; i < kWriterCount; ++i) writers.emplace_back([&, i] { WriteAll(store, i); });
  for (std::thread& thread : writers) thread.join();
  done = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(ObjectKeys(store).size(), size_t{kWriterCount * (3 * kRounds - kRounds / 4)});
}

TEST(StoreThreads, Memory) {
  MemoryStore store;
  UseFromManyThreads(store);
}

TEST(StoreThreads, LocalOnMemory) {
  os::MemoryFileSystem files;
  LocalStore store(files, "/vault");
  UseFromManyThreads(store);
  EXPECT_EQ(os::ListTestDirectory(files, "/vault/tmp"), Keys{});
}

TEST(StoreThreads, LocalOnDisk) {
  const os::TemporaryDirectory directory;
  LocalStore store(os::RealFileSystem(), directory / "vault");
  UseFromManyThreads(store);
  EXPECT_EQ(os::ListTestDirectory(os::RealFileSystem(), directory / "vault/tmp"), Keys{});
}

TEST(StoreThreads, FaultStore) {
  MemoryStore base;
  FaultStore store(base);
  UseFromManyThreads(store);
}

// Several stores on one directory, as several processes would have: each key goes to one of them.
TEST(StoreThreads, AKeyIsTakenOnce) {
  const os::TemporaryDirectory directory;
  std::vector<std::unique_ptr<LocalStore>> stores;
  for (int i = 0; i < 3; ++i) {
    stores.push_back(std::make_unique<LocalStore>(os::RealFileSystem(), directory / "vault"));
    ASSERT_TRUE(IsOk(stores.back()->Prepare(Keys{"commits"})));
  }
  std::vector<std::vector<std::string>> won(stores.size());
  std::vector<std::thread> threads;
  threads.reserve(stores.size());
  for (size_t i = 0; i < stores.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int number = 0; number < 30; ++number) {
        const std::string key = "commits/" + std::to_string(number);
        const Status status = PutObject(*stores[i], key, std::to_string(i));
        if (status.ok()) {
          won[i].push_back(key);
        } else {
          EXPECT_EQ(ClassOf(status), "already exists") << MessageOf(status);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  size_t count = 0;
  for (size_t i = 0; i < stores.size(); ++i) {
    for (const std::string& key : won[i]) {
      EXPECT_EQ(ReadObject(*stores[0], key).value(), std::to_string(i));
    }
    count += won[i].size();
  }
  EXPECT_EQ(count, 30u);
}

}  // namespace
}  // namespace coffer::store
