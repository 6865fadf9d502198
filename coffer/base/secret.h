// SPDX-License-Identifier: Apache-2.0
// Secret bytes. They are wiped when they end or move away; they cannot be copied, compared with ==
// or printed, and are read only through Expose(), a word to search for in review.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/check.h"

namespace coffer {

// Overwrites with zeros in a way that no optimiser removes.
void SecureWipe(void* data, size_t size);
inline void SecureWipe(MutableByteSpan bytes) { SecureWipe(bytes.data(), bytes.size()); }

// N secret bytes with a role. `Role` is a tag type: two arrays of one size with different roles
// are different types, so a FileKey where a PayloadKey is wanted does not compile. Moved-from
// arrays are wiped and empty(); exposing one is a broken invariant.
template <size_t N, class Role>
class SecretArray {
 public:
  static constexpr size_t kSize = N;

  SecretArray() = default;  // all zeros, to be filled through ExposeMutable()
  SecretArray(const SecretArray&) = delete;
  SecretArray& operator=(const SecretArray&) = delete;
  SecretArray(SecretArray&& other) noexcept { *this = std::move(other); }
  SecretArray& operator=(SecretArray&& other) noexcept {
    if (this == &other) return *this;
    bytes_ = other.bytes_;
    empty_ = other.empty_;
    other.Clear();
    return *this;
  }
  ~SecretArray() { SecureWipe(bytes_.data(), N); }

  static SecretArray CopyOf(std::span<const uint8_t, N> bytes) {
    SecretArray copy;
    for (size_t i = 0; i < N; ++i) copy.bytes_[i] = bytes[i];
    return copy;
  }

  [[nodiscard]] std::span<const uint8_t, N> Expose() const {
    COFFER_CHECK(!empty_);
    return bytes_;
  }
  [[nodiscard]] std::span<uint8_t, N> ExposeMutable() {
    COFFER_CHECK(!empty_);
    return bytes_;
  }

  // A second holder of the same secret. Spelled out, since a copy is one more thing to wipe.
  [[nodiscard]] SecretArray Duplicate() const { return CopyOf(Expose()); }

  // Wipes now; the array is as if moved from.
  void Clear() {
    SecureWipe(bytes_.data(), N);
    empty_ = true;
  }
  [[nodiscard]] bool empty() const { return empty_; }

  bool operator==(const SecretArray&) const = delete;  // use ct::Equal

 private:
  std::array<uint8_t, N> bytes_{};
  bool empty_ = false;
};

// Wipes memory as it gives it back: for containers of bytes that may hold a secret for a while and
// have to be containers, e.g. a reader's buffer.
template <class T>
struct WipingAllocator {
  using value_type = T;

  WipingAllocator() = default;
  template <class U>
  WipingAllocator(const WipingAllocator<U>&) {}  // NOLINT

  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* data, size_t count) {
    SecureWipe(data, count * sizeof(T));
    std::allocator<T>().deallocate(data, count);
  }
  bool operator==(const WipingAllocator&) const = default;
};

// Secret bytes of a size known at run time. Growing moves them to new memory and wipes the old.
class SecretBuffer {
 public:
  SecretBuffer() = default;
  explicit SecretBuffer(size_t size);  // zeros
  SecretBuffer(const SecretBuffer&) = delete;
  SecretBuffer& operator=(const SecretBuffer&) = delete;
  SecretBuffer(SecretBuffer&& other) noexcept;
  SecretBuffer& operator=(SecretBuffer&& other) noexcept;
  ~SecretBuffer();

  static SecretBuffer CopyOf(ByteSpan bytes);
  static SecretBuffer CopyOf(std::string_view text) { return CopyOf(AsBytes(text)); }

  [[nodiscard]] ByteSpan Expose() const { return {data_, size_}; }
  [[nodiscard]] MutableByteSpan ExposeMutable() { return {data_, size_}; }
  [[nodiscard]] std::string_view ExposeText() const { return AsText(Expose()); }
  [[nodiscard]] SecretBuffer Duplicate() const { return CopyOf(Expose()); }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  void Append(ByteSpan bytes);  // which may be its own
  void Append(std::string_view text) { Append(AsBytes(text)); }
  void PushBack(uint8_t byte) { Append(ByteSpan(&byte, 1)); }
  // Shortens to `size`, which is at most size(); what is cut off is wiped.
  void Truncate(size_t size);
  // Makes room so that appending up to `capacity` bytes in all moves nothing.
  void Reserve(size_t capacity);
  void Clear();

  bool operator==(const SecretBuffer&) const = delete;  // use ct::Equal

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace coffer
