// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_session.h"
#include "coffer/local/scan.h"
#include "coffer/os/clock.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

// Gathers lines and writes them by the block: a million names are not a million system calls.
class Output {
 public:
  Status Write(std::string_view text) {
    text_ += text;
    return text_.size() < kBlockSize ? OkStatus() : Flush();
  }
  Status Flush() {
    const std::string text = std::exchange(text_, {});
    return text.empty() ? OkStatus() : os::StandardOutput().Write(AsBytes(text));
  }

 private:
  static constexpr size_t kBlockSize = size_t{64} << 10;
  std::string text_;
};

nlohmann::ordered_json JsonOf(const vault::State& state, const vault::Version& version,
                              bool is_current, size_t version_count) {
  const vault::Entry& entry = version.entry;
  const vault::CommitInfo& commit = state.CommitOf(version);
  nlohmann::ordered_json json;
  const auto put = [&json](std::string_view base, std::string_view raw) {
    const JsonName name = JsonNameOf(base, raw);
    json[name.key] = name.value;
  };
  put("name", entry.path);
  json["kind"] = KindWord(entry.kind);
  json["mode"] = entry.mode;
  json["uid"] = entry.user;
  json["gid"] = entry.group;
  if (!entry.user_name.empty()) put("user", entry.user_name);
  if (!entry.group_name.empty()) put("group", entry.group_name);
  json["mtime"] = {entry.modified.seconds, entry.modified.nanoseconds};
  if (entry.kind == vault::EntryKind::kFile) {
    json["size"] = entry.size;
    json["hash"] = hex::Encode(entry.content_hash);
  }
  if (entry.kind == vault::EntryKind::kSymlink) put("target", entry.link_target);
  json["writer"] = hex::Encode(commit.writer);
  json["seq"] = commit.seq;
  json["commit"] = hex::Encode(commit.id);
  json["current"] = is_current;
  json["versions"] = version_count;
  return json;
}

class Lister {
 public:
  Lister(const vault::State& state, const ListOptions& options)
      : state_(state), options_(options) {}

  Status Print(std::span<const vault::Version> versions) {
    for (size_t i = 0; i < versions.size();) {
      size_t end = i + 1;
      while (end < versions.size() && versions[end].entry.path == versions[i].entry.path) ++end;
      COFFER_TRY(PrintPath(versions.subspan(i, end - i)));
      i = end;
    }
    return output_.Flush();
  }

 private:
  // All live versions of one path, the current one first.
  Status PrintPath(std::span<const vault::Version> versions) {
    const vault::Version& current = versions.front();
    if (options_.null_separated) {
      COFFER_TRY(output_.Write(current.entry.path));
      return output_.Write(std::string_view("\0", 1));
    }
    for (const vault::Version& version : versions) {
      const bool is_current = &version == &current;
      COFFER_TRY(output_.Write(Line(version, is_current, versions.size()) + "\n"));
    }
    return OkStatus();
  }

  std::string Line(const vault::Version& version, bool is_current, size_t count) {
    if (options_.json) return JsonOf(state_, version, is_current, count).dump();
    std::string name = DisplayName(is_current ? version.entry.path : VersionName(state_, version));
    if (count > 1 && is_current) name += " (" + std::to_string(count) + " versions)";
    return options_.with_details ? LongLine(version.entry, name) : name;
  }

  const vault::State& state_;
  const ListOptions& options_;
  Output output_;
};

// Commits that are there and that no writer of this vault made.
Result<ExitCode> ListUnverified(const ListOptions& options, const VaultSession& session) {
  Output output;
  for (const vault::Finding& finding : session.vault->findings()) {
    if (finding.what != vault::FindingClass::kForged) continue;
    if (options.json) {
      nlohmann::ordered_json json;
      json["object"] = finding.key;
      json["reason"] = finding.message;
      COFFER_TRY(output.Write(json.dump() + "\n"));
    } else {
      COFFER_TRY(output.Write(DisplayName(finding.key) + "  " + finding.message + "\n"));
    }
  }
  COFFER_TRY(output.Flush());
  return session.exit_code;
}

}  // namespace

Result<ExitCode> RunList(const ListOptions& options) {
  if (options.json && options.null_separated) {
    return UsageError("give only one of --json and -0");
  }
  COFFER_ASSIGN_OR_RETURN(const std::string prefix, local::NormalizeName(options.prefix));
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  if (options.unverified) return ListUnverified(options, *session);
  std::optional<vault::State> earlier;
  if (options.at) {
    COFFER_ASSIGN_OR_RETURN(earlier, StateAtText(*session->vault, *options.at));
  }
  const vault::State& state = earlier ? *earlier : session->state();
  const auto versions = state.Below(prefix);
  if (versions.empty() && !prefix.empty()) {
    return Error(ErrorCode::kNotFound, "the vault has no " + Quote(options.prefix));
  }
  COFFER_TRY(Lister(state, options).Print(versions));
  return session->exit_code;
}

}  // namespace coffer::cli
