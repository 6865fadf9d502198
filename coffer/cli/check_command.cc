// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/progress.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_session.h"
#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/check.h"

namespace coffer::cli {
namespace {

std::string TextOf(const vault::Finding& finding) {
  std::string text(vault::FindingWord(finding.what));
  text += ": ";
  if (!finding.key.empty()) text += DisplayName(finding.key) + ": ";
  text += finding.message + "\n";
  for (const std::string& path : finding.paths) text += "    hits " + DisplayName(path) + "\n";
  return text;
}

std::string JsonOf(const vault::Finding& finding) {
  nlohmann::ordered_json json;
  json["finding"] = vault::FindingWord(finding.what);
  json["damage"] = vault::IsDamage(finding.what);
  if (!finding.key.empty()) {
    const JsonName name = JsonNameOf("object", finding.key);
    json[name.key] = name.value;
  }
  json["message"] = DisplayName(finding.message);
  json["files"] = nlohmann::ordered_json::array();
  for (const std::string& path : finding.paths) {
    const JsonName name = JsonNameOf("name", path);
    json["files"].push_back({{name.key, name.value}});
  }
  return json.dump() + "\n";
}

Status Report(const CheckCommandOptions& options, const std::vector<vault::Finding>& findings,
              const vault::CheckCounts& counts) {
  std::string text;
  bool damaged = false;
  for (const vault::Finding& finding : findings) {
    damaged = damaged || vault::IsDamage(finding.what);
    text += options.json ? JsonOf(finding) : TextOf(finding);
  }
  COFFER_TRY(os::StandardOutput().Write(AsBytes(text)));
  if (options.json || options.target.quiet) return OkStatus();
  PrintNote("read " + std::to_string(counts.object_count) + " objects, " +
            FormatSize(static_cast<double>(counts.size)) +
            (damaged ? ": damage was found" : ": no damage"));
  return OkStatus();
}

ExitCode ExitCodeOfFindings(const std::vector<vault::Finding>& findings) {
  ExitCode exit_code = ExitCode::kOk;
  for (const vault::Finding& finding : findings) {
    if (vault::IsDamage(finding.what)) return ExitCode::kDamaged;
    if (vault::IsPending(finding.what)) exit_code = ExitCode::kPartial;
  }
  return exit_code;
}

}  // namespace

Result<ExitCode> RunCheck(const CheckCommandOptions& options) {
  if (options.no_key && options.read_data) {
    return UsageError("--read-data takes the key");
  }
  std::unique_ptr<VaultSession> session;
  std::vector<vault::Finding> findings;
  std::unique_ptr<store::LocalStore> bare_store;
  if (options.no_key) {
    COFFER_ASSIGN_OR_RETURN(const std::string path, VaultPath(options.target));
    COFFER_ASSIGN_OR_RETURN(const os::FileStat stat, os::RealFileSystem().Stat(path));
    if (stat.kind != os::FileKind::kDirectory) {
      return InvalidArgument(Quote(path) + " is not a directory");
    }
    bare_store = std::make_unique<store::LocalStore>(os::RealFileSystem(), path);
  } else {
    COFFER_ASSIGN_OR_RETURN(session, OpenVault(options.target, Reporting::kLeave));
  }
  store::Store& store = session ? *session->store : *bare_store;

  Progress progress(std::nullopt, ProgressIsVisible(options.target.quiet), os::StandardError(),
                    os::SystemClock());
  std::mutex mutex;
  const vault::CheckProgress count = [&](uint64_t size) {
    const std::lock_guard lock(mutex);
    progress.Add(size);
  };
  const vault::ObjectFilter filter = options.percent == 100
                                         ? vault::AllObjects()
                                         : vault::SomeSegments(options.percent, os::SystemRandom());
  COFFER_ASSIGN_OR_RETURN(const vault::CheckCounts counts,
                          vault::CheckNames(store, filter, count, findings));
  if (session) {
    COFFER_TRY(vault::CheckReferences(*session->vault, findings));
    for (const vault::Finding& finding : session->vault->findings()) findings.push_back(finding);
    if (options.read_data) {
      COFFER_TRY(vault::CheckData(*session->vault, filter, count, findings));
    }
  }
  COFFER_TRY(Report(options, findings, counts));
  return ExitCodeOfFindings(findings);
}

}  // namespace coffer::cli
