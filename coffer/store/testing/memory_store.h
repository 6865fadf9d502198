// SPDX-License-Identifier: Apache-2.0
// A store in memory, for tests of what stands on a store. It knows no crashes: for those there is a
// LocalStore on a MemoryFileSystem.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "coffer/store/store.h"

namespace coffer::store {

class MemoryStore final : public Store {
 public:
  MemoryStore();
  ~MemoryStore() override;

  // Sets what is under a key, or makes a stranger if it is no key, whatever was there: damage.
  void Put(const std::string& key, Bytes content);
  // The content under a key; ends the process if there is none.
  [[nodiscard]] Bytes Get(const std::string& key) const;

  Status Prepare(std::span<const std::string> prefixes) override;
  Result<std::unique_ptr<Upload>> Begin(std::optional<uint64_t> expected_size) override;
  Status Publish(std::vector<std::unique_ptr<Upload>> uploads) override;
  Status Settle(std::span<const std::string> keys) override;
  Result<std::unique_ptr<StoredObject>> Open(std::string_view key) override;
  Result<ObjectInfo> Stat(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status RemoveAll(std::span<const std::string> keys) override;
  Status Sweep(std::chrono::seconds age) override;
  [[nodiscard]] std::vector<std::string> Warnings() const override;

 private:
  struct Object {
    std::shared_ptr<const Bytes> content;
    os::FileTime modified;
  };
  class MemoryUpload;
  class MemoryObject;

  [[nodiscard]] os::FileTime Now();
  [[nodiscard]] static ObjectInfo InfoOf(const std::string& key, const Object& object);
  Result<Object> Find(std::string_view key) const;

  mutable std::mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_;
  bool prepared_ = false;
  int64_t ticks_ = 0;
};

}  // namespace coffer::store
