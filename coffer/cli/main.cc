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
#include "coffer/cli/vault_commands.h"
#include "coffer/os/cpu.h"
#include "coffer/os/environment.h"
#include "coffer/os/file_system.h"
#include "coffer/os/memory.h"
#include "coffer/os/process.h"
#include "coffer/os/signals.h"

namespace coffer::cli {
namespace {

// How a command that only succeeds or fails ends.
Result<ExitCode> Ended(Status status) {
  if (!status.ok()) return std::move(status).error();
  return ExitCode::kOk;
}

Result<ExitCode> Run(const EncryptOptions& options) { return Ended(RunEncrypt(options)); }
Result<ExitCode> Run(const DecryptOptions& options) { return Ended(RunDecrypt(options)); }
Result<ExitCode> Run(const KeygenOptions& options) { return Ended(RunKeygen(options)); }
Result<ExitCode> Run(const InspectOptions& options) { return Ended(RunInspect(options)); }
Result<ExitCode> Run(const InitOptions& options) { return RunInit(options); }
Result<ExitCode> Run(const AddOptions& options) { return RunAdd(options); }
Result<ExitCode> Run(const ListOptions& options) { return RunList(options); }
Result<ExitCode> Run(const GetOptions& options) { return RunGet(options); }
Result<ExitCode> Run(const RemoveOptions& options) { return RunRemove(options); }
Result<ExitCode> Run(const MoveOptions& options) { return RunMove(options); }
Result<ExitCode> Run(const HistoryOptions& options) { return RunHistory(options); }
Result<ExitCode> Run(const PinOptions& options) { return RunPin(options); }
Result<ExitCode> Run(const CheckCommandOptions& options) { return RunCheck(options); }
Result<ExitCode> Run(const PasswdOptions& options) { return RunPasswd(options); }
Result<ExitCode> Run(const RecoverOptions& options) { return RunRecover(options); }
Result<ExitCode> Run(const KeyAddOptions& options) { return RunKeyAdd(options); }
Result<ExitCode> Run(const KeyListOptions& options) { return RunKeyList(options); }
Result<ExitCode> Run(const KeyExportOptions& options) { return RunKeyExport(options); }
Result<ExitCode> Run(const StatusOptions& options) { return RunStatus(options); }
Result<ExitCode> Run(const ParseEnd& end) { return static_cast<ExitCode>(end.exit_code); }

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
  const Result<ExitCode> ended = std::visit([](const auto& o) { return Run(o); }, options);
  return ended.ok() ? *ended : ReportFailure(ended.error());
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
