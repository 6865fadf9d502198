// SPDX-License-Identifier: Apache-2.0
// Commands that change the vault without reading files: rm, mv, pin.
#include <errno.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_session.h"
#include "coffer/local/scan.h"
#include "coffer/os/clock.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

bool IsDiskFull(const Error& error) {
  return error.system_errno() == ENOSPC || error.system_errno() == EDQUOT;
}

vault::Draft NewDraft() {
  vault::Draft draft;
  draft.scan_started = os::WallTime(os::SystemClock());
  return draft;
}

// On a full disk the reserve is given up for it: what removes has to work there.
Status CommitRemovals(VaultSession& session, const std::vector<std::string>& paths) {
  const auto commit = [&]() -> Status {
    COFFER_TRY(session.store->Prepare({}));
    vault::Draft draft = NewDraft();
    draft.removals = paths;
    COFFER_ASSIGN_OR_RETURN(const vault::Vault::Committed committed,
                            session.vault->Commit(std::move(draft), /*padding=*/true));
    for (const std::string& warning : committed.warnings) PrintWarning(warning);
    return OkStatus();
  };
  Status committed = commit();
  if (committed.ok() || !IsDiskFull(committed.error())) return committed;
  static_cast<void>(session.store->Sweep(std::chrono::hours(1)));
  const Status given_up = session.store->Remove("reserve");
  if (!given_up.ok() && given_up.error().code() != ErrorCode::kNotFound) return committed;
  if (given_up.ok()) {
    PrintWarning("the disk is full: the vault's reserve was given up for this removal");
  }
  return commit();
}

// The path with `from` at its front replaced by `to`.
std::string Moved(const std::string& path, const std::string& from, const std::string& to) {
  return to + path.substr(from.size());
}

// Groups of hard links are numbered within a commit, and these come from several.
class LinkGroups {
 public:
  void Renumber(vault::Entry& entry, uint32_t commit) {
    if (!entry.link_group) return;
    const auto place = std::pair(commit, *entry.link_group);
    entry.link_group = numbers_.try_emplace(place, numbers_.size()).first->second;
  }

 private:
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> numbers_;
};

}  // namespace

Result<ExitCode> RunRemove(const RemoveOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  COFFER_TRY(session->vault->CheckWritable());
  std::set<std::string> paths;
  for (const std::string& name : options.names) {
    COFFER_ASSIGN_OR_RETURN(const std::string path, local::NormalizeName(name));
    if (path.empty())
      return UsageError("the whole vault can't be removed at once: name what to remove");
    const auto versions = session->state().Below(path);
    if (versions.empty()) {
      return Error(ErrorCode::kNotFound,
                   "the vault has no " + Quote(name) + "; nothing was removed");
    }
    for (const vault::Version& version : versions) paths.insert(version.entry.path);
  }
  const std::vector<std::string> removed(paths.begin(), paths.end());
  if (!options.dry_run) COFFER_TRY(CommitRemovals(*session, removed));
  if (options.json) {
    std::string text;
    for (const std::string& path : removed) {
      const JsonName name = JsonNameOf("name", path);
      text += nlohmann::ordered_json{{name.key, name.value}}.dump() + "\n";
    }
    COFFER_TRY(os::StandardOutput().Write(AsBytes(text)));
  } else if (options.dry_run) {
    for (const std::string& path : removed) PrintNote("would remove " + DisplayName(path));
  } else if (!options.target.quiet) {
    PrintNote("removed " + std::to_string(removed.size()));
  }
  return session->exit_code;
}

Result<ExitCode> RunMove(const MoveOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::string from, local::NormalizeName(options.from));
  COFFER_ASSIGN_OR_RETURN(const std::string to, local::NormalizeName(options.to));
  if (from.empty() || to.empty()) return UsageError("the top of the vault can't be moved");
  if (from == to) return UsageError("both names are the same");
  if (to.starts_with(from + "/")) return UsageError(Quote(options.to) + " is within what is moved");
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  COFFER_TRY(session->vault->CheckWritable());
  const vault::State& state = session->state();
  if (!state.Below(to).empty()) {
    return Error(ErrorCode::kAlreadyExists, "the vault has " + Quote(options.to) + " already");
  }
  COFFER_ASSIGN_OR_RETURN(const auto versions, Select(state, from));
  vault::Draft draft = NewDraft();
  draft.removals.reserve(versions.size());
  draft.entries.reserve(versions.size());
  LinkGroups groups;
  for (const vault::Version* version : versions) {
    vault::Entry entry = version->entry;
    groups.Renumber(entry, version->commit);
    entry.path = Moved(entry.path, from, to);
    draft.removals.push_back(version->entry.path);
    draft.entries.push_back(std::move(entry));
  }
  if (options.dry_run) {
    for (const vault::Entry& entry : draft.entries) {
      PrintNote("would make " + DisplayName(entry.path));
    }
    return session->exit_code;
  }
  COFFER_TRY(session->store->Prepare({}));
  COFFER_ASSIGN_OR_RETURN(const vault::Vault::Committed committed,
                          session->vault->Commit(std::move(draft), /*padding=*/true));
  for (const std::string& warning : committed.warnings) PrintWarning(warning);
  if (!options.target.quiet) PrintNote("moved " + std::to_string(versions.size()));
  return session->exit_code;
}

Result<ExitCode> RunPin(const PinOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  COFFER_TRY(session->vault->CheckWritable());
  COFFER_ASSIGN_OR_RETURN(const vault::CommitInfo* const commit,
                          FindCommit(session->state(), options.commit));
  const std::string id = ShortId(commit->id);
  vault::Draft draft = NewDraft();
  draft.pins.push_back({commit->id, !options.remove});
  COFFER_TRY(session->store->Prepare({}));
  COFFER_ASSIGN_OR_RETURN(const vault::Vault::Committed committed,
                          session->vault->Commit(std::move(draft), /*padding=*/true));
  for (const std::string& warning : committed.warnings) PrintWarning(warning);
  if (!options.target.quiet) {
    PrintNote(id + (options.remove ? " is no longer pinned" : " is pinned"));
  }
  return session->exit_code;
}

}  // namespace coffer::cli
