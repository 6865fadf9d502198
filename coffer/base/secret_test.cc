// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/secret.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <ostream>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

namespace coffer {
namespace {

struct RoleA;
struct RoleB;
using KeyA = SecretArray<32, RoleA>;
using KeyB = SecretArray<32, RoleB>;
using ShortKeyA = SecretArray<16, RoleA>;

// What must not compile, with a control beside each that the question can be answered by yes.

template <class T>
concept Streamable = requires(std::ostream& stream, const T& value) { stream << value; };
template <class T>
concept Equatable = requires(const T& a, const T& b) { a == b; };
template <class T>
concept Unequatable = requires(const T& a, const T& b) { a != b; };
template <class T>
concept Ordered = requires(const T& a, const T& b) { a < b; };
template <class T>
concept ExposesMutably = requires(T secret) { secret.ExposeMutable(); };
template <class T, class Span>
concept CopiesFrom = requires(Span span) { T::CopyOf(span); };

template <class T>
constexpr bool kKeepsToItself =
    !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
    !Equatable<T> && !Unequatable<T> && !Ordered<T> && !Streamable<T> && !std::ranges::range<T> &&
    !std::is_convertible_v<T, ByteSpan> && !std::is_convertible_v<T, std::string_view> &&
    !std::is_convertible_v<T, bool>;

static_assert(kKeepsToItself<KeyA>);
static_assert(kKeepsToItself<SecretBuffer>);
static_assert(Equatable<std::string> && Unequatable<std::string> && Ordered<std::string>);
static_assert(Streamable<std::string> && std::ranges::range<std::string>);
static_assert(std::is_convertible_v<std::array<uint8_t, 32>, ByteSpan>);

// One role, or one size, is no other.
static_assert(std::is_constructible_v<KeyA, KeyA&&>);
static_assert(!std::is_constructible_v<KeyA, KeyB&&> && !std::is_assignable_v<KeyA&, KeyB&&>);
static_assert(!std::is_convertible_v<KeyB&, const KeyA&>);
static_assert(!std::is_constructible_v<KeyA, ShortKeyA&&>);
static_assert(!std::is_convertible_v<ShortKeyA&, const KeyA&>);
static_assert(std::is_invocable_v<void (*)(const KeyA&), KeyA&>);
static_assert(!std::is_invocable_v<void (*)(const KeyA&), KeyB&>);
static_assert(!std::is_constructible_v<KeyA, std::array<uint8_t, 32>>);

// Bytes come in only where their size is known to fit.
static_assert(CopiesFrom<KeyA, std::span<const uint8_t, 32>>);
static_assert(!CopiesFrom<KeyA, std::span<const uint8_t, 31>>);
static_assert(!CopiesFrom<KeyA, ByteSpan>);

// Reading through a const secret gives bytes that are const.
static_assert(
    std::same_as<decltype(std::declval<const KeyA&>().Expose()), std::span<const uint8_t, 32>>);
static_assert(std::same_as<decltype(std::declval<KeyA&>().Expose()), std::span<const uint8_t, 32>>);
static_assert(ExposesMutably<KeyA&> && !ExposesMutably<const KeyA&>);
static_assert(ExposesMutably<SecretBuffer&> && !ExposesMutably<const SecretBuffer&>);

std::array<uint8_t, 32> Counting() {
  std::array<uint8_t, 32> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(0xd3 + 5 * i);
  return bytes;
}

bool IsZero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

TEST(SecureWipe, OverwritesAllOfItAndNothingElse) {
  std::array<uint8_t, 40> bytes;
  bytes.fill(0xa5);
  SecureWipe(MutableByteSpan(bytes).subspan(4, 32));
  EXPECT_TRUE(IsZero(ByteSpan(bytes).subspan(4, 32)));
  EXPECT_EQ(std::ranges::count(bytes, 0xa5), 8);
  SecureWipe(nullptr, 0);
}

TEST(SecretArray, StartsAsZerosAndTakesBytes) {
  KeyA key;
  EXPECT_FALSE(key.empty());
  EXPECT_TRUE(IsZero(key.Expose()));
  std::ranges::copy(Counting(), key.ExposeMutable().begin());
  EXPECT_TRUE(std::ranges::equal(key.Expose(), Counting()));
  EXPECT_TRUE(std::ranges::equal(KeyA::CopyOf(Counting()).Expose(), Counting()));
}

TEST(SecretArray, DuplicatesAreApart) {
  KeyA first = KeyA::CopyOf(Counting());
  const KeyA second = first.Duplicate();
  first.Clear();
  EXPECT_TRUE(first.empty());
  EXPECT_TRUE(std::ranges::equal(second.Expose(), Counting()));
}

TEST(SecretArray, MovingLeavesAnEmptyArray) {
  KeyA first = KeyA::CopyOf(Counting());
  KeyA second = std::move(first);
  EXPECT_TRUE(first.empty());
  EXPECT_TRUE(std::ranges::equal(second.Expose(), Counting()));
  KeyA third;
  third = std::move(second);
  EXPECT_TRUE(second.empty());
  EXPECT_TRUE(std::ranges::equal(third.Expose(), Counting()));
  KeyA& same = third;
  third = std::move(same);
  EXPECT_TRUE(std::ranges::equal(third.Expose(), Counting()));
}

TEST(SecretArray, AnEmptyArrayMovesAsEmptyAndMayBeFilledAgain) {
  KeyA first = KeyA::CopyOf(Counting());
  KeyA second = std::move(first);
  const KeyA third = std::move(first);
  EXPECT_TRUE(third.empty());
  first = std::move(second);
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(std::ranges::equal(first.Expose(), Counting()));
}

TEST(SecretArrayDeathTest, ExposingAMovedFromArrayEndsTheProgram) {
  KeyA first = KeyA::CopyOf(Counting());
  const KeyA second = std::move(first);
  EXPECT_DEATH((void)first.Expose(), "!empty_");
  EXPECT_DEATH((void)first.ExposeMutable(), "!empty_");
  EXPECT_DEATH((void)first.Duplicate(), "!empty_");
}

// The memory of an object after its end. The barrier keeps the compiler from knowing what it is.
template <class T>
class Grave {
 public:
  T* Bury(T&& secret) { return std::construct_at(Storage(), std::move(secret)); }
  T* Storage() { return reinterpret_cast<T*>(bytes_.data()); }

