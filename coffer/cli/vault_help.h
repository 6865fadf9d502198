// SPDX-License-Identifier: Apache-2.0
// What --help of the vault's commands says below the options.
#pragma once

#include <string>
#include <string_view>

namespace coffer::cli {

// Of a command such as "add", or "key add"; empty for one that is not the vault's.
std::string VaultHelp(std::string_view command);

}  // namespace coffer::cli
