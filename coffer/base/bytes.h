// SPDX-License-Identifier: Apache-2.0
// Byte spans, public byte strings, and a bounded reader over them. Secret bytes live in
// coffer/base/secret.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace coffer {

using ByteSpan = std::span<const uint8_t>;
using MutableByteSpan = std::span<uint8_t>;

// Bytes that may be seen by anyone: ciphertext, encodings, public keys.
using Bytes = std::vector<uint8_t>;

inline ByteSpan AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view AsText(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// `more` is not part of `out`.
inline void Append(Bytes& out, ByteSpan more) {
  if (more.empty()) return;
  const size_t old_size = out.size();
  out.resize(old_size + more.size());
  std::memcpy(out.data() + old_size, more.data(), more.size());
}

// A cursor over bytes that never reads past their end. Each call either returns what was asked for
// and moves on, or returns nothing and leaves the cursor where it was.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : rest_(bytes) {}

  [[nodiscard]] std::optional<ByteSpan> Take(size_t size) {
    if (size > rest_.size()) return std::nullopt;
    ByteSpan taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  [[nodiscard]] std::optional<uint8_t> TakeByte() {
    std::optional<ByteSpan> taken = Take(1);
    if (!taken) return std::nullopt;
    return (*taken)[0];
  }

  // Takes up to and including the next `delimiter`; the result is without it.
  [[nodiscard]] std::optional<ByteSpan> TakeUntil(uint8_t delimiter) {
    for (size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] != delimiter) continue;
      ByteSpan taken = rest_.first(i);
      rest_ = rest_.subspan(i + 1);
      return taken;
    }
    return std::nullopt;
  }

  [[nodiscard]] ByteSpan rest() const { return rest_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  ByteSpan rest_;
};

}  // namespace coffer
