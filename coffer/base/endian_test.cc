// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/endian.h"

#include <algorithm>
#include <array>
#include <utility>

#include <gtest/gtest.h>

namespace coffer {
namespace {

static_assert(ByteSwap(uint8_t{0x01}) == 0x01);
static_assert(ByteSwap(uint16_t{0x0123}) == 0x2301);
static_assert(ByteSwap(uint32_t{0x01234567}) == 0x67452301);
static_assert(ByteSwap(uint64_t{0x0123456789abcdef}) == 0xefcdab8967452301);

template <class T, size_t kSize>
concept Loads = requires(std::span<const uint8_t, kSize> in) { LoadLittleEndian<T>(in); };
static_assert(Loads<uint32_t, 4> && !Loads<uint32_t, 3> && !Loads<uint32_t, 8>);
static_assert(!Loads<uint32_t, std::dynamic_extent> && !Loads<int32_t, 4>);

template <class T>
class Endian : public ::testing::Test {};
using Widths = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Endian, Widths);

TYPED_TEST(Endian, LoadsAndStoresAtAnyAlignmentInEitherOrder) {
  constexpr size_t kSize = sizeof(TypeParam);
  // Byte i of the value, from the least, is 0x81 + i.
  uint64_t wide = 0;
  std::array<uint8_t, kSize> little, big;
  for (size_t i = 0; i < kSize; ++i) {
    wide |= uint64_t{0x81 + i} << (8 * i);
    little[i] = big[kSize - 1 - i] = static_cast<uint8_t>(0x81 + i);
  }
  const TypeParam value = static_cast<TypeParam>(wide);

  for (size_t offset = 0; offset < 8; ++offset) {
    alignas(8) std::array<uint8_t, 24> buffer{};
    const auto place = std::span(buffer).subspan(offset).template first<kSize>();
    StoreLittleEndian(value, place);
    EXPECT_TRUE(std::ranges::equal(place, little));
    EXPECT_EQ(LoadLittleEndian<TypeParam>(place), value);
    EXPECT_EQ(LoadBigEndian<TypeParam>(place), ByteSwap(value));
    StoreBigEndian(value, place);
    EXPECT_TRUE(std::ranges::equal(place, big));
    EXPECT_EQ(LoadBigEndian<TypeParam>(place), value);
    EXPECT_EQ(std::ranges::count(buffer, 0), std::ssize(buffer) - std::ssize(little));
  }
}

}  // namespace
}  // namespace coffer
