// SPDX-License-Identifier: Apache-2.0
// The inner loops: against the draft, and every implementation that may run here against the
// portable one.
#include "coffer/crypto/internal/frodo_kernels.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/crypto/frodo_parameters.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto::internal {
namespace {

using testing::SeededRandom;
using Words = std::vector<uint16_t>;

constexpr int kCases = 10000;
constexpr size_t kDimensions[] = {640, 976, 1344};
constexpr size_t kNBar = kFrodoNBar;

class FrodoKernelsTest : public ::testing::TestWithParam<const FrodoImplementation*> {
 protected:
  [[nodiscard]] const FrodoKernels& kernels() const { return *GetParam()->kernels; }
};

std::vector<const FrodoImplementation*> Runnable() {
  std::vector<const FrodoImplementation*> list;
  for (const FrodoImplementation* implementation : FrodoImplementations()) {
    if (FrodoMayRun(*implementation)) list.push_back(implementation);
  }
  return list;
}
INSTANTIATE_TEST_SUITE_P(All, FrodoKernelsTest, ::testing::ValuesIn(Runnable()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::erase(name, '-');
                           return name;
                         });

// Small sizes mostly, and each real one now and then.
size_t PickDimension(SeededRandom& random, int test_case) {
  if (test_case % 100 < 3) return kDimensions[test_case % 100];
  return 16 * (1 + random.Below(6));
}

// Elements as the scheme has them, or any.
Words PickSecret(SeededRandom& random, size_t count) {
  Words words = random.Words(count);
  if (random.Below(2) == 0) {
    for (uint16_t& word : words) word = static_cast<uint16_t>(word % 25 - 12);
  }
  return words;
}

TEST_P(FrodoKernelsTest, AccumulateSaAgreesWithPortable) {
  SeededRandom random(11);
  for (int i = 0; i < kCases; ++i) {
    const size_t n = PickDimension(random, i);
    const Words s = PickSecret(random, kNBar * n);
    const Words rows = random.Words(kFrodoGroup * n);
    Words expected = random.Words(kNBar * n + 1);
    Words made = expected;
    const size_t first = kFrodoGroup * random.Below(n / kFrodoGroup);
    kFrodoKernelsPortable.accumulate_sa(s.data(), first, rows.data(), n, expected.data());
    kernels().accumulate_sa(s.data(), first, rows.data(), n, made.data());
    ASSERT_EQ(made, expected) << n << ", " << first;
  }
}

TEST_P(FrodoKernelsTest, MultiplyRowsAgreesWithPortable) {
  SeededRandom random(12);
  for (int i = 0; i < kCases; ++i) {
    const size_t n = PickDimension(random, i);
    const Words t = PickSecret(random, kNBar * n);
    const Words rows = random.Words(kFrodoGroup * n);
    Words expected(65, 0x3333);
    Words made = expected;
    kFrodoKernelsPortable.multiply_rows(rows.data(), t.data(), n, expected.data());
    kernels().multiply_rows(rows.data(), t.data(), n, made.data());
    ASSERT_EQ(made, expected) << n;
  }
}

TEST_P(FrodoKernelsTest, AccumulateSbAgreesWithPortable) {
  SeededRandom random(13);
  for (int i = 0; i < kCases; ++i) {
    const size_t n = PickDimension(random, i);
    const Words s = PickSecret(random, kNBar * n);
    const Words b = random.Words(kNBar * n);
    Words expected = random.Words(65);
    Words made = expected;
    kFrodoKernelsPortable.accumulate_sb(s.data(), b.data(), n, expected.data());
    kernels().accumulate_sb(s.data(), b.data(), n, made.data());
    ASSERT_EQ(made, expected) << n;
  }
}

// The extreme elements, whose products and sums need all their bits.
TEST_P(FrodoKernelsTest, ProductsOfExtremesAreExact) {
  constexpr uint16_t kExtremes[] = {0x8000, 0xffff, 0x7fff, 1};
  for (uint16_t left : kExtremes) {
    for (uint16_t right : kExtremes) {
      const size_t n = 1344;
      const Words s(kNBar * n, left);
      const Words rows(kFrodoGroup * n, right);
      Words sum(kNBar * n, 1);
      kernels().accumulate_sa(s.data(), 8, rows.data(), n, sum.data());
      const auto product = static_cast<uint32_t>(left) * right;
      EXPECT_EQ(sum, Words(kNBar * n, static_cast<uint16_t>(1 + 8 * product)));
      Words dot(64);
      kernels().multiply_rows(rows.data(), s.data(), n, dot.data());
      EXPECT_EQ(dot, Words(64, static_cast<uint16_t>(n * product)));
      kernels().accumulate_sb(s.data(), rows.data(), n, dot.data());
      EXPECT_EQ(dot, Words(64, static_cast<uint16_t>(2 * n * product)));
    }
  }
}

// How often each value from 0 on, and its negative, is to come up in 2^16 (the table of
// probabilities in section 10).
using Frequencies = std::vector<int>;
const std::map<size_t, Frequencies>& FrequencyTable() {
  static const std::map<size_t, Frequencies> table = {
      {640, {9288, 8720, 7216, 5264, 3384, 1918, 958, 422, 164, 56, 17, 4, 1}},
      {976, {11278, 10277, 7774, 4882, 2545, 1101, 396, 118, 29, 6, 1}},
      {1344, {18286, 14320, 6876, 2023, 364, 40, 2}}};
  return table;
}

std::span<const uint16_t> ErrorTable(size_t n) {
  if (n == 640) return kFrodoErrorTable<640>;
  if (n == 976) return kFrodoErrorTable<976>;
  return kFrodoErrorTable<1344>;
}

TEST(FrodoErrorTableTest, IsTheCumulativeDistribution) {
  for (const auto& [n, frequencies] : FrequencyTable()) {
    const std::span<const uint16_t> table = ErrorTable(n);
    ASSERT_EQ(table.size() + 1, frequencies.size());
    int sum = frequencies[0] / 2 - 1;
    for (size_t i = 0; i < table.size(); ++i) {
      EXPECT_EQ(table[i], sum) << n << ", " << i;
      sum += frequencies[i + 1];
    }
    EXPECT_EQ(sum, 32767);  // the entry that is never read
  }
}

TEST_P(FrodoKernelsTest, SampleHasTheDistribution) {
  Words all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const auto& [n, frequencies] : FrequencyTable()) {
    Words samples = all;
    kernels().sample(samples.data(), samples.size(), ErrorTable(n));
    std::map<int, int> counts;
    for (uint16_t sample : samples) ++counts[static_cast<int16_t>(sample)];
    EXPECT_EQ(counts.size(), 2 * frequencies.size() - 1);
    EXPECT_EQ(counts[0], frequencies[0]);
    for (size_t e = 1; e < frequencies.size(); ++e) {
      EXPECT_EQ(counts[static_cast<int>(e)], frequencies[e]) << n << ", " << e;
      EXPECT_EQ(counts[-static_cast<int>(e)], frequencies[e]) << n << ", " << e;
    }
    // The sign is the low bit; the first value of all is 0, the last of all -d.
    EXPECT_EQ(samples[65534], frequencies.size() - 1);
    EXPECT_EQ(samples[65535], static_cast<uint16_t>(1 - frequencies.size()));
  }
}

