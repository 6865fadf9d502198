// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/environment.h"

#include <stdlib.h>

namespace coffer::os {

std::optional<std::string> GetEnvironment(const std::string& name) {
  const char* value = getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace coffer::os
