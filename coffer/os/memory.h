// SPDX-License-Identifier: Apache-2.0
// Keeping secrets out of swap and core dumps, as far as the system allows.
#pragma once

#include <cstddef>

#include "coffer/base/bytes.h"

namespace coffer::os {

// Keeps the pages of a region in memory and out of core dumps while it lives. Best effort: limits
// on locked memory are often small, and nothing depends on it. Regions may share pages.
class MemoryLock {
 public:
  MemoryLock() = default;
  explicit MemoryLock(ByteSpan region);
  MemoryLock(MemoryLock&& other) noexcept;
  MemoryLock& operator=(MemoryLock&& other) noexcept;
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;
  ~MemoryLock();

  // Whether every page of the region is locked.
  [[nodiscard]] bool locked() const { return locked_; }

 private:
  void Release();

  size_t first_page_ = 0;
  size_t page_count_ = 0;
  bool locked_ = false;
};

// No core dumps, and no other process of the same user may attach or read memory.
void HardenProcess();

}  // namespace coffer::os
