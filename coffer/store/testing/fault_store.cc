// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/testing/fault_store.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "coffer/os/error.h"

namespace coffer::store {

// What is to fail, and the counts; shared with uploads and objects.
class FaultStore::State {
 public:
  // Counts a call and says whether it fails.
  Status Enter(StoreCall call, std::string_view key) {
    const std::lock_guard lock(mutex_);
    ++counts_[Index(call)];
    ++total_;
    if (const int error = Take(nth_[Index(call)]); error != 0) {
      return os::PathError("reach", key, error);
    }
    if (const int error = Take(nth_of_any_); error != 0) return os::PathError("reach", key, error);
    return OkStatus();
  }

  bool TakeShortRead() {
    const std::lock_guard lock(mutex_);
    return Take(short_read_) != 0;
  }

  static size_t Index(StoreCall call) { return static_cast<size_t>(call); }

  struct Fault {
    size_t left = 0;  // calls until it strikes; 0: none is set
    int error = 0;
    size_t times = 1;
  };

  int Take(Fault& fault) {
    if (fault.left == 0 || --fault.left != 0) return 0;
    struck_ = true;
    if (--fault.times > 0) fault.left = 1;
    return fault.error;
  }

  mutable std::mutex mutex_;
  std::array<size_t, static_cast<size_t>(StoreCall::kCount)> counts_{};
  std::array<Fault, static_cast<size_t>(StoreCall::kCount)> nth_{};
  Fault nth_of_any_;
  Fault short_read_;
  size_t done_before_failing_ = 0;
  size_t total_ = 0;
  size_t published_count_ = 0;
  bool struck_ = false;
};

class FaultStore::FaultUpload final : public Upload {
 public:
  FaultUpload(std::unique_ptr<Upload> base, std::shared_ptr<State> state)
      : base_(std::move(base)), state_(std::move(state)) {}

  [[nodiscard]] std::unique_ptr<Upload> TakeBase() { return std::move(base_); }

  Status Write(ByteSpan bytes) override {
    Status entered = state_->Enter(StoreCall::kWrite, "upload");
    if (entered.ok()) return base_->Write(bytes);
    (void)base_->Write(bytes.first(bytes.size() / 2));
    return entered;
  }
  Status Finish(std::string_view key) override {
    COFFER_TRY(state_->Enter(StoreCall::kFinish, key));
    return base_->Finish(key);
  }
  [[nodiscard]] uint64_t size() const override { return base_->size(); }
  [[nodiscard]] const std::string& key() const override { return base_->key(); }

 private:
  std::unique_ptr<Upload> base_;
  std::shared_ptr<State> state_;
};

class FaultStore::FaultObject final : public StoredObject {
 public:
  FaultObject(std::unique_ptr<StoredObject> base, std::shared_ptr<State> state, std::string key)
      : base_(std::move(base)), state_(std::move(state)), key_(std::move(key)) {}

  [[nodiscard]] uint64_t size() const override { return base_->size(); }
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override {
    COFFER_TRY(state_->Enter(StoreCall::kRead, key_));
    return base_->ReadAt(offset, state_->TakeShortRead() ? out.first(out.size() / 2) : out);
  }

