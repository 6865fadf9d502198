// SPDX-License-Identifier: Apache-2.0
// The table of Argon2 implementations, and each against the portable one.
#include "coffer/crypto/internal/argon2_kernels.h"

#include <cstring>
#include <iostream>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto::internal {
namespace {

std::vector<const Argon2Implementation*> Runnable() {
  std::vector<const Argon2Implementation*> runnable;
  for (const Argon2Implementation* implementation : Argon2Implementations()) {
    if (implementation->level <= os::CpuLevel()) runnable.push_back(implementation);
  }
  return runnable;
}

TEST(Argon2KernelsTest, TableIsOrderedAndNamesWhatRuns) {
  const auto table = Argon2Implementations();
  ASSERT_FALSE(table.empty());
  EXPECT_EQ(table[0], &kArgon2Portable);
  for (size_t i = 1; i < table.size(); ++i) EXPECT_LT(table[i - 1]->level, table[i]->level);
  for (const Argon2Implementation* implementation : table) {
    const bool runs = implementation->level <= os::CpuLevel();
    std::cout << "argon2 " << implementation->name << (runs ? ": runs here" : ": cannot run here")
              << '\n';
  }
  EXPECT_EQ(&Argon2(), Runnable().back());
}

TEST(Argon2KernelsTest, OrdersHoldEachWordOnce) {
  for (const Argon2Implementation* implementation : Argon2Implementations()) {
    std::vector<int> seen(kArgon2Words);
    for (uint8_t position : implementation->order) ++seen.at(position);
    EXPECT_EQ(seen, std::vector<int>(kArgon2Words, 1)) << implementation->name;
    EXPECT_EQ(implementation->order[0], 0);
  }
}

Argon2Block RandomBlock(testing::SeededRandom& random) {
  Argon2Block block;
  for (uint64_t& word : block.word) word = uint64_t{random.Number()} << 32 | random.Number();
  return block;
}

Argon2Block Arranged(const Argon2Block& block, const Argon2Order& order) {
  Argon2Block arranged;
  for (size_t i = 0; i < kArgon2Words; ++i) arranged.word[order[i]] = block.word[i];
  return arranged;
}

bool Same(const Argon2Block& a, const Argon2Block& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

TEST(Argon2KernelsTest, AgreeWithPortable) {
  for (const Argon2Implementation* implementation : Runnable()) {
    SCOPED_TRACE(implementation->name);
    const Argon2Order& order = implementation->order;
    testing::SeededRandom random(7);
    Argon2Scratch scratch;
    for (int i = 0; i < 500; ++i) {
      const Argon2Block x = RandomBlock(random);
      // Blocks of ones reach every carry.
      Argon2Block y = RandomBlock(random);
      if (i % 10 == 0) {
        for (size_t w = 0; w < kArgon2Words; ++w) y.word[w] = ~x.word[w];
      }
      Argon2Block expected = RandomBlock(random);
      Argon2Block out = Arranged(expected, order);
      kArgon2Portable.compress_over(x, y, expected, scratch);
      implementation->compress_over(Arranged(x, order), Arranged(y, order), out, scratch);
      ASSERT_TRUE(Same(out, Arranged(expected, order))) << i;
      kArgon2Portable.compress(x, y, expected, scratch);
      implementation->compress(Arranged(x, order), Arranged(y, order), out, scratch);
      ASSERT_TRUE(Same(out, Arranged(expected, order))) << i;
    }
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
