// SPDX-License-Identifier: Apache-2.0
// Fields of this layer's files: big-endian integers and arrays of bytes.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>

#include "coffer/base/bytes.h"
#include "coffer/base/endian.h"

namespace coffer::local::internal {

template <std::unsigned_integral T>
void AppendInteger(Bytes& out, T value) {
  std::array<uint8_t, sizeof(T)> bytes;
  StoreBigEndian(value, std::span<uint8_t, sizeof(T)>(bytes));
  Append(out, bytes);
}

// These return false where the bytes end.
template <std::unsigned_integral T>
[[nodiscard]] bool TakeInteger(ByteReader& reader, T& value) {
  const std::optional<ByteSpan> taken = reader.Take(sizeof(T));
  if (!taken) return false;
  value = LoadBigEndian<T>(taken->first<sizeof(T)>());
  return true;
}

template <size_t N>
[[nodiscard]] bool TakeArray(ByteReader& reader, std::array<uint8_t, N>& value) {
  const std::optional<ByteSpan> taken = reader.Take(N);
  if (!taken) return false;
  std::copy(taken->begin(), taken->end(), value.begin());
  return true;
}

}  // namespace coffer::local::internal
