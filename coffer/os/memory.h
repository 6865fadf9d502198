// SPDX-License-Identifier: Apache-2.0
// Keeping secrets out of swap and core dumps, as far as the system allows.
#pragma once

#include <cstddef>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

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

// Memory of its own pages for the work of a memory-hard function: zeroed at first, on huge pages
// where the system has them, left out of core dumps, wiped before it is given back. Not locked:
// limits on locked memory are below what such functions use, and what is in it lives shorter than
// the system takes to think of swapping.
class ScratchMemory {
 public:
  // `size` is not 0. kTooLarge if the system does not have it.
  static Result<ScratchMemory> Create(size_t size);

  ScratchMemory(ScratchMemory&& other) noexcept;
  ScratchMemory& operator=(ScratchMemory&& other) noexcept;
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  ~ScratchMemory();

  // Starts at a page.
  [[nodiscard]] MutableByteSpan bytes() const { return {data_, size_}; }

 private:
  ScratchMemory(uint8_t* data, size_t size, size_t mapped)
      : data_(data), size_(size), mapped_(mapped) {}
  void Release();

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0;
};

// No core dumps, and no other process of the same user may attach or read memory.
void HardenProcess();

}  // namespace coffer::os