TEST_P(FrodoKernelsTest, SampleAgreesWithPortable) {
  SeededRandom random(14);
  for (int i = 0; i < kCases; ++i) {
    const size_t n = kDimensions[i % 3];
    const size_t count = 16 * (1 + random.Below(6));
    Words expected = random.Words(count + 1);
    Words made = expected;
    kFrodoKernelsPortable.sample(expected.data(), count, ErrorTable(n));
    kernels().sample(made.data(), count, ErrorTable(n));
    ASSERT_EQ(made, expected);
  }
}

// 15 bits: 000000000000001 111111111111110 ... as bytes, top bit first.
TEST_P(FrodoKernelsTest, PackPutsTopBitsFirst) {
  Words values(16, 0);
  values[0] = 0x0001;
  values[1] = 0x7ffe;
  values[15] = 0x4001;
  Bytes packed(30);
  kernels().pack(values.data(), 16, 15, packed.data());
  EXPECT_EQ(Bytes(packed.begin(), packed.begin() + 4), (Bytes{0x00, 0x03, 0xff, 0xf8}));
  EXPECT_EQ(packed[28], 0x40);
  EXPECT_EQ(packed[29], 0x01);
  packed.resize(32);
  kernels().pack(values.data(), 16, 16, packed.data());
  EXPECT_EQ(Bytes(packed.begin(), packed.begin() + 4), (Bytes{0x00, 0x01, 0x7f, 0xfe}));
}

