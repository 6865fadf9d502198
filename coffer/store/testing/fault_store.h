// SPDX-License-Identifier: Apache-2.0
// A Store for tests that passes calls on to another one, counts them, and lets chosen ones fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "coffer/store/store.h"

namespace coffer::store {

enum class StoreCall : uint8_t {
  kPrepare,
  kBegin,
  kWrite,
  kFinish,
  kPublish,
  kSettle,
  kOpen,
  kRead,
  kStat,
  kList,
  kRemove,
  kSweep,
  kCount,
};

class FaultStore final : public Store {
 public:
  explicit FaultStore(Store& base);
  ~FaultStore() override;

  // The Nth call from now on (N = 1 is the next), of one kind or of any, fails with `error_number`,
  // and so do those after it if `times` is more than one. What a call would have done is not done,
  // but for a write: half of its bytes are written.
  void FailNth(StoreCall call, size_t n, int error_number, size_t times = 1);
  void FailNthOfAny(size_t n, int error_number);
  // A Publish or Remove that fails does so after this many of its objects.
  void DoBeforeFailing(size_t object_count);
  // The Nth ReadAt from now on finds half of what is asked for, as if the object ended there.
  void ShortenNthRead(size_t n);
  void ClearFaults();
  // Whether a fault has struck.
  [[nodiscard]] bool struck() const;

  [[nodiscard]] size_t Count(StoreCall call) const;
  [[nodiscard]] size_t TotalCount() const;
  // Objects of all calls of Publish, those that failed included.
  [[nodiscard]] size_t PublishedCount() const;
  void ResetCounts();

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
  class State;
  class FaultUpload;
  class FaultObject;

  Store& base_;
  std::shared_ptr<State> state_;
};

}  // namespace coffer::store
