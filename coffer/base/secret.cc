// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/secret.h"

#include <string.h>

#include <algorithm>
#include <new>
#include <utility>

namespace coffer {

void SecureWipe(void* data, size_t size) {
  if (size != 0) explicit_bzero(data, size);
}

SecretBuffer::SecretBuffer(size_t size) {
  Reserve(size);
  size_ = size;
}

SecretBuffer::SecretBuffer(SecretBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

SecretBuffer& SecretBuffer::operator=(SecretBuffer&& other) noexcept {
  if (this == &other) return *this;
  Clear();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

SecretBuffer::~SecretBuffer() { Clear(); }

SecretBuffer SecretBuffer::CopyOf(ByteSpan bytes) {
  SecretBuffer copy;
  copy.Append(bytes);
  return copy;
}

void SecretBuffer::Append(ByteSpan bytes) {
  if (bytes.empty()) return;
  COFFER_CHECK(bytes.size() <= SIZE_MAX / 2 - size_);
  const size_t needed = size_ + bytes.size();
  if (needed <= capacity_) {
    std::ranges::copy(bytes, data_ + size_);
    size_ = needed;
    return;
  }
  // The old memory lasts until `bytes`, which may lie in it, are copied.
  SecretBuffer grown;
  grown.Reserve(std::max(needed, capacity_ * 2));
  if (size_ != 0) memcpy(grown.data_, data_, size_);
  memcpy(grown.data_ + size_, bytes.data(), bytes.size());
  grown.size_ = needed;
  *this = std::move(grown);
}

void SecretBuffer::Truncate(size_t size) {
  COFFER_CHECK(size <= size_);
  SecureWipe(data_ + size, size_ - size);
  size_ = size;
}

void SecretBuffer::Reserve(size_t capacity) {
  if (capacity <= capacity_) return;
  auto* moved = static_cast<uint8_t*>(::operator new(capacity));
  memset(moved, 0, capacity);
  if (size_ != 0) memcpy(moved, data_, size_);
  SecureWipe(data_, size_);
  ::operator delete(data_);
  data_ = moved;
  capacity_ = capacity;
}

void SecretBuffer::Clear() {
  SecureWipe(data_, capacity_);
  ::operator delete(data_);
  data_ = nullptr;
  size_ = 0;
  capacity_ = 0;
}

}  // namespace coffer
