// SPDX-License-Identifier: Apache-2.0
// File descriptors with an owner, and system calls that are taken up again after a signal.
#pragma once

#include <errno.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "coffer/base/bytes.h"

namespace coffer::os::internal {

// Repeats `call` while it fails with EINTR. Not for close(2): the descriptor is gone after it.
template <class Call>
auto Retry(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this == &other) return *this;
    Close();
    value_ = std::exchange(other.value_, -1);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }
  [[nodiscard]] int Release() { return std::exchange(value_, -1); }

  // Returns errno, or 0. An interrupted close has closed.
  int Close() {
    if (value_ < 0) return 0;
    const int result = close(std::exchange(value_, -1));
    return result == 0 || errno == EINTR ? 0 : errno;
  }

 private:
  int value_ = -1;
};

// read(2) and write(2) that wait where a descriptor was left non-blocking by whoever gave it to us.
// ReadSome returns the count, or -1 with errno; WriteAll returns errno, or 0.
ssize_t ReadSome(int descriptor, MutableByteSpan out);
int WriteAll(int descriptor, ByteSpan bytes);

// The off_t for a position in a file, if there is one.
std::optional<off_t> ToOffset(uint64_t value);

}  // namespace coffer::os::internal
