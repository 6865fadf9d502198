// SPDX-License-Identifier: Apache-2.0
// ScratchMemory. A program of its own, since it looks at memory just before the system takes it
// back.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <gtest/gtest.h>

#include "coffer/os/memory.h"

namespace {

bool watching = false;
size_t given_back_size = 0;  // while watching
size_t dirty_size = 0;       // bytes of that which were not zero

}  // namespace

// What the program calls; the system's is behind it.
extern "C" int munmap(void* start, size_t size) noexcept {
  if (watching) {
    const coffer::ByteSpan bytes(static_cast<const uint8_t*>(start), size);
    dirty_size += size - static_cast<size_t>(std::ranges::count(bytes, uint8_t{0}));
    given_back_size += size;
  }
  return static_cast<int>(syscall(SYS_munmap, start, size));
}

namespace coffer::os {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

ScratchMemory Make(size_t size) {
  Result<ScratchMemory> memory = ScratchMemory::Create(size);
  EXPECT_TRUE(memory.ok());
  return std::move(memory).value();
}

class ScratchMemoryTest : public testing::Test {
 protected:
  ScratchMemoryTest() {
    given_back_size = 0;
    dirty_size = 0;
  }
  ~ScratchMemoryTest() override { watching = false; }
};

TEST_F(ScratchMemoryTest, IsZeroedAndAllOfItWorks) {
  for (size_t size : {size_t{1}, size_t{4096}, size_t{4097}, kHugePage - 1, kHugePage,
                      kHugePage + 1, 3 * kHugePage + 5}) {
    const ScratchMemory memory = Make(size);
    const MutableByteSpan bytes = memory.bytes();
    ASSERT_EQ(bytes.size(), size);
    EXPECT_EQ(static_cast<size_t>(std::ranges::count(bytes, uint8_t{0})), size);
    std::memset(bytes.data(), 0x5c, size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data()) % (size < kHugePage ? 4096 : kHugePage),
              0U);
  }
}

TEST_F(ScratchMemoryTest, IsWipedBeforeItIsGivenBack) {
  for (size_t size : {size_t{1}, size_t{5000}, kHugePage + 1}) {
    ScratchMemory memory = Make(size);
    std::memset(memory.bytes().data(), 0x5c, size);
    ScratchMemory moved = std::move(memory);
    given_back_size = 0;
    watching = true;
    moved = Make(1);
    watching = false;
    EXPECT_GE(given_back_size, size);
    EXPECT_EQ(dirty_size, 0U);
  }
}

TEST_F(ScratchMemoryTest, WhatThereIsNotIsAnError) {
  for (size_t size : {SIZE_MAX, SIZE_MAX / 2, size_t{1} << 60}) {
    const Result<ScratchMemory> memory = ScratchMemory::Create(size);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.error().code(), ErrorCode::kTooLarge);
  }
}

}  // namespace
}  // namespace coffer::os
