// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "coffer/base/quote.h"
#include "coffer/cli/adder.h"
#include "coffer/cli/console.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/progress.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_session.h"
#include "coffer/local/exclude.h"
#include "coffer/local/scan.h"
#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/input.h"
#include "coffer/os/output_file.h"
#include "coffer/os/users.h"

namespace coffer::cli {
namespace {

constexpr size_t kMaxExcludeFileSize = size_t{16} << 20;

class AddVisitor final : public local::ScanVisitor {
 public:
  explicit AddVisitor(Adder& adder) : adder_(adder) {}

  Status OnEntry(local::ScannedItem& item) override {
    if (item.entry().kind != vault::EntryKind::kFile) return adder_.Add(std::move(item.entry()));
    if (adder_.IsUnchanged(item.entry())) return OkStatus();
    Result<std::unique_ptr<local::ScannedFile>> file = item.Open();
    if (!file.ok()) {
      OnProblem(item.path(), file.error());
      return OkStatus();
    }
    bool changed = false;
    COFFER_ASSIGN_OR_RETURN(
        const Adder::FileResult result,
        adder_.AddFile(item.entry(), **file, [&](vault::Entry& entry) -> Status {
          COFFER_ASSIGN_OR_RETURN(changed, (*file)->FinishReading(entry));
          return OkStatus();
        }));
    if (result.problem) {
      OnProblem(item.path(), *result.problem);
    } else if (changed) {
      OnProblem(item.path(), Error(ErrorCode::kIo, "it changed while it was read"));
    }
    return OkStatus();
  }

  void OnProblem(const std::string& path, const Error& error) override {
    ++adder_.counts().problems;
    PrintError(Quote(path) + ": " + error.message());
  }

  void OnNote(const std::string& path, const std::string& what) override {
    PrintWarning(Quote(path) + ": " + what);
  }

 private:
  Adder& adder_;
};

Status CheckAddOptions(const AddOptions& options) {
  if (options.paths.empty() && !options.stdin_name) return UsageError("nothing to add");
  if (options.to && options.paths.size() != 1) return UsageError("--to is for one PATH");
  if (options.remark && !IsUtf8(*options.remark))
    return InvalidArgument("a remark has to be UTF-8");
  return OkStatus();
}

Result<std::vector<local::ScanSource>> Sources(const AddOptions& options) {
  std::vector<local::ScanSource> sources;
  for (const std::string& path : options.paths) {
    COFFER_ASSIGN_OR_RETURN(std::string name, local::NormalizeName(options.to.value_or(path)));
    sources.push_back({path, std::move(name)});
  }
  return sources;
}

Result<local::ExcludeList> Excludes(const AddOptions& options) {
  local::ExcludeList list;
  for (const std::string& pattern : options.excludes) COFFER_TRY(list.Add(pattern));
  for (const std::string& path : options.exclude_files) {
    COFFER_ASSIGN_OR_RETURN(const SecretBuffer text, os::ReadSecretFile(path, kMaxExcludeFileSize));
    COFFER_TRY(list.AddLines(text.ExposeText()));
  }
  return list;
}

// What was wrong with standard input, if it is not in the vault now.
Result<std::optional<Error>> AddStandardInput(Adder& adder, const std::string& path) {
  Result<std::unique_ptr<os::Input>> input = os::OpenInput("-");
  if (!input.ok()) return std::optional<Error>(std::move(input).error());
  vault::Entry entry;
  entry.path = path;
  entry.mode = 0644;
  entry.user = (*input)->stat().user;
  entry.group = (*input)->stat().group;
  entry.modified = os::WallTime(os::SystemClock());
  const uint64_t before = adder.counts().read_size;
  COFFER_ASSIGN_OR_RETURN(Adder::FileResult result,
                          adder.AddFile(std::move(entry), **input, [&](vault::Entry& done) {
                            done.size = adder.counts().read_size - before;
                            return OkStatus();
                          }));
  return std::move(result.problem);
}

Status AddStream(Adder& adder, const AddOptions& options) {
  if (!options.stdin_name) return OkStatus();
  COFFER_ASSIGN_OR_RETURN(const std::string path, local::NormalizeName(*options.stdin_name));
  if (path.empty()) return UsageError("--stdin-name can't be empty");
  COFFER_ASSIGN_OR_RETURN(const std::optional<Error> problem, AddStandardInput(adder, path));
  if (!problem) return OkStatus();
  // Half of a stream is nothing that anybody asked for. What was added beside it stays.
  if (options.paths.empty()) return *problem;
  ++adder.counts().problems;
  PrintError(Quote(path) + ": " + problem->message());
  return OkStatus();
}

void Report(const AddOptions& options, const Adder& adder, const Adder::Counts& counts) {
  if (options.json) {
    nlohmann::ordered_json json;
    json["added"] = counts.added;
    json["unchanged"] = counts.unchanged;
    json["problems"] = counts.problems;
    json["read_size"] = counts.read_size;
    json["new_size"] = counts.new_size;
    json["commits"] = nlohmann::ordered_json::array();
    for (const vault::Id& id : adder.commits()) json["commits"].push_back(ShortId(id));
    static_cast<void>(os::StandardOutput().Write(AsBytes(json.dump() + "\n")));
    return;
  }
  if (options.target.quiet) return;
  const std::string verb = options.dry_run ? "would add " : "added ";
  PrintNote(verb + std::to_string(counts.added) + ", unchanged " +
            std::to_string(counts.unchanged) + "; read " +
            FormatSize(static_cast<double>(counts.read_size)) + ", stored " +
            FormatSize(static_cast<double>(counts.new_size)));
}

}  // namespace

Result<ExitCode> RunAdd(const AddOptions& options) {
  COFFER_TRY(CheckAddOptions(options));
  COFFER_ASSIGN_OR_RETURN(const std::vector<local::ScanSource> sources, Sources(options));
  local::ScanOptions scan_options;
  COFFER_ASSIGN_OR_RETURN(scan_options.excludes, Excludes(options));
  scan_options.one_file_system = options.one_file_system;
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  COFFER_TRY(session->vault->CheckWritable());
  COFFER_ASSIGN_OR_RETURN(scan_options.vault, os::RealFileSystem().Stat(session->path));

  Progress progress(std::nullopt, ProgressIsVisible(options.target.quiet), os::StandardError(),
                    os::SystemClock());
  Adder adder(*session, options, progress);
  COFFER_TRY(adder.Start());
  AddVisitor visitor(adder);
  COFFER_TRY(local::Scan(os::RealFileSystem(), os::SystemUsers(), sources, scan_options, visitor));
  COFFER_TRY(AddStream(adder, options));
  COFFER_TRY(adder.Commit());
  Report(options, adder, adder.counts());
  const ExitCode done = adder.counts().problems == 0 ? ExitCode::kOk : ExitCode::kPartial;
  return Graver(session->exit_code, done);
}

}  // namespace coffer::cli
