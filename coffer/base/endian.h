// SPDX-License-Identifier: Apache-2.0
// Integers in bytes, in either order, at any alignment. The span has the size of the integer, so a
// wrong size does not compile.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>

namespace coffer {

template <std::unsigned_integral T>
constexpr T ByteSwap(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

template <std::unsigned_integral T>
T LoadLittleEndian(std::span<const uint8_t, sizeof(T)> in) {
  T value;
  std::memcpy(&value, in.data(), sizeof(T));
  return std::endian::native == std::endian::little ? value : ByteSwap(value);
}

template <std::unsigned_integral T>
T LoadBigEndian(std::span<const uint8_t, sizeof(T)> in) {
  T value;
  std::memcpy(&value, in.data(), sizeof(T));
  return std::endian::native == std::endian::big ? value : ByteSwap(value);
}

template <std::unsigned_integral T>
void StoreLittleEndian(T value, std::span<uint8_t, sizeof(T)> out) {
  if constexpr (std::endian::native != std::endian::little) value = ByteSwap(value);
  std::memcpy(out.data(), &value, sizeof(T));
}

template <std::unsigned_integral T>
void StoreBigEndian(T value, std::span<uint8_t, sizeof(T)> out) {
  if constexpr (std::endian::native != std::endian::big) value = ByteSwap(value);
  std::memcpy(out.data(), &value, sizeof(T));
}

}  // namespace coffer
