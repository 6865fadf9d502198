// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/checked.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace coffer {
namespace {

template <class T>
constexpr int kMin = std::numeric_limits<T>::min();
template <class T>
constexpr int kMax = std::numeric_limits<T>::max();

// What int, which is wide enough, says of an 8-bit result.
template <class T>
std::optional<T> Expected(int exact) {
  if (exact < kMin<T> || exact > kMax<T>) return std::nullopt;
  return static_cast<T>(exact);
}

template <class T>
class Checked8Bit : public ::testing::Test {};
using Types = ::testing::Types<uint8_t, int8_t>;
TYPED_TEST_SUITE(Checked8Bit, Types);

TYPED_TEST(Checked8Bit, AgreesWithExactArithmeticOnAllPairs) {
  using T = TypeParam;
  for (int a = kMin<T>; a <= kMax<T>; ++a) {
    for (int b = kMin<T>; b <= kMax<T>; ++b) {
      const T x = static_cast<T>(a), y = static_cast<T>(b);
      ASSERT_EQ(CheckedAdd(x, y), Expected<T>(a + b)) << a << ", " << b;
      ASSERT_EQ(CheckedSubtract(x, y), Expected<T>(a - b)) << a << ", " << b;
      ASSERT_EQ(CheckedMultiply(x, y), Expected<T>(a * b)) << a << ", " << b;
    }
  }
}

TYPED_TEST(Checked8Bit, AgreesWithExactCastsFromAll16BitValues) {
  for (int value = INT16_MIN; value <= INT16_MAX; ++value) {
    ASSERT_EQ(CheckedCast<TypeParam>(static_cast<int16_t>(value)), Expected<TypeParam>(value));
  }
  for (int value = 0; value <= UINT16_MAX; ++value) {
    ASSERT_EQ(CheckedCast<TypeParam>(static_cast<uint16_t>(value)), Expected<TypeParam>(value));
  }
}

TEST(Checked, Add64BitBoundaries) {
  EXPECT_EQ(CheckedAdd<uint64_t>(UINT64_MAX, 0), UINT64_MAX);
  EXPECT_EQ(CheckedAdd<uint64_t>(UINT64_MAX, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd<uint64_t>(uint64_t{1} << 63, (uint64_t{1} << 63) - 1), UINT64_MAX);
  EXPECT_EQ(CheckedAdd<uint64_t>(uint64_t{1} << 63, uint64_t{1} << 63), std::nullopt);
  EXPECT_EQ(CheckedAdd<int64_t>(INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(CheckedAdd<int64_t>(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(CheckedAdd<int64_t>(INT64_MIN, INT64_MAX), -1);
}

TEST(Checked, Subtract64BitBoundaries) {
  EXPECT_EQ(CheckedSubtract<uint64_t>(0, 0), 0U);
  EXPECT_EQ(CheckedSubtract<uint64_t>(0, 1), std::nullopt);
  EXPECT_EQ(CheckedSubtract<uint64_t>(UINT64_MAX, UINT64_MAX), 0U);
  EXPECT_EQ(CheckedSubtract<int64_t>(INT64_MIN, 1), std::nullopt);
  EXPECT_EQ(CheckedSubtract<int64_t>(0, INT64_MIN), std::nullopt);
  EXPECT_EQ(CheckedSubtract<int64_t>(-1, INT64_MIN), INT64_MAX);
}

TEST(Checked, Multiply64BitBoundaries) {
  EXPECT_EQ(CheckedMultiply<uint64_t>(0xffffffff, 0x100000001), UINT64_MAX);
  EXPECT_EQ(CheckedMultiply<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(CheckedMultiply<uint64_t>(0, UINT64_MAX), 0U);
  EXPECT_EQ(CheckedMultiply<int64_t>(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(CheckedMultiply<int64_t>(INT64_MIN / 2, 2), INT64_MIN);
}

TEST(Checked, CastsBetweenWidthsAndSigns) {
  EXPECT_EQ(CheckedCast<uint32_t>(uint64_t{UINT32_MAX}), UINT32_MAX);
  EXPECT_EQ(CheckedCast<uint32_t>(uint64_t{UINT32_MAX} + 1), std::nullopt);
  EXPECT_EQ(CheckedCast<uint64_t>(int64_t{-1}), std::nullopt);
  EXPECT_EQ(CheckedCast<uint64_t>(INT64_MAX), uint64_t{INT64_MAX});
  EXPECT_EQ(CheckedCast<int64_t>(uint64_t{INT64_MAX}), INT64_MAX);
  EXPECT_EQ(CheckedCast<int64_t>(uint64_t{INT64_MAX} + 1), std::nullopt);
  EXPECT_EQ(CheckedCast<int>(-1), -1);
}

static_assert(CheckedAdd(1, 2) == 3 && !CheckedMultiply(INT32_MAX, 2));

}  // namespace
}  // namespace coffer
