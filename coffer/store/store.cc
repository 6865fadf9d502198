// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/store.h"

#include <algorithm>

namespace coffer::store {
namespace {

bool IsKeyCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool IsComponent(std::string_view text) {
  return !text.empty() && text.size() <= kMaxComponentSize && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), IsKeyCharacter);
}

}  // namespace

bool IsValidKey(std::string_view key) {
  for (size_t count = 0; count < kMaxComponentCount; ++count) {
    const size_t slash = key.find('/');
    const std::string_view component = key.substr(0, slash);
    if (!IsComponent(component) || (count == 0 && component == kReservedComponent)) return false;
    if (slash == std::string_view::npos) return true;
    key.remove_prefix(slash + 1);
  }
  return false;
}

}  // namespace coffer::store
