// SPDX-License-Identifier: Apache-2.0
// coffer under the name age-plugin-coffer.
#pragma once

#include "coffer/cli/console.h"

namespace coffer::cli {

// Speaks the age plugin protocol on standard input and output if the arguments are those that a
// client gives; else says what this program is for.
ExitCode RunPlugin(int argc, const char* const* argv);

}  // namespace coffer::cli