TEST_P(FrodoKernelsTest, PackAndUnpackAgreeWithPortable) {
  SeededRandom random(15);
  for (int i = 0; i < kCases; ++i) {
    const unsigned d = i % 2 == 0 ? 15 : 16;
    const size_t count = 16 * (1 + random.Below(6));
    const size_t size = count * d / 8;
    const Words values = random.Words(count);
    Bytes expected(size + 1, 0x99);
    Bytes made = expected;
    kFrodoKernelsPortable.pack(values.data(), count, d, expected.data());
    kernels().pack(values.data(), count, d, made.data());
    ASSERT_EQ(made, expected);

    // A vector of the exact size, so that a sanitizer sees a read too far.
    const Bytes exact(made.begin(), made.end() - 1);
    Words unpacked(count + 1, 0x9999);
    kernels().unpack(exact.data(), count, d, unpacked.data());
    for (size_t k = 0; k < count; ++k) {
      ASSERT_EQ(unpacked[k], values[k] & ((1U << d) - 1)) << k;
    }
    ASSERT_EQ(unpacked[count], 0x9999);
  }
}

// A difference in any one bit of any one word is seen, for every bit that counts; one above them is
// not. The comparison of a ciphertext is over B', of n * 8 words, and C, of 64.
void ExpectSeesEveryBit(const FrodoKernels& kernels, size_t count, uint16_t mask) {
  SeededRandom random(16);
  const Words a = random.Words(count);
  Words b = a;
  ASSERT_EQ(kernels.difference(a.data(), b.data(), count, mask), 0);
  for (size_t i = 0; i < count; ++i) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      const auto flip = static_cast<uint16_t>(1U << bit);
      b[i] = static_cast<uint16_t>(a[i] ^ flip);
      ASSERT_EQ(kernels.difference(a.data(), b.data(), count, mask), flip & mask)
          << "word " << i << ", bit " << bit;
    }
    b[i] = a[i];
  }
}

TEST_P(FrodoKernelsTest, DifferenceSeesEveryBitOf640) {
  ExpectSeesEveryBit(kernels(), 640 * kNBar, 0x7fff);
  ExpectSeesEveryBit(kernels(), 64, 0x7fff);
}

TEST_P(FrodoKernelsTest, DifferenceSeesEveryBitOf976) {
  ExpectSeesEveryBit(kernels(), 976 * kNBar, 0xffff);
  ExpectSeesEveryBit(kernels(), 64, 0xffff);
}

TEST_P(FrodoKernelsTest, DifferenceIsTheOrOfAll) {
  SeededRandom random(17);
  for (int i = 0; i < kCases; ++i) {
    const size_t count = 16 * (1 + random.Below(6));
    const uint16_t mask = i % 2 == 0 ? 0x7fff : 0xffff;
    const Words a = random.Words(count);
    Words b = a;
    uint16_t all = 0;
    for (size_t k = random.Below(4); k != 0; --k) {
      const size_t place = random.Below(count);
      b[place] = static_cast<uint16_t>(random.Number() & random.Number());
    }
    for (size_t k = 0; k < count; ++k) all = static_cast<uint16_t>(all | (a[k] ^ b[k]));
    ASSERT_EQ(kernels().difference(a.data(), b.data(), count, mask), all & mask);
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
