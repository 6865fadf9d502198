// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/progress.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_session.h"
#include "coffer/local/restore.h"
#include "coffer/local/scan.h"
#include "coffer/os/file_system.h"
#include "coffer/os/output_file.h"
#include "coffer/vault/content_reader.h"

namespace coffer::cli {
namespace {

// What one NAME stands for.
struct Selection {
  std::string name;  // as it was given
  std::vector<const vault::Version*> versions;

  // The path whose place the destination takes.
  [[nodiscard]] const std::string& root() const { return versions.front()->entry.path; }
  // Whether NAME is one thing: a path of the vault, not the top.
  [[nodiscard]] bool has_root() const {
    return std::ranges::all_of(versions, [this](const vault::Version* version) {
      const std::string& path = version->entry.path;
      return path == root() || path.starts_with(root() + "/");
    });
  }
};

class Getter {
 public:
  Getter(VaultSession& session, const vault::State& state, const GetOptions& options)
      : options_(options), reader_(*session.store, state.segments()) {}

  // One file to standard output, piece by piece as each is verified.
  Result<ExitCode> ToStandardOutput(const vault::Entry& entry) {
    if (entry.kind != vault::EntryKind::kFile) {
      return InvalidArgument(Quote(entry.path) + " is not a file");
    }
    COFFER_TRY(WriteWithHoles(entry, os::StandardOutput()));
    return ExitCode::kOk;
  }

  Result<ExitCode> ToFiles(const std::vector<Selection>& selections) {
    for (const Selection& selection : selections) COFFER_TRY(Restore(selection));
    if (was_there_) PrintHint("what is there stays as it is; --overwrite replaces files and links");
    return exit_code();
  }

 private:
  [[nodiscard]] ExitCode exit_code() const {
    if (damaged_) return ExitCode::kDamaged;
    return failed_ ? ExitCode::kPartial : ExitCode::kOk;
  }

  // The data with zeros in the holes.
  Status WriteWithHoles(const vault::Entry& entry, ByteSink& sink) {
    auto hole = entry.holes.begin();
    uint64_t position = 0;
    const Bytes zeros(size_t{64} << 10);
    const auto write_hole = [&]() -> Status {
      for (uint64_t left = hole->size; left > 0;) {
        const auto size = static_cast<size_t>(std::min<uint64_t>(left, zeros.size()));
        COFFER_TRY(sink.Write(ByteSpan(zeros).first(size)));
        left -= size;
      }
      position += hole->size;
      ++hole;
      return OkStatus();
    };
    Status read = reader_.Read(entry, [&](uint64_t, ByteSpan bytes) -> Status {
      while (!bytes.empty()) {
        if (hole != entry.holes.end() && hole->offset == position) {
          COFFER_TRY(write_hole());
          continue;
        }
        size_t size = bytes.size();
        if (hole != entry.holes.end()) {
          size = static_cast<size_t>(std::min<uint64_t>(size, hole->offset - position));
        }
        COFFER_TRY(sink.Write(bytes.first(size)));
        bytes = bytes.subspan(size);
        position += size;
      }
      return OkStatus();
    });
    if (!read.ok()) return std::move(read).error();
    while (hole != entry.holes.end()) COFFER_TRY(write_hole());
    return OkStatus();
  }

  Status Provide(const vault::Entry& entry, local::DataSink& sink) {
    const Status read = reader_.Read(
        entry, [&sink](uint64_t offset, ByteSpan bytes) { return sink.WriteAt(offset, bytes); });
    if (!read.ok() && ExitCodeOf(read.error().code()) == ExitCode::kDamaged) damaged_ = true;
    if (!read.ok() && read.error().code() == ErrorCode::kNotFound) damaged_ = true;
    return read;
  }

