// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/parallel.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace coffer {
namespace {

// Each thread waits for a disk, not for a core. A file system puts what several of them wait for
// into one commit of its journal.
constexpr size_t kThreadLimit = 8;

class Pieces {
 public:
  Pieces(size_t count, const std::function<Status(size_t)>& work) : count_(count), work_(work) {}

  void Run() {
    while (const std::optional<size_t> piece = Take()) {
      Status status = work_(*piece);
      if (!status.ok()) Fail(std::move(status));
    }
  }

  // Once all threads are done.
  [[nodiscard]] Status status() && { return std::move(status_); }

 private:
  std::optional<size_t> Take() {
    const std::lock_guard lock(mutex_);
    if (next_ == count_ || !status_.ok()) return std::nullopt;
    return next_++;
  }
  void Fail(Status status) {
    const std::lock_guard lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
  }

  const size_t count_;
  const std::function<Status(size_t)>& work_;
  std::mutex mutex_;
  size_t next_ = 0;
  Status status_;
};

}  // namespace

Status RunInParallel(size_t count, const std::function<Status(size_t)>& work) {
  Pieces pieces(count, work);
  std::vector<std::thread> others;
  others.reserve(kThreadLimit);
  try {
    while (others.size() + 1 < std::min(count, kThreadLimit)) {
      others.emplace_back([&pieces] { pieces.Run(); });
    }
  } catch (const std::system_error&) {
    // No more threads are to be had, and those that are here do it all.
  }
  pieces.Run();
  for (std::thread& thread : others) thread.join();
  return std::move(pieces).status();
}

}  // namespace coffer
