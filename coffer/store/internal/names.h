// SPDX-License-Identifier: Apache-2.0
// Names in a store, and the errors about them that all stores share.
#pragma once

#include <string>
#include <string_view>

#include "coffer/base/result.h"

namespace coffer::store::internal {

Error InvalidKey(std::string_view key);
Error InvalidPrefix(std::string_view prefix);

// kNotFound and kAlreadyExists for objects, where no call of the system said so.
Error NoSuchObject(std::string_view name);
Error AlreadyTaken(std::string_view name);

// os::PathError for a step on the way to an object: that a directory is missing does not make it
// kNotFound, which is said of objects only.
Error StepError(std::string_view verb, std::string_view path, int error_number);

// Whether `prefix` is one that Prepare and, unless it is empty, List take.
bool IsValidPrefix(std::string_view prefix);

// The part of a key before its last component, without the slash; empty if there is none.
std::string_view PrefixOf(std::string_view key);

}  // namespace coffer::store::internal
