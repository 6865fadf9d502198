// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "coffer/cli/commands.h"
#include "coffer/cli/console.h"
#include "coffer/cli/options.h"
#include "coffer/cli/plugin_command.h"
#include "coffer/os/cpu.h"
#include "coffer/os/environment.h"
#include "coffer/os/file_system.h"
#include "coffer/os/memory.h"
#include "coffer/os/process.h"
#include "coffer/os/signals.h"

namespace coffer::cli {
namespace {

Status Run(const EncryptOptions& options) { return RunEncrypt(options); }
Status Run(const DecryptOptions& options) { return RunDecrypt(options); }
Status Run(const KeygenOptions& options) { return RunKeygen(options); }
Status Run(const InspectOptions& options) { return RunInspect(options); }
Status Run(const ParseEnd&) { return OkStatus(); }

// The name under which clients of the age plugin protocol start this program. Some, as rage, follow
// the link of that name first, and then only the flag tells.
constexpr std::string_view kPluginName = "age-plugin-coffer";

bool IsPlugin(int argc, const char* const* argv) {
  if (argc > 0 && os::BaseNameOf(argv[0]) == kPluginName) return true;
  return argc == 2 && std::string_view(argv[1]).starts_with(kPluginFlag);
}

// A cap that is none would be taken for the lowest one, and cost time that nobody asked for.
Status CheckCpuCap() {
  const std::optional<std::string> cap = os::GetEnvironment("COFFER_CPU");
  if (!cap) return OkStatus();
  Result<os::SimdLevel> level = os::ParseCpuCap(*cap);
  if (!level.ok()) return std::move(level).error();
  return OkStatus();
}

ExitCode Main(int argc, const char* const* argv) {
  os::OpenStandardDescriptors();
  os::HardenProcess();
  os::InstallSignalHandlers();
  os::IgnoreSigpipe();
  if (const Status cap = CheckCpuCap(); !cap.ok()) {
    PrintError(cap.error().message());
    return ExitCode::kUsage;
  }
  if (IsPlugin(argc, argv)) return RunPlugin(argc, argv);
  const Options options = ParseCommandLine(argc, argv);
  if (const auto* end = std::get_if<ParseEnd>(&options))
    return static_cast<ExitCode>(end->exit_code);
  const Status status = std::visit([](const auto& o) { return Run(o); }, options);
  return status.ok() ? ExitCode::kOk : ReportFailure(status.error());
}

}  // namespace
}  // namespace coffer::cli

// What input can cause is a Result; only the standard library's own exceptions come here.
int main(int argc, char** argv) {
  try {
    return static_cast<int>(coffer::cli::Main(argc, argv));
  } catch (const std::bad_alloc&) {
    coffer::cli::PrintError("out of memory");
  } catch (const std::exception& e) {
    coffer::cli::PrintError(e.what());
  }
  return static_cast<int>(coffer::cli::ExitCode::kFailed);
}
