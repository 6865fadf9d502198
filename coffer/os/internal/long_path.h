// SPDX-License-Identifier: Apache-2.0
// Paths longer than the kernel takes in one call.
#pragma once

#include <string>

#include "coffer/os/internal/descriptor.h"

namespace coffer::os::internal {

// A path as the directory and name of an *at call: of ordinary length as it is, beyond PATH_MAX
// with its front walked in pieces.
class LongPath {
 public:
  explicit LongPath(const std::string& path);

  // errno of why there is no such path, or 0: EINVAL for a NUL within it, or what the walk met.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int directory() const;
  [[nodiscard]] const char* name() const { return name_; }

 private:
  Descriptor directory_;
  const char* name_;  // within the path
  int error_ = 0;
};

}  // namespace coffer::os::internal
