// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/internal/long_path.h"

#include <fcntl.h>
#include <limits.h>

namespace coffer::os::internal {

LongPath::LongPath(const std::string& path) : name_(path.c_str()) {
  if (path.find('\0') != std::string::npos) {
    error_ = EINVAL;
    return;
  }
  size_t start = 0;
  while (path.size() - start >= PATH_MAX) {
    const size_t slash = path.rfind('/', start + PATH_MAX - 2);
    if (slash == std::string::npos || slash < start) {
      error_ = ENAMETOOLONG;
      return;
    }
    const std::string piece = path.substr(start, slash - start + 1);
    Descriptor next(Retry(
        [&] { return openat(directory(), piece.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
    if (!next.valid()) {
      error_ = errno;
      return;
    }
    directory_ = std::move(next);
    start = slash + 1;
    // A slash in front would make the rest an absolute path.
    while (start < path.size() && path[start] == '/') ++start;
  }
  name_ = start > 0 && start == path.size() ? "." : path.c_str() + start;
}

int LongPath::directory() const { return directory_.valid() ? directory_.get() : AT_FDCWD; }

}  // namespace coffer::os::internal
