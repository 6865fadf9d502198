// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/vault_session.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"
#include "coffer/cli/entry_text.h"
#include "coffer/local/scan.h"
#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/random.h"

namespace coffer::cli {
namespace {

constexpr size_t kShortDigits = 8;
constexpr size_t kMinDigits = 4;

Error NotFound(const std::string& what) { return Error(ErrorCode::kNotFound, what); }

// NAME@WRITER:SEQ, taken apart.
struct VersionSelector {
  std::string name;
  std::string writer_digits;
  uint64_t seq = 0;
};

std::optional<VersionSelector> ParseVersionSelector(const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos) return std::nullopt;
  const size_t colon = text.find(':', at);
  if (colon == std::string::npos || colon - at - 1 < kMinDigits) return std::nullopt;
  VersionSelector selector{text.substr(0, at), text.substr(at + 1, colon - at - 1)};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, selector.seq);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return selector;
}

}  // namespace

Result<std::unique_ptr<VaultSession>> OpenVault(const VaultTarget& target, Reporting reporting) {
  auto session = std::make_unique<VaultSession>();
  COFFER_ASSIGN_OR_RETURN(session->path, VaultPath(target));
  session->store = std::make_unique<store::LocalStore>(os::RealFileSystem(), session->path);
  Result<Unlocked> unlocked = Unlock(target, *session->store);
  if (!unlocked.ok()) {
    if (unlocked.error().code() == ErrorCode::kNotFound) {
      return std::move(unlocked).error().WithContext(Quote(session->path));
    }
    return std::move(unlocked).error();
  }
  const vault::VaultId id = unlocked->source.file.vault_id();
  COFFER_ASSIGN_OR_RETURN(const std::string directory, local::StateDirectoryOf(id));
  COFFER_ASSIGN_OR_RETURN(
      session->installation,
      local::FileInstallation::Open(os::RealFileSystem(), {.directory = directory}));
  const vault::VaultContext context{*session->store, *session->installation, os::SystemClock(),
                                    os::SystemRandom()};
  COFFER_ASSIGN_OR_RETURN(session->vault, vault::Vault::Open(context, unlocked->seed, id));
  COFFER_TRY(session->vault->Load());
  for (const std::string& note : session->installation->notes()) PrintWarning(note);
  if (reporting == Reporting::kSay) {
    session->exit_code = ReportFindings(session->vault->findings());
  }
  return session;
}

ExitCode ReportFindings(std::span<const vault::Finding> findings) {
  ExitCode exit_code = ExitCode::kOk;
  for (const vault::Finding& finding : findings) {
    std::string line(vault::FindingWord(finding.what));
    line += ": ";
    if (!finding.key.empty()) line += DisplayName(finding.key) + ": ";
    line += finding.message;
    for (const std::string& path : finding.paths) line += "; hits " + Quote(path);
    if (vault::IsDamage(finding.what)) {
      PrintError(line);
      exit_code = Graver(exit_code, ExitCode::kDamaged);
    } else {
      PrintWarning(line);
      if (vault::IsPending(finding.what)) exit_code = Graver(exit_code, ExitCode::kPartial);
    }
  }
  return exit_code;
}

ExitCode Graver(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    switch (code) {
      case ExitCode::kOk:
        return 0;
      case ExitCode::kPartial:
        return 1;
      case ExitCode::kFailed:
      case ExitCode::kUsage:
      case ExitCode::kNoKey:
        return 2;
      case ExitCode::kDamaged:
        return 3;
    }
    return 3;
  };
  return rank(a) >= rank(b) ? a : b;
}

std::string ShortId(ByteSpan id) { return hex::Encode(id.first(kShortDigits / 2)); }

std::string VersionName(const vault::State& state, const vault::Version& version) {
  const vault::CommitInfo& commit = state.CommitOf(version);
  return version.entry.path + "@" + ShortId(commit.writer) + ":" + std::to_string(commit.seq);
}

Result<const vault::CommitInfo*> FindCommit(const vault::State& state, std::string_view digits) {
  const vault::CommitInfo* found = nullptr;
  if (digits.size() < kMinDigits) {
    return InvalidArgument(Quote(digits) + " is too short for a commit's id");
  }
  for (const vault::CommitInfo& info : state.commits()) {
    if (!hex::Encode(info.id).starts_with(digits)) continue;
    if (found != nullptr) {
      return InvalidArgument("several commits begin with " + Quote(digits));
    }
    found = &info;
  }
  if (found == nullptr) return NotFound("no commit " + Quote(digits));
  return found;
}

Result<vault::State> StateAtText(vault::Vault& vault, const std::string& text) {
  if (const auto time = os::ParseTimeText(text)) {
    return vault.StateAt({.time = *time, .commit = std::nullopt});
  }
  Result<const vault::CommitInfo*> commit = FindCommit(vault.state(), text);
  if (!commit.ok()) {
    return std::move(commit).error().WithContext(
        "--at takes a time such as 2026-01-31T09:15:00Z, or the id of a commit");
  }
  return vault.StateAt({.time = (*commit)->time, .commit = (*commit)->id});
}

Result<std::vector<const vault::Version*>> Select(const vault::State& state,
                                                  const std::string& name) {
  std::vector<const vault::Version*> selected;
  const Result<std::string> path = local::NormalizeName(name);
  if (path.ok()) {
    const std::string* last = nullptr;
    for (const vault::Version& version : state.Below(*path)) {
      // The first of each path is its current version.
      if (last == nullptr || *last != version.entry.path) selected.push_back(&version);
      last = &version.entry.path;
    }
  }
  if (!selected.empty()) return selected;
  if (const auto selector = ParseVersionSelector(name)) {
    COFFER_ASSIGN_OR_RETURN(const std::string base, local::NormalizeName(selector->name));
    for (const vault::Version& version : state.Find(base)) {
      const vault::CommitInfo& commit = state.CommitOf(version);
      if (commit.seq != selector->seq) continue;
      if (!hex::Encode(commit.writer).starts_with(selector->writer_digits)) continue;
      selected.push_back(&version);
    }
    if (selected.size() == 1) return selected;
  }
  if (!path.ok()) return path.error();
  return NotFound("the vault has no " + Quote(name));
}

}  // namespace coffer::cli
