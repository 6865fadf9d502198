// SPDX-License-Identifier: Apache-2.0
// Helpers whose running time and memory accesses do not depend on the values they are given, only
// on their sizes. Masks are all ones or all zeros. Each mask goes through a value barrier, so that
// a compiler cannot see that it is a truth value and turn the arithmetic back into a branch.
//
// Poison and Unpoison mark memory as secret for Valgrind's memcheck in builds with
// COFFER_CT_VALGRIND; elsewhere they do nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coffer/base/bytes.h"

#ifdef COFFER_CT_VALGRIND
#include <valgrind/memcheck.h>
#endif

namespace coffer::ct {

// Hides the value of an integer from the optimiser.
template <std::integral T>
[[nodiscard]] inline T ValueBarrier(T value) {
  __asm__("" : "+r"(value) : /* no inputs */);
  return value;
}

// All ones if `value` is zero, else zero.
template <std::unsigned_integral T>
[[nodiscard]] inline T MaskIfZero(T value) {
  // The top bit of (~v & (v - 1)) is set exactly when v is 0.
  const T top = static_cast<T>(static_cast<T>(~value) & static_cast<T>(value - 1));
  const T bit = static_cast<T>(top >> (sizeof(T) * 8 - 1));
  return ValueBarrier(static_cast<T>(T{0} - bit));
}

template <std::unsigned_integral T>
[[nodiscard]] inline T MaskIfEqual(T a, T b) {
  return MaskIfZero(static_cast<T>(a ^ b));
}

// All ones if a < b, else zero.
template <std::unsigned_integral T>
[[nodiscard]] inline T MaskIfLess(T a, T b) {
  // The borrow of a - b (Hacker's Delight 2-13).
  const T borrow =
      static_cast<T>((static_cast<T>(~a) & b) | (static_cast<T>(~(a ^ b)) & static_cast<T>(a - b)));
  const T bit = static_cast<T>(borrow >> (sizeof(T) * 8 - 1));
  return ValueBarrier(static_cast<T>(T{0} - bit));
}

// `a` where the mask has ones, `b` where it has zeros.
template <std::unsigned_integral T>
[[nodiscard]] inline T Select(T mask, T a, T b) {
  return static_cast<T>((mask & a) | (static_cast<T>(~mask) & b));
}

// Whether two strings of bytes are the same. Their sizes are public; different sizes are not equal.
[[nodiscard]] bool Equal(ByteSpan a, ByteSpan b);

// The same as a mask that stays secret: 0xff if equal, else 0. The sizes are the same.
[[nodiscard]] uint8_t EqualMask(ByteSpan a, ByteSpan b);

// Writes `a` to `out` if the mask is 0xff, `b` if it is 0. All have one size; `out` may be one of
// the two.
void SelectBytes(uint8_t mask, ByteSpan a, ByteSpan b, MutableByteSpan out);

// The character of an alphabet of at most 128 that stands at `index`, and the place of one in it,
// or 0x80 if it is not there: by looking at all of the alphabet, for one of the two that is secret.
[[nodiscard]] uint8_t CharacterAt(std::string_view alphabet, uint32_t index);
[[nodiscard]] uint32_t IndexOf(std::string_view alphabet, uint32_t character);

// Whether every byte is zero.
[[nodiscard]] bool IsAllZero(ByteSpan bytes);

inline void Poison([[maybe_unused]] const void* data, [[maybe_unused]] size_t size) {
#ifdef COFFER_CT_VALGRIND
  VALGRIND_MAKE_MEM_UNDEFINED(data, size);
#endif
}

inline void Unpoison([[maybe_unused]] const void* data, [[maybe_unused]] size_t size) {
#ifdef COFFER_CT_VALGRIND
  VALGRIND_MAKE_MEM_DEFINED(data, size);
#endif
}

// A value that has just become public, e.g. the outcome of a comparison.
template <class T>
[[nodiscard]] T Declassify(T value) {
  Unpoison(&value, sizeof(value));
  return value;
}

}  // namespace coffer::ct
