// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/console.h"

#include <string>

#include "coffer/base/io.h"
#include "coffer/os/output_file.h"
#include "coffer/os/signals.h"

namespace coffer::cli {
namespace {

// One write, so that lines of several processes do not mix. Nobody is left to tell if it fails.
void PrintLine(std::string_view kind, std::string_view message) {
  std::string line = "coffer: ";
  line.append(kind).append(message).push_back('\n');
  static_cast<void>(os::StandardError().Write(AsBytes(line)));
}

}  // namespace

void PrintError(std::string_view message) { PrintLine("error: ", message); }
void PrintWarning(std::string_view message) { PrintLine("warning: ", message); }
void PrintHint(std::string_view message) { PrintLine("hint: ", message); }
void PrintNote(std::string_view message) { PrintLine("", message); }

ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return ExitCode::kUsage;
    case ErrorCode::kWrongPassphrase:
      return ExitCode::kNoKey;
    case ErrorCode::kDamaged:
    case ErrorCode::kForged:
      return ExitCode::kDamaged;
    default:
      return ExitCode::kFailed;
  }
}

ExitCode ReportFailure(const Error& error) {
  if (error.code() == ErrorCode::kClosedPipe) os::DieBySigpipe();
  PrintError(error.message());
  return ExitCodeOf(error.code());
}

}  // namespace coffer::cli
