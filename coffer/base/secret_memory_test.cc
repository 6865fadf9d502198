// SPDX-License-Identifier: Apache-2.0
// No memory that a SecretBuffer gives back has a byte of the secret left. A program of its own,
// since it replaces operator new and delete.
#include <malloc.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <gtest/gtest.h>

#include "coffer/base/secret.h"

namespace {

constexpr uint8_t kSecretByte = 0xc5;
bool watching = false;
size_t freed_count = 0;
size_t spilled_count = 0;

// Whether a block of memory has three bytes of the secret, which is kSecretByte throughout, in a
// row. Addresses and counters may have one by chance.
bool HasSecret(const void* block, size_t size) {
  constexpr std::array<uint8_t, 3> kWindow = {kSecretByte, kSecretByte, kSecretByte};
  return memmem(block, size, kWindow.data(), kWindow.size()) != nullptr;
}

// Not inlined, since GCC otherwise sees free() meet operator new.
[[gnu::noinline]] void Free(void* block) {
  if (watching && block != nullptr) {
    ++freed_count;
    if (HasSecret(block, malloc_usable_size(block))) ++spilled_count;
  }
  std::free(block);
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t size) {
  void* block = std::calloc(size == 0 ? 1 : size, 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { Free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t /*size*/) noexcept { Free(block); }

namespace coffer {
namespace {

class SecretBufferMemory : public ::testing::Test {
 protected:
  SecretBufferMemory() {
    freed_count = 0;
    spilled_count = 0;
    watching = true;
  }
  ~SecretBufferMemory() override { watching = false; }

  static SecretBuffer MakeSecret(size_t size) {
    SecretBuffer secret(size);
    for (uint8_t& byte : secret.ExposeMutable()) byte = kSecretByte;
    return secret;
  }
};

TEST_F(SecretBufferMemory, TheWatchSeesMemoryThatWasNotWiped) {
  auto* block = static_cast<uint8_t*>(::operator new(32));
  std::memset(block, kSecretByte, 32);
  ::operator delete(block);
  EXPECT_EQ(freed_count, 1U);
  EXPECT_EQ(spilled_count, 1U);
}

TEST_F(SecretBufferMemory, TheEndWipes) {
  for (size_t size : {size_t{3}, size_t{16}, size_t{100}, size_t{4096}, size_t{1000000}}) {
    freed_count = 0;
    {
      const SecretBuffer secret = MakeSecret(size);
    }
    EXPECT_GE(freed_count, 1U);
    EXPECT_EQ(spilled_count, 0U) << size;
  }
}

TEST_F(SecretBufferMemory, GrowingWipesWhatItLeaves) {
  SecretBuffer secret;
  for (int i = 0; i < 5000; ++i) secret.PushBack(kSecretByte);
  secret.Append(secret.Expose());
  secret.Reserve(100000);
  EXPECT_GE(freed_count, 5U);
  EXPECT_EQ(spilled_count, 0U);
  EXPECT_TRUE(HasSecret(secret.Expose().data(), secret.size()));
}

TEST_F(SecretBufferMemory, AssignmentAndClearWipe) {
  SecretBuffer secret = MakeSecret(50);
  secret = MakeSecret(60);
  SecretBuffer copy = secret.Duplicate();
  copy.Clear();
  secret = SecretBuffer();
  EXPECT_EQ(freed_count, 3U);
  EXPECT_EQ(spilled_count, 0U);
}

// What was cut off or never in use is wiped too, since all of the memory is.
TEST_F(SecretBufferMemory, TheSpareRoomIsWiped) {
  {
    SecretBuffer secret;
    secret.Reserve(64);
    secret.Append(MakeSecret(48).Expose());
    secret.Truncate(1);
    std::memset(secret.ExposeMutable().data() + 1, kSecretByte, 40);  // within the reserve
  }
  EXPECT_EQ(spilled_count, 0U);
}

}  // namespace
}  // namespace coffer
