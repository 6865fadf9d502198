// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/internal/names.h"

#include <errno.h>

#include <algorithm>
#include <cstddef>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"
#include "coffer/store/store.h"

namespace coffer::store::internal {

Error InvalidKey(std::string_view key) {
  return {ErrorCode::kInvalidArgument, Quote(key) + " is not a name for an object in a store"};
}

Error InvalidPrefix(std::string_view prefix) {
  return {ErrorCode::kInvalidArgument, Quote(prefix) + " is not a part of a store"};
}

Error NoSuchObject(std::string_view name) { return os::PathError("find", name, ENOENT); }

Error AlreadyTaken(std::string_view name) { return os::PathError("publish", name, EEXIST); }

Error StepError(std::string_view verb, std::string_view path, int error_number) {
  Error error = os::PathError(verb, path, error_number);
  if (error.code() != ErrorCode::kNotFound) return error;
  Error step(ErrorCode::kIo, error.message());
  step.set_system_errno(error_number);
  return step;
}

bool IsValidPrefix(std::string_view prefix) {
  const auto slash_count = std::count(prefix.begin(), prefix.end(), '/');
  return IsValidKey(prefix) && static_cast<size_t>(slash_count) + 1 < kMaxComponentCount;
}

std::string_view PrefixOf(std::string_view key) {
  const size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
}

}  // namespace coffer::store::internal
