// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/internal/descriptor.h"

#include <poll.h>

#include <algorithm>

#include "coffer/base/checked.h"

namespace coffer::os::internal {
namespace {

// Linux moves at most this much in one call (read(2)).
constexpr size_t kMaxTransfer = 0x7ffff000;

// Waits after EAGAIN; returns whether the call is to be made again.
bool WaitUntilReady(int descriptor, short events) {
  if (errno != EAGAIN) return false;  // EWOULDBLOCK is the same number here
  pollfd poll_descriptor = {descriptor, events, 0};
  return Retry([&] { return poll(&poll_descriptor, 1, -1); }) > 0;
}

}  // namespace

ssize_t ReadSome(int descriptor, MutableByteSpan out) {
  const size_t size = std::min(out.size(), kMaxTransfer);
  for (;;) {
    const ssize_t count = Retry([&] { return read(descriptor, out.data(), size); });
    if (count >= 0 || !WaitUntilReady(descriptor, POLLIN)) return count;
  }
}

int WriteAll(int descriptor, ByteSpan bytes) {
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kMaxTransfer);
    const ssize_t count = Retry([&] { return write(descriptor, bytes.data(), size); });
    if (count < 0) {
      if (WaitUntilReady(descriptor, POLLOUT)) continue;
      return errno;
    }
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

std::optional<off_t> ToOffset(uint64_t value) { return CheckedCast<off_t>(value); }

}  // namespace coffer::os::internal
