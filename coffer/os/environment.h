// SPDX-License-Identifier: Apache-2.0
// The process environment.
#pragma once

#include <optional>
#include <string>

namespace coffer::os {

std::optional<std::string> GetEnvironment(const std::string& name);

}  // namespace coffer::os
