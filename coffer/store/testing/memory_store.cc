// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/testing/memory_store.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "coffer/store/internal/names.h"

namespace coffer::store {

class MemoryStore::MemoryUpload final : public Upload {
 public:
  Status Write(ByteSpan bytes) override {
    COFFER_CHECK(key_.empty());
    Append(content_, bytes);
    return OkStatus();
  }
  Status Finish(std::string_view key) override {
    COFFER_CHECK(key_.empty());
    if (!IsValidKey(key)) return internal::InvalidKey(key);
    key_ = key;
    return OkStatus();
  }
  [[nodiscard]] uint64_t size() const override { return content_.size(); }
  [[nodiscard]] const std::string& key() const override { return key_; }

  [[nodiscard]] Bytes TakeContent() { return std::move(content_); }

 private:
  Bytes content_;
  std::string key_;
};

class MemoryStore::MemoryObject final : public StoredObject {
 public:
  explicit MemoryObject(std::shared_ptr<const Bytes> content) : content_(std::move(content)) {}

  [[nodiscard]] uint64_t size() const override { return content_->size(); }
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override {
    if (offset >= size()) return size_t{0};
    const auto start = static_cast<size_t>(offset);
    const size_t count = std::min(out.size(), content_->size() - start);
    if (count > 0) std::memcpy(out.data(), content_->data() + start, count);
    return count;
  }

 private:
  std::shared_ptr<const Bytes> content_;
};

MemoryStore::MemoryStore() = default;
MemoryStore::~MemoryStore() = default;

os::FileTime MemoryStore::Now() { return os::MakeFileTime(1'700'000'000, ++ticks_); }

void MemoryStore::Put(const std::string& key, Bytes content) {
  const std::lock_guard lock(mutex_);
  objects_[key] = {std::make_shared<const Bytes>(std::move(content)), Now()};
}

Bytes MemoryStore::Get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  COFFER_CHECK(found != objects_.end());
  return *found->second.content;
}

Status MemoryStore::Prepare(std::span<const std::string> prefixes) {
  for (const std::string& prefix : prefixes) {
    if (!internal::IsValidPrefix(prefix)) return internal::InvalidPrefix(prefix);
  }
  const std::lock_guard lock(mutex_);
  prepared_ = true;
  return OkStatus();
}

Result<std::unique_ptr<Upload>> MemoryStore::Begin(std::optional<uint64_t> expected_size) {
  (void)expected_size;
  const std::lock_guard lock(mutex_);
  if (!prepared_) return internal::StepError("store an object in", "memory", ENOENT);
  return std::unique_ptr<Upload>(std::make_unique<MemoryUpload>());
}

Status MemoryStore::Publish(std::vector<std::unique_ptr<Upload>> uploads) {
  const std::lock_guard lock(mutex_);
  for (const auto& upload : uploads) {
    auto* own = dynamic_cast<MemoryUpload*>(upload.get());
    COFFER_CHECK(own != nullptr && !own->key().empty());
    if (objects_.contains(own->key())) return internal::AlreadyTaken(own->key());
    objects_[own->key()] = {std::make_shared<const Bytes>(own->TakeContent()), Now()};
  }
  return OkStatus();
}

Status MemoryStore::Settle(std::span<const std::string> keys) {
  for (const std::string& key : keys) COFFER_TRY(Find(key));
  return OkStatus();
}

Result<MemoryStore::Object> MemoryStore::Find(std::string_view key) const {
  if (!IsValidKey(key)) return internal::InvalidKey(key);
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return internal::NoSuchObject(key);
  return found->second;
}

ObjectInfo MemoryStore::InfoOf(const std::string& key, const Object& object) {
  const bool is_object = IsValidKey(key);
  return {key, is_object ? EntryKind::kObject : EntryKind::kStranger,
          is_object ? object.content->size() : 0, object.modified};
}

Result<std::unique_ptr<StoredObject>> MemoryStore::Open(std::string_view key) {
  COFFER_ASSIGN_OR_RETURN(const Object object, Find(key));
  return std::unique_ptr<StoredObject>(std::make_unique<MemoryObject>(object.content));
}

Result<ObjectInfo> MemoryStore::Stat(std::string_view key) {
  COFFER_ASSIGN_OR_RETURN(const Object object, Find(key));
  return InfoOf(std::string(key), object);
}

Result<std::vector<ObjectInfo>> MemoryStore::List(std::string_view prefix) {
  if (!prefix.empty() && !internal::IsValidPrefix(prefix)) return internal::InvalidPrefix(prefix);
  const std::lock_guard lock(mutex_);
  if (!prepared_) return internal::NoSuchObject("memory");
  std::vector<ObjectInfo> found;
  const std::string start = prefix.empty() ? "" : std::string(prefix) + '/';
  for (auto entry = objects_.lower_bound(start); entry != objects_.end(); ++entry) {
    if (!entry->first.starts_with(start)) break;
    found.push_back(InfoOf(entry->first, entry->second));
  }
  return found;
}

Status MemoryStore::RemoveAll(std::span<const std::string> keys) {
  for (const std::string& key : keys) {
    if (!IsValidKey(key)) return internal::InvalidKey(key);
  }
  const std::lock_guard lock(mutex_);
  Status missing;
  for (const std::string& key : keys) {
    if (objects_.erase(key) == 0) missing = internal::NoSuchObject(key);
  }
  return missing;
}

Status MemoryStore::Sweep(std::chrono::seconds) { return OkStatus(); }

std::vector<std::string> MemoryStore::Warnings() const { return {}; }

}  // namespace coffer::store
