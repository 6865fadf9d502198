// SPDX-License-Identifier: Apache-2.0
// What happened to a vault, and how it is: history, status.
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/progress.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_session.h"
#include "coffer/local/scan.h"
#include "coffer/os/clock.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

struct Line {
  vault::FileTime time;
  vault::Id commit{};
  std::string text;  // with the line end
};

nlohmann::ordered_json JsonOfCommit(const vault::CommitInfo& info) {
  nlohmann::ordered_json json;
  json["commit"] = hex::Encode(info.id);
  json["time"] = os::LocalTimeText(info.time);
  json["writer"] = hex::Encode(info.writer);
  json["seq"] = info.seq;
  return json;
}

std::string CommitPrefix(const vault::CommitInfo& info) {
  return fmt::format("{}  {}  {}:{}", ShortId(info.id), os::LocalTimeText(info.time),
                     ShortId(info.writer), info.seq);
}

std::string CommitLine(const vault::State& state, const vault::CommitInfo& info,
                       const vault::Commit& commit, bool json) {
  const auto pin = state.pins().find(info.id);
  const bool is_pinned = pin != state.pins().end() && pin->second;
  if (json) {
    nlohmann::ordered_json line = JsonOfCommit(info);
    line["entries"] = commit.entries.size();
    line["removals"] = commit.removals.size();
    line["pinned"] = is_pinned;
    if (commit.remark) line["remark"] = *commit.remark;
    return line.dump() + "\n";
  }
  std::string line =
      CommitPrefix(info) + fmt::format("  +{} -{}", commit.entries.size(), commit.removals.size());
  if (is_pinned) line += "  pinned";
  if (commit.remark) line += "  " + DisplayName(*commit.remark);
  return line + "\n";
}

// What a commit says of one path; empty if nothing.
std::string PathLine(const std::string& path, const vault::CommitInfo& info,
                     const vault::Commit& commit, bool json) {
  const auto entry = std::ranges::lower_bound(commit.entries, path, {}, &vault::Entry::path);
  const bool has_entry = entry != commit.entries.end() && entry->path == path;
  const bool is_removed =
      std::ranges::binary_search(commit.removals, path, {}, &vault::Removal::path);
  if (!has_entry && !is_removed) return {};
  if (json) {
    nlohmann::ordered_json line = JsonOfCommit(info);
    line["removed"] = is_removed;
    if (has_entry) {
      line["kind"] = KindWord(entry->kind);
      line["size"] = entry->size;
      line["mtime"] = {entry->modified.seconds, entry->modified.nanoseconds};
    }
    return line.dump() + "\n";
  }
  const std::string what = has_entry ? LongLine(*entry, DisplayName(path)) : "removed";
  return CommitPrefix(info) + "  " + what + "\n";
}

struct ClassTotal {
  uint64_t count = 0;
  uint64_t size = 0;
};

std::map<std::string, ClassTotal> Totals(const std::vector<store::ObjectInfo>& listed) {
  std::map<std::string, ClassTotal> totals;
  for (const store::ObjectInfo& info : listed) {
    if (info.kind != store::EntryKind::kObject) continue;
    ClassTotal& total = totals[info.key.substr(0, info.key.find('/'))];
    ++total.count;
    total.size += info.size;
  }
  return totals;
}

// The last few, the newest first.
std::vector<const vault::CommitInfo*> NewestCommits(const vault::State& state) {
  constexpr size_t kShown = 3;
  std::vector<const vault::CommitInfo*> commits;
  commits.reserve(state.commits().size());
  for (const vault::CommitInfo& info : state.commits()) commits.push_back(&info);
  const auto shown = static_cast<ptrdiff_t>(std::min(kShown, commits.size()));
  std::partial_sort(commits.begin(), commits.begin() + shown, commits.end(),
                    [](const vault::CommitInfo* a, const vault::CommitInfo* b) {
                      return std::tie(b->time, b->id) < std::tie(a->time, a->id);
                    });
  commits.resize(static_cast<size_t>(shown));
  return commits;
}

}  // namespace

Result<ExitCode> RunHistory(const HistoryOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::string path, local::NormalizeName(options.name));
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  const size_t said = session->vault->findings().size();
  std::vector<Line> lines;
  COFFER_TRY(
      session->vault->VisitCommits([&](const vault::CommitInfo& info, const vault::Commit& commit) {
        std::string text = path.empty() ? CommitLine(session->state(), info, commit, options.json)
                                        : PathLine(path, info, commit, options.json);
        if (!text.empty()) lines.push_back({info.time, info.id, std::move(text)});
      }));
  const auto found = std::span(session->vault->findings()).subspan(said);
  session->exit_code = Graver(session->exit_code, ReportFindings(found));
  if (lines.empty() && !path.empty()) {
    return Error(ErrorCode::kNotFound, "the vault never had " + Quote(options.name));
  }
  std::ranges::sort(lines, [](const Line& a, const Line& b) {
    return std::tie(b.time, b.commit) < std::tie(a.time, a.commit);
  });
  std::string text;
  for (const Line& line : lines) text += line.text;
  COFFER_TRY(os::StandardOutput().Write(AsBytes(text)));
  return session->exit_code;
}

Result<ExitCode> RunStatus(const StatusOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  COFFER_ASSIGN_OR_RETURN(const auto listed, session->store->List(""));
  const std::map<std::string, ClassTotal> totals = Totals(listed);
  const vault::State& state = session->state();
  uint64_t file_count = 0;
  uint64_t file_size = 0;
  for (const vault::Version& version : state.versions()) {
    if (version.entry.kind != vault::EntryKind::kFile) continue;
    ++file_count;
    file_size += version.entry.size;
  }
  const std::vector<std::string> warnings = session->store->Warnings();
  if (options.json) {
    nlohmann::ordered_json json;
    json["vault"] = hex::Encode(session->vault->id());
    json["writer"] = hex::Encode(session->installation->writer());
    json["entries"] = state.versions().size();
    json["files"] = file_count;
    json["file_size"] = file_size;
    for (const auto& [name, total] : totals) {
      json["objects"][name] = {{"count", total.count}, {"size", total.size}};
    }
    json["commits"] = state.commits().size();
    json["uncovered_commits"] = state.uncovered_count();
    json["warnings"] = warnings;
    COFFER_TRY(os::StandardOutput().Write(AsBytes(json.dump() + "\n")));
    return session->exit_code;
  }
  std::string text;
  const auto row = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{:<14}{}\n", name, value);
  };
  row("vault", DisplayName(session->path));
  row("id", hex::Encode(session->vault->id()));
  row("writer", hex::Encode(session->installation->writer()));
  row("entries", std::to_string(state.versions().size()));
  row("files", fmt::format("{}, {}", file_count, FormatSize(static_cast<double>(file_size))));
  for (const auto& [name, total] : totals) {
    row(DisplayName(name),
        fmt::format("{}, {}", total.count, FormatSize(static_cast<double>(total.size))));
  }
  for (const vault::CommitInfo* const commit : NewestCommits(state)) {
    row("commit", CommitPrefix(*commit));
  }
  for (const std::string& warning : warnings) row("warning", warning);
  COFFER_TRY(os::StandardOutput().Write(AsBytes(text)));
  return session->exit_code;
}

}  // namespace coffer::cli