  ByteSpan Bytes() {
    uint8_t* bytes = bytes_.data();
    __asm__ volatile("" : "+r"(bytes) : : "memory");
    return {bytes, sizeof(T)};
  }
  bool Has(ByteSpan secret) { return !std::ranges::search(Bytes(), secret).empty(); }

 private:
  alignas(T) std::array<uint8_t, sizeof(T)> bytes_{};
};

TEST(SecretArray, ItsMemoryIsWipedAtTheEnd) {
  const auto secret = Counting();
  Grave<KeyA> grave;
  KeyA* key = grave.Bury(KeyA::CopyOf(secret));
  ASSERT_TRUE(grave.Has(secret));
  std::destroy_at(key);
  EXPECT_TRUE(IsZero(grave.Bytes().first(KeyA::kSize)));
}

TEST(SecretArray, ItsMemoryIsWipedWhenItMovesAway) {
  const auto secret = Counting();
  Grave<KeyA> grave;
  KeyA* key = grave.Bury(KeyA::CopyOf(secret));
  ASSERT_TRUE(grave.Has(secret));
  KeyA moved = std::move(*key);
  EXPECT_TRUE(IsZero(grave.Bytes().first(KeyA::kSize)));
  *key = std::move(moved);
  ASSERT_TRUE(grave.Has(secret));
  moved = std::move(*key);
  EXPECT_TRUE(IsZero(grave.Bytes().first(KeyA::kSize)));
  *key = std::move(moved);
  ASSERT_TRUE(grave.Has(secret));
  key->Clear();
  EXPECT_TRUE(IsZero(grave.Bytes().first(KeyA::kSize)));
  std::destroy_at(key);
}

TEST(SecretBuffer, StartsEmptyOrAsZeros) {
  const SecretBuffer none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_TRUE(none.Expose().empty());
  EXPECT_TRUE(none.ExposeText().empty());
  const SecretBuffer zeros(100);
  EXPECT_EQ(zeros.size(), 100U);
  EXPECT_TRUE(IsZero(zeros.Expose()));
  EXPECT_TRUE(SecretBuffer(0).empty());
  EXPECT_TRUE(SecretBuffer::CopyOf(ByteSpan()).empty());
}

TEST(SecretBuffer, AppendsAndTruncates) {
  SecretBuffer buffer = SecretBuffer::CopyOf("pass");
  buffer.Append("phra");
  buffer.PushBack('s');
  buffer.Append(AsBytes("e"));
  buffer.Append(ByteSpan());
  EXPECT_EQ(buffer.ExposeText(), "passphrase");
  buffer.Truncate(10);
  EXPECT_EQ(buffer.ExposeText(), "passphrase");
  buffer.Truncate(4);
  EXPECT_EQ(buffer.ExposeText(), "pass");
  buffer.ExposeMutable()[0] = 'm';
  EXPECT_EQ(buffer.ExposeText(), "mass");
  buffer.Truncate(0);
  EXPECT_TRUE(buffer.empty());
  buffer.Append("again");
  EXPECT_EQ(buffer.ExposeText(), "again");
  buffer.Clear();
  EXPECT_TRUE(buffer.empty());
  buffer.Append("after");
  EXPECT_EQ(buffer.ExposeText(), "after");
}

TEST(SecretBuffer, AppendsItself) {
  SecretBuffer buffer = SecretBuffer::CopyOf("ab");
  for (int i = 0; i < 10; ++i) buffer.Append(buffer.Expose());
  ASSERT_EQ(buffer.size(), 2048U);
  for (size_t i = 0; i < buffer.size(); ++i) {
    ASSERT_EQ(buffer.Expose()[i], i % 2 == 0 ? 'a' : 'b');
  }
}

TEST(SecretBuffer, WhatIsCutOffIsWipedAtOnce) {
  SecretBuffer buffer = SecretBuffer::CopyOf("passphrase");
  const ByteSpan before = buffer.Expose();
  buffer.Truncate(4);
  EXPECT_TRUE(IsZero(before.subspan(4)));
}

TEST(SecretBuffer, ReserveKeepsTheBytesInPlaceFromThenOn) {
  SecretBuffer buffer = SecretBuffer::CopyOf("pass");
  buffer.Reserve(1000);
  EXPECT_EQ(buffer.ExposeText(), "pass");
  const uint8_t* const place = buffer.Expose().data();
  while (buffer.size() < 1000) buffer.PushBack('x');
  EXPECT_EQ(buffer.Expose().data(), place);
  buffer.Reserve(10);
  EXPECT_EQ(buffer.size(), 1000U);
  EXPECT_EQ(buffer.Expose().data(), place);
}

TEST(SecretBuffer, MovingLeavesAnEmptyBuffer) {
  SecretBuffer first = SecretBuffer::CopyOf("pass");
  SecretBuffer second = std::move(first);
  EXPECT_TRUE(first.empty());
  EXPECT_TRUE(first.Expose().empty());
  EXPECT_EQ(second.ExposeText(), "pass");
  SecretBuffer third = SecretBuffer::CopyOf("other");
  third = std::move(second);
  EXPECT_TRUE(second.empty());
  SecretBuffer& same = third;
  third = std::move(same);
  EXPECT_EQ(third.ExposeText(), "pass");
  const SecretBuffer copy = third.Duplicate();
  third.Clear();
  EXPECT_EQ(copy.ExposeText(), "pass");
  first.Append("filled again");
  EXPECT_EQ(first.ExposeText(), "filled again");
}

TEST(SecretBufferDeathTest, TruncateNeverGrows) {
  SecretBuffer buffer = SecretBuffer::CopyOf("pass");
  EXPECT_DEATH(buffer.Truncate(5), "size <= size_");
}

}  // namespace
}  // namespace coffer
