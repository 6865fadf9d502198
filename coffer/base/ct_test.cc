// SPDX-License-Identifier: Apache-2.0
// What the constant-time helpers compute. That their time does not depend on it is for the tests
// under memcheck.
#include "coffer/base/ct.h"

#include <array>
#include <limits>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace coffer::ct {
namespace {

template <class T>
constexpr T kOnes = std::numeric_limits<T>::max();

// 0, the powers of two and what is beside them, and two that alternate.
template <class T>
std::set<T> Boundaries() {
  std::set<T> values = {0, kOnes<T>, static_cast<T>(kOnes<T> / 3),
                        static_cast<T>(kOnes<T> / 3 * 2)};
  for (size_t bit = 0; bit < sizeof(T) * 8; ++bit) {
    const T power = static_cast<T>(T{1} << bit);
    values.insert(power);
    values.insert(static_cast<T>(power - 1));
    values.insert(static_cast<T>(power + 1));
  }
  return values;
}

template <>
std::set<uint8_t> Boundaries<uint8_t>() {
  std::set<uint8_t> values;
  for (unsigned value = 0; value < 256; ++value) values.insert(static_cast<uint8_t>(value));
  return values;
}

template <class T>
class CtMasks : public ::testing::Test {};

// All values of uint8_t, and the boundaries of the others.
using Widths = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(CtMasks, Widths);

TYPED_TEST(CtMasks, OfOneValue) {
  for (const TypeParam value : Boundaries<TypeParam>()) {
    ASSERT_EQ(ValueBarrier(value), value);
    ASSERT_EQ(MaskIfZero(value), value == 0 ? kOnes<TypeParam> : 0) << +value;
  }
}

TYPED_TEST(CtMasks, OfTwoValues) {
  const std::set<TypeParam> values = Boundaries<TypeParam>();
  for (const TypeParam a : values) {
    for (const TypeParam b : values) {
      ASSERT_EQ(MaskIfEqual(a, b), a == b ? kOnes<TypeParam> : 0) << +a << ", " << +b;
      ASSERT_EQ(MaskIfLess(a, b), a < b ? kOnes<TypeParam> : 0) << +a << ", " << +b;
      ASSERT_EQ(Select(kOnes<TypeParam>, a, b), a);
      ASSERT_EQ(Select(TypeParam{0}, a, b), b);
    }
  }
}

TEST(CtEqual, SeesADifferenceInAnySingleBit) {
  std::array<uint8_t, 32> a, b;
  for (size_t i = 0; i < a.size(); ++i) a[i] = b[i] = static_cast<uint8_t>(37 * i);
  EXPECT_TRUE(Equal(a, b));
  EXPECT_TRUE(Equal(a, a));
  for (size_t bit = 0; bit < a.size() * 8; ++bit) {
    b[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(Equal(a, b)) << bit;
    EXPECT_FALSE(Equal(b, a)) << bit;
    b[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_TRUE(Equal(a, b));
}

// Differences that a sum or an exclusive or of all bytes would lose.
TEST(CtEqual, DifferencesDoNotCancel) {
  EXPECT_FALSE(Equal(AsBytes("ab"), AsBytes("ba")));
  EXPECT_FALSE(Equal(Bytes{1, 1}, Bytes{0, 0}));
  EXPECT_FALSE(Equal(Bytes{1, 0}, Bytes{0, 1}));
  EXPECT_FALSE(Equal(Bytes(256, 1), Bytes(256, 0)));
}

TEST(CtEqual, OfOtherSizesNeverIs) {
  const Bytes zeros(33);
  for (size_t size = 0; size <= zeros.size(); ++size) {
    for (size_t other = 0; other <= zeros.size(); ++other) {
      EXPECT_EQ(Equal(ByteSpan(zeros).first(size), ByteSpan(zeros).first(other)), size == other);
    }
  }
}

TEST(CtIsAllZero, SeesAnySingleBit) {
  Bytes bytes(40);
  EXPECT_TRUE(IsAllZero({}));
  EXPECT_TRUE(IsAllZero(bytes));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(IsAllZero(bytes)) << bit;
    bytes[bit / 8] = 0;
  }
  EXPECT_FALSE(IsAllZero(Bytes(256, 1)));
}

TEST(CtMarks, LeaveValuesAlone) {
  uint32_t value = 0x12345678;
  Poison(&value, sizeof(value));
  EXPECT_EQ(Declassify(value), 0x12345678U);
  Unpoison(&value, sizeof(value));
  EXPECT_EQ(value, 0x12345678U);
}

// A difference in any single bit, whatever the size does to the words that are compared at a time.
TEST(CtTest, ComparisonsSeeEveryBit) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{31}}) {
    Bytes a(size, 0x5a);
    Bytes b = a;
    EXPECT_EQ(EqualMask(a, b), 0xff);
    EXPECT_TRUE(Equal(a, b));
    for (size_t bit = 0; bit < 8 * size; ++bit) {
      b[bit / 8] = static_cast<uint8_t>(a[bit / 8] ^ (1U << (bit % 8)));
      EXPECT_EQ(EqualMask(a, b), 0) << size << " bytes, bit " << bit;
      EXPECT_FALSE(Equal(a, b)) << size << " bytes, bit " << bit;
      b[bit / 8] = a[bit / 8];
    }
  }
  EXPECT_FALSE(Equal(Bytes(3), Bytes(4)));
}

TEST(CtTest, DifferencesDoNotCancel) {
  const Bytes a(16, 0);
  Bytes b(16, 0);
  b[0] = 0x80;
  b[8] = 0x80;
  EXPECT_EQ(EqualMask(a, b), 0);
}

TEST(CtTest, SelectBytesTakesOneOfThem) {
  const std::array<uint8_t, 3> a = {1, 2, 0xff};
  const std::array<uint8_t, 3> b = {0xf0, 0, 7};
  std::array<uint8_t, 3> out{};
  SelectBytes(0xff, a, b, out);
  EXPECT_EQ(out, a);
  SelectBytes(0, a, b, out);
  EXPECT_EQ(out, b);
  SelectBytes(0xff, a, out, out);
  EXPECT_EQ(out, a);
}

}  // namespace
}  // namespace coffer::ct
