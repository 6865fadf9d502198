// SPDX-License-Identifier: Apache-2.0
// coffer under the name age-plugin-coffer.
#pragma once

#include <string_view>

#include "coffer/cli/console.h"

namespace coffer::cli {

// What a client's only argument starts with; the name of a state machine follows.
inline constexpr std::string_view kPluginFlag = "--age-plugin=";

// Speaks the age plugin protocol on standard input and output if the arguments are those that a
// client gives; else says what this program is for.
ExitCode RunPlugin(int argc, const char* const* argv);

}  // namespace coffer::cli
