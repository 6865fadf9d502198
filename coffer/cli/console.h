// SPDX-License-Identifier: Apache-2.0
// Messages for people, on standard error, one line each.
#pragma once

#include <string_view>

#include "coffer/base/result.h"

namespace coffer::cli {

enum class ExitCode : int {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,
  // Of the vault's commands only.
  kPartial = 3,  // done in part, and each item that was not is named
  kNoKey = 4,    // wrong passphrase, or no key file
  kDamaged = 5,  // damage or forgery was found
};

// How a command ends that fails with an error of this class.
ExitCode ExitCodeOf(ErrorCode code);

void PrintError(std::string_view message);
void PrintWarning(std::string_view message);
void PrintHint(std::string_view message);
void PrintNote(std::string_view message);

// Reports what went wrong and says how the process ends. Does not return for a closed pipe, which
// ends a program without a word.
ExitCode ReportFailure(const Error& error);

}  // namespace coffer::cli