  Status Restore(const Selection& selection) {
    const local::DataProvider provider = [this](const vault::Entry& entry, local::DataSink& sink) {
      return Provide(entry, sink);
    };
    const local::RestoreOptions restore_options{.overwrite = options_.overwrite};
    os::FileSystem& files = os::RealFileSystem();
    const std::optional<Place> place = PlaceOf(selection);
    if (place && selection.versions.size() == 1 &&
        selection.versions.front()->entry.kind != vault::EntryKind::kDirectory) {
      std::vector<local::RestoreProblem> problems;
      const std::string target =
          place->name.empty() ? place->directory : os::JoinPath(place->directory, place->name);
      const Status restored = local::RestoreFile(files, selection.versions.front()->entry, target,
                                                 restore_options, provider, problems);
      Report(problems);
      if (!restored.ok()) {
        failed_ = true;
        was_there_ = was_there_ || restored.error().code() == ErrorCode::kAlreadyExists;
        PrintError(restored.error().message());
      }
      return OkStatus();
    }
    COFFER_ASSIGN_OR_RETURN(
        const std::unique_ptr<local::Restorer> restorer,
        local::Restorer::Create(files, place ? place->directory : ".", restore_options, provider));
    const bool keeps_names = !place || !selection.has_root();
    for (const vault::Version* version : selection.versions) {
      const std::string& path = version->entry.path;
      // What is behind the root's own path.
      const std::string rest = path.substr(std::min(path.size(), selection.root().size() + 1));
      restorer->Add(version->entry, keeps_names ? path : JoinNames(place->name, rest));
    }
    restorer->Finish();
    Report(restorer->problems());
    return OkStatus();
  }

  // Where the root of a selection goes. Links on the way to the directory are followed, and none
  // below it.
  struct Place {
    std::string directory;
    std::string name;  // empty: it is the directory itself, or the file, which is to be made
  };

  // Nothing: below the current directory, under its whole name.
  std::optional<Place> PlaceOf(const Selection& selection) const {
    if (!options_.destination) return std::nullopt;
    const std::string& destination = *options_.destination;
    const Result<os::FileStat> stat = os::RealFileSystem().Stat(destination);
    const bool is_directory = stat.ok() && stat->kind == os::FileKind::kDirectory;
    if (!is_directory || !selection.has_root()) return Place{destination, ""};
    return Place{destination, std::string(os::BaseNameOf(selection.root()))};
  }

  static std::string JoinNames(const std::string& a, const std::string& b) {
    return a.empty() || b.empty() ? a + b : a + "/" + b;
  }

  void Report(const std::vector<local::RestoreProblem>& problems) {
    for (const local::RestoreProblem& problem : problems) {
      was_there_ = was_there_ || problem.was_there;
      const std::string line = Quote(problem.path) + ": " + problem.message;
      if (problem.kind == local::RestoreProblem::Kind::kFailure) {
        failed_ = true;
        PrintError(line);
      } else {
        PrintWarning(line);
      }
    }
  }

  const GetOptions& options_;
  vault::ContentReader reader_;
  std::atomic<bool> damaged_ = false;
  bool failed_ = false;
  bool was_there_ = false;
};

// Nothing is written before every NAME was found.
Result<std::vector<Selection>> SelectAll(const vault::State& state, const GetOptions& options) {
  std::vector<Selection> selections;
  for (const std::string& name : options.names) {
    COFFER_ASSIGN_OR_RETURN(auto versions, Select(state, name));
    selections.push_back({name, std::move(versions)});
  }
  return selections;
}

}  // namespace

Result<ExitCode> RunGet(const GetOptions& options) {
  const bool to_stdout = options.destination == "-";
  if (to_stdout && options.names.size() != 1) {
    return UsageError("-o - is for one file");
  }
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<VaultSession> session, OpenVault(options.target));
  std::optional<vault::State> earlier;
  if (options.at) {
    COFFER_ASSIGN_OR_RETURN(earlier, StateAtText(*session->vault, *options.at));
  }
  const vault::State& state = earlier ? *earlier : session->state();
  COFFER_ASSIGN_OR_RETURN(const std::vector<Selection> selections, SelectAll(state, options));
  const bool is_file = options.destination && selections.size() > 1;
  if (is_file) {
    const Result<os::FileStat> stat = os::RealFileSystem().Stat(*options.destination);
    if (!stat.ok() || stat->kind != os::FileKind::kDirectory) {
      return UsageError("several NAMEs go into a directory that is there, and " +
                        Quote(*options.destination) + " is not one");
    }
  }
  Getter getter(*session, state, options);
  if (to_stdout) {
    const std::vector<const vault::Version*>& versions = selections.front().versions;
    if (versions.size() != 1) {
      return InvalidArgument("-o - is for one file");
    }
    COFFER_ASSIGN_OR_RETURN(const ExitCode done, getter.ToStandardOutput(versions.front()->entry));
    return Graver(session->exit_code, done);
  }
  COFFER_ASSIGN_OR_RETURN(const ExitCode done, getter.ToFiles(selections));
  return Graver(session->exit_code, done);
}

}  // namespace coffer::cli