 private:
  std::unique_ptr<StoredObject> base_;
  std::shared_ptr<State> state_;
  std::string key_;
};

FaultStore::FaultStore(Store& base) : base_(base), state_(std::make_shared<State>()) {}

FaultStore::~FaultStore() = default;

void FaultStore::FailNth(StoreCall call, size_t n, int error_number, size_t times) {
  const std::lock_guard lock(state_->mutex_);
  state_->nth_[State::Index(call)] = {n, error_number, times};
}

void FaultStore::FailNthOfAny(size_t n, int error_number) {
  const std::lock_guard lock(state_->mutex_);
  state_->nth_of_any_ = {n, error_number, 1};
}

void FaultStore::DoBeforeFailing(size_t object_count) {
  const std::lock_guard lock(state_->mutex_);
  state_->done_before_failing_ = object_count;
}

void FaultStore::ShortenNthRead(size_t n) {
  const std::lock_guard lock(state_->mutex_);
  state_->short_read_ = {n, 1, 1};
}

void FaultStore::ClearFaults() {
  const std::lock_guard lock(state_->mutex_);
  state_->nth_ = {};
  state_->nth_of_any_ = {};
  state_->short_read_ = {};
  state_->done_before_failing_ = 0;
  state_->struck_ = false;
}

bool FaultStore::struck() const {
  const std::lock_guard lock(state_->mutex_);
  return state_->struck_;
}

size_t FaultStore::Count(StoreCall call) const {
  const std::lock_guard lock(state_->mutex_);
  return state_->counts_[State::Index(call)];
}

size_t FaultStore::TotalCount() const {
  const std::lock_guard lock(state_->mutex_);
  return state_->total_;
}

size_t FaultStore::PublishedCount() const {
  const std::lock_guard lock(state_->mutex_);
  return state_->published_count_;
}

void FaultStore::ResetCounts() {
  const std::lock_guard lock(state_->mutex_);
  state_->counts_ = {};
  state_->total_ = 0;
  state_->published_count_ = 0;
}

Status FaultStore::Prepare(std::span<const std::string> prefixes) {
  COFFER_TRY(state_->Enter(StoreCall::kPrepare, ""));
  return base_.Prepare(prefixes);
}

Result<std::unique_ptr<Upload>> FaultStore::Begin(std::optional<uint64_t> expected_size) {
  COFFER_TRY(state_->Enter(StoreCall::kBegin, "upload"));
  COFFER_ASSIGN_OR_RETURN(auto upload, base_.Begin(expected_size));
  return std::unique_ptr<Upload>(std::make_unique<FaultUpload>(std::move(upload), state_));
}

Status FaultStore::Publish(std::vector<std::unique_ptr<Upload>> uploads) {
  std::vector<std::unique_ptr<Upload>> base_uploads;
  for (const auto& upload : uploads) {
    auto* wrapped = dynamic_cast<FaultUpload*>(upload.get());
    COFFER_CHECK(wrapped != nullptr);
    base_uploads.push_back(wrapped->TakeBase());
  }
  const Status entered =
      state_->Enter(StoreCall::kPublish, uploads.empty() ? "" : base_uploads.front()->key());
  size_t count = base_uploads.size();
  {
    const std::lock_guard lock(state_->mutex_);
    state_->published_count_ += count;
    if (!entered.ok()) count = std::min(count, state_->done_before_failing_);
  }
  base_uploads.resize(count);
  COFFER_TRY(base_.Publish(std::move(base_uploads)));
  return entered;
}

Status FaultStore::Settle(std::span<const std::string> keys) {
  COFFER_TRY(state_->Enter(StoreCall::kSettle, keys.empty() ? "" : keys.front()));
  return base_.Settle(keys);
}

Result<std::unique_ptr<StoredObject>> FaultStore::Open(std::string_view key) {
  COFFER_TRY(state_->Enter(StoreCall::kOpen, key));
  COFFER_ASSIGN_OR_RETURN(auto object, base_.Open(key));
  return std::unique_ptr<StoredObject>(
      std::make_unique<FaultObject>(std::move(object), state_, std::string(key)));
}

Result<ObjectInfo> FaultStore::Stat(std::string_view key) {
  COFFER_TRY(state_->Enter(StoreCall::kStat, key));
  return base_.Stat(key);
}

Result<std::vector<ObjectInfo>> FaultStore::List(std::string_view prefix) {
  COFFER_TRY(state_->Enter(StoreCall::kList, prefix));
  return base_.List(prefix);
}

Status FaultStore::RemoveAll(std::span<const std::string> keys) {
  const Status entered = state_->Enter(StoreCall::kRemove, keys.empty() ? "" : keys.front());
  if (entered.ok()) return base_.RemoveAll(keys);
  size_t count = 0;
  {
    const std::lock_guard lock(state_->mutex_);
    count = std::min(keys.size(), state_->done_before_failing_);
  }
  COFFER_TRY(base_.RemoveAll(keys.first(count)));
  return entered;
}

Status FaultStore::Sweep(std::chrono::seconds age) {
  COFFER_TRY(state_->Enter(StoreCall::kSweep, ""));
  return base_.Sweep(age);
}

std::vector<std::string> FaultStore::Warnings() const { return base_.Warnings(); }

}  // namespace coffer::store
