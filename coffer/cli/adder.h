// SPDX-License-Identifier: Apache-2.0
// What add does with entries and their data: it looks for what the vault has, stores the rest, and
// commits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/cli/progress.h"
#include "coffer/cli/vault_options.h"
#include "coffer/cli/vault_session.h"
#include "coffer/store/store.h"
#include "coffer/vault/content_writer.h"
#include "coffer/vault/piece_catalogue.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {

// Commits at least every 4 GiB or 5 minutes, unless it is to be one commit. Little data travels in
// the commit itself. All that is passed outlives it.
class Adder {
 public:
  Adder(VaultSession& session, const AddOptions& options, Progress& progress);

  // Learns which segments are there. Comes before all other calls.
  Status Start();

  // An entry without data.
  Status Add(vault::Entry entry);

  // Whether a file that was scanned need not be read.
  bool IsUnchanged(const vault::Entry& scanned);

  // A file: its data, and then what `finish` makes of the entry. A failure of `source` or `finish`
  // is this file's alone, and says so; one of the vault ends everything.
  struct FileResult {
    std::optional<Error> problem;
  };
  using Finish = std::function<Status(vault::Entry&)>;
  Result<FileResult> AddFile(vault::Entry entry, ByteSource& source, const Finish& finish);

  // Publishes what is not published, and commits.
  Status Commit();

  struct Counts {
    uint64_t added = 0;
    uint64_t unchanged = 0;
    uint64_t problems = 0;
    uint64_t read_size = 0;
    uint64_t new_size = 0;
  };
  Counts& counts() { return counts_; }
  [[nodiscard]] const std::vector<vault::Id>& commits() const { return commits_; }

 private:
  // The first bytes of a file: all of it, if it fits into what may travel in the commit.
  struct Held {
    SecretBuffer bytes;
    bool whole = false;
  };
  // A file of the draft that does not say yet where its data is.
  struct PendingFile {
    size_t entry = 0;  // its place in the draft
    std::optional<size_t> ticket;
    SecretBuffer held;  // if there is no ticket
  };

  // Whether the segments of an entry are there, of the size that they should have: what was lost is
  // stored again.
  [[nodiscard]] bool IsStored(const vault::Entry& entry) const;
  [[nodiscard]] bool IsStored(const vault::Blob& blob) const;

  const vault::Version* Current(const std::string& path);
  // Whether a file is to be in the commit, now that its content is known.
  bool IsNew(const vault::Entry& entry);

  void StartDraft();
  Status CommitIfDue();
  // Publishes the data of pending files, and completes their entries.
  Status TakeContents();

  Status Hold(ByteSource& source, Held& held);
  Status Skip(ByteSource& source, Held& held);
  // Hands the data of files that were to travel in the commit to the segments after all.
  Status SpillHeld();
  // The ticket; nothing if the source failed, which is then in source_problem_.
  Result<std::optional<size_t>> Store(const Held& held, ByteSource* rest);

  Status EnsurePrepared();
  Status EnsureWriter();
  // Segments that an interrupted run of this machine finished: newer than its last commit.
  Status Adopt(const vault::SegmentAuthor& author);

  VaultSession& session_;
  const AddOptions& options_;
  Progress& progress_;
  Counts counts_;
  std::vector<store::ObjectInfo> listed_;  // below segments/, when this began
  std::vector<bool> is_stored_;            // by the segment's number
  bool prepared_ = false;
  vault::PieceCatalogue catalogue_;
  std::unique_ptr<vault::ContentWriter> writer_;
  std::vector<std::string> adopted_keys_;
  vault::Draft draft_;
  int64_t draft_start_ns_ = 0;
  uint64_t draft_read_size_ = 0;
  std::vector<PendingFile> pending_;
  size_t first_held_ = 0;  // all pending files before it have tickets
  size_t held_size_ = 0;
  std::optional<Error> source_problem_;
  std::vector<vault::Id> commits_;
};

}  // namespace coffer::cli
