// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/entry.h"

namespace coffer::vault {

uint64_t Entry::data_size() const {
  uint64_t data = size;
  for (const Hole& hole : holes) data -= hole.size;
  return data;
}

bool IsValidPath(std::string_view path) {
  if (path.size() > kMaxPathSize || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace coffer::vault
