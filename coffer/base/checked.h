// SPDX-License-Identifier: Apache-2.0
// Arithmetic that says when it does not fit, for sizes and offsets that come from input.
#pragma once

#include <concepts>
#include <optional>
#include <utility>

namespace coffer {

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> CheckedAdd(T a, T b) {
  T sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> CheckedSubtract(T a, T b) {
  T difference;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

template <std::integral T>
[[nodiscard]] constexpr std::optional<T> CheckedMultiply(T a, T b) {
  T product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

template <std::integral To, std::integral From>
[[nodiscard]] constexpr std::optional<To> CheckedCast(From value) {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

}  // namespace coffer
