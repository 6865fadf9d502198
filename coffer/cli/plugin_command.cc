// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/plugin_command.h"

#include <memory>
#include <string_view>

#include "coffer/age/plugin_server.h"
#include "coffer/os/input.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"

namespace coffer::cli {
namespace {

Status Serve(std::string_view state_machine) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::Input> input, os::OpenInput("-"));
  return age::ServePlugin(state_machine, *input, os::StandardOutput(), os::SystemRandom());
}

}  // namespace

ExitCode RunPlugin(int argc, const char* const* argv) {
  const std::string_view argument = argc == 2 ? argv[1] : "";
  if (!argument.starts_with(kPluginFlag)) {
    PrintNote(
        "age-plugin-coffer is started by age and other clients of age plugins, for keys that "
        "coffer keygen made");
    return ExitCode::kUsage;
  }
  const Status status = Serve(argument.substr(kPluginFlag.size()));
  return status.ok() ? ExitCode::kOk : ReportFailure(status.error());
}

}  // namespace coffer::cli
