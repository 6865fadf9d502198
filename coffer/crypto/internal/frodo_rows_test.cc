// SPDX-License-Identifier: Apache-2.0
// The matrix A against the definition in the draft, for every implementation that may run here.
#include "coffer/crypto/internal/frodo_rows.h"

#include <array>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/endian.h"
#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto::internal {
namespace {

using testing::SeededRandom;
using Seed = std::array<uint8_t, 16>;

constexpr size_t kDimensions[] = {640, 976, 1344};

Seed MakeSeed(uint64_t number) {
  Seed seed;
  SeededRandom(number).Fill(seed);
  return seed;
}

// SHAKE128(i || seedA), read as little-endian 16-bit numbers.
std::vector<uint16_t> ShakeRow(const Seed& seed, size_t i, size_t n) {
  const std::array<uint8_t, 2> number = {static_cast<uint8_t>(i), static_cast<uint8_t>(i >> 8)};
  Shake128 shake;
  shake.Absorb(number);
  shake.Absorb(seed);
  Bytes bytes(2 * n);
  shake.Squeeze(bytes);
  std::vector<uint16_t> row(n);
  for (size_t j = 0; j < n; ++j) {
    row[j] = LoadLittleEndian<uint16_t>(std::span<const uint8_t, 2>(bytes.data() + 2 * j, 2));
  }
  return row;
}

void ExpectShakeRows(FrodoRows& rows, const Seed& seed, size_t n) {
  for (size_t i = 0; i < n; i += kFrodoGroup) {
    const uint16_t* const group = rows.Next();
    ASSERT_NE(group, nullptr);
    for (size_t k = 0; k < kFrodoGroup; ++k) {
      const std::vector<uint16_t> row(group + k * n, group + (k + 1) * n);
      ASSERT_EQ(row, ShakeRow(seed, i + k, n)) << i + k;
    }
  }
  EXPECT_EQ(rows.Next(), nullptr);
  EXPECT_FALSE(rows.failed());
}

TEST(FrodoRowsTest, MakesShakeRows) {
  for (const FrodoImplementation* implementation : FrodoImplementations()) {
    if (!FrodoMayRun(*implementation)) continue;
    SCOPED_TRACE(implementation->name);
    for (size_t n : kDimensions) {
      const Seed seed = MakeSeed(n);
      SpongeChain idle(*implementation->keccak, kShake256Kind);
      FrodoRows rows(*implementation, FrodoGenerator::kShake128, n, seed, idle);
      ExpectShakeRows(rows, seed, n);
    }
  }
}

// Chains of all lengths: done before the first row is taken, going along, or left over at the end;
// more work ahead than the buffer has rows for; and input that is held back.
TEST(FrodoRowsTest, MakesTheSameRowsWithAChainAboard) {
  SeededRandom random(7);
  const Bytes input = random.Take(20000);
  for (const FrodoImplementation* implementation : FrodoImplementations()) {
    if (!FrodoMayRun(*implementation)) continue;
    SCOPED_TRACE(implementation->name);
    for (size_t size : {100U, 2000U, 20000U, 60000U, 400000U}) {
      for (size_t first : {size_t{0}, size_t{50}, size_t{size / 2}, size_t{size}}) {
        SCOPED_TRACE(size);
        SCOPED_TRACE(first);
        const size_t n = 640;
        const Seed seed = MakeSeed(size + first);
        SpongeChain chain(*implementation->keccak, kShake256Kind);
        Bytes output(size);
        Bytes last(32);
        const size_t job = chain.Add({input}, output);
        const size_t held = chain.Add({input, output}, last);
        chain.Hold(held, input.size());
        FrodoRows rows(*implementation, FrodoGenerator::kShake128, n, seed, chain);
        rows.Advance(job, first);
        EXPECT_GE(chain.Written(job), first);
        ExpectShakeRows(rows, seed, n);
        chain.Run(job);
        chain.Release(held);
        chain.Run(held);

        Shake256 shake;
        shake.Absorb(input);
        Bytes expected(size);
        shake.Squeeze(expected);
        EXPECT_EQ(output, expected);
        shake.Reset();
        shake.Absorb(input);
        shake.Absorb(expected);
        Bytes expected_last(32);
        shake.Squeeze(expected_last);
        EXPECT_EQ(last, expected_last);
      }
    }
  }
}

// The portable one is OpenSSL's AES; the answers of other implementations test it with the rest.
TEST(FrodoRowsTest, AllAesImplementationsAgree) {
  for (size_t n : kDimensions) {
    const Seed seed = MakeSeed(n);
    FrodoAesKey key{};
    kFrodoAesPortable.expand(seed, key);
    std::vector<uint16_t> expected(n * n);
    ASSERT_TRUE(kFrodoAesPortable.rows(key, 0, n, n, expected.data()));
    for (const FrodoAes* aes : FrodoAesImplementations()) {
      if (!FrodoMayRun(*aes)) continue;
      SCOPED_TRACE(aes->name);
      std::vector<uint16_t> made(n * n + 1, 0x7777);
      aes->expand(seed, key);
      ASSERT_TRUE(aes->rows(key, 0, 3, n, made.data()));
      ASSERT_TRUE(aes->rows(key, 3, n - 3, n, made.data() + 3 * n));
      EXPECT_EQ(made.back(), 0x7777);
      made.pop_back();
      EXPECT_EQ(made, expected);
    }
  }
}

TEST(FrodoRowsTest, PortableTakesTheBestAesOfItsLevel) {
  EXPECT_EQ(&FrodoBestAes(os::SimdLevel::kPortable), &kFrodoAesPortable);
  for (const FrodoAes* aes : FrodoAesImplementations()) {
    if (FrodoMayRun(*aes)) {
      EXPECT_GE(FrodoBestAes(os::CpuLevel()).level, aes->level);
    }
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
