// SPDX-License-Identifier: Apache-2.0
// From entries of a vault to files below a directory.
//
// Never outside it: parents are made or looked at one by one, and no symbolic link below the
// destination is followed, be it from an earlier entry, from before, or planted meanwhile. The
// destination itself may be reached through links.
//
// A file has its name only when all of it and its metadata are there and on stable storage: data
// goes to a file without a name (or .coffer-tmp-<16 hex>, which a later run sweeps), batches of up
// to 256 are synced at once while the next is written, then named. What exists is never replaced
// unless asked for. Directories get their modes and times last, the deepest first, and each is
// synced once: n files in d directories cost n + d waits for the disk.
//
// Items that fail are collected, and the rest goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coffer/base/result.h"
#include "coffer/os/file_system.h"
#include "coffer/os/temporary_file.h"
#include "coffer/os/users.h"
#include "coffer/vault/entry.h"

namespace coffer::local {

// Takes the data of one file, by offsets into its bytes outside the holes. Several threads may
// write at the same time.
class DataSink {
 public:
  virtual ~DataSink() = default;
  virtual Status WriteAt(uint64_t data_offset, ByteSpan bytes) = 0;
};

// Writes all of a file's data to the sink, and fails if it is not what the entry says.
using DataProvider = std::function<Status(const vault::Entry& entry, DataSink& sink)>;

struct RestoreOptions {
  // Files and links that exist are replaced; directories that exist get the metadata of the entry.
  // A directory is never replaced by something else, nor something else by a directory.
  bool overwrite = false;
  // By number. Without it set-user-id and set-group-id bits are dropped unless the owner is right
  // anyway.
  bool set_owner = os::MaySetOwners();
};

struct RestoreProblem {
  enum class Kind : uint8_t {
    kFailure,  // the item is not there, or not as it should be
    kNote,     // it is, but for something that cannot be reproduced here: an owner, an attribute
  };
  Kind kind = Kind::kFailure;
  std::string path;  // full
  std::string message;
  bool was_there = false;  // the name is taken, and not to be overwritten
};

class Restorer {
 public:
  // The destination is made, with its parents.
  static Result<std::unique_ptr<Restorer>> Create(os::FileSystem& file_system,
                                                  const std::string& destination,
                                                  const RestoreOptions& options,
                                                  DataProvider provider);
  // What was not finished has no name.
  ~Restorer();
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  // Restores an entry at `name`, a path below the destination; "" is the destination itself, for a
  // directory. In any order, though directories are cheaper before their content.
  void Add(const vault::Entry& entry, const std::string& name);

  // Everything that was added is on stable storage, but for what problems() says. Called once.
  void Finish();

  [[nodiscard]] const std::vector<RestoreProblem>& problems() const { return problems_; }
  [[nodiscard]] bool failed() const { return failed_; }  // whether a problem is a failure

 private:
  struct Directory;
  struct PendingFile;
  struct Batch;
  struct LinkTarget;

  Restorer(std::unique_ptr<os::FileSystem> files, const RestoreOptions& options,
           DataProvider provider);

  void Fail(const std::string& name, const Error& error);
  void Note(const std::string& name, const std::string& message);

  Result<size_t> EnsureDirectory(std::string_view name);
  Result<size_t> EnsureChild(size_t parent, std::string_view component, std::string_view path);
  [[nodiscard]] std::string NameOf(size_t directory) const;
  Status AddDirectory(const vault::Entry& entry, const std::string& name);
  Status AddSymlink(const vault::Entry& entry, const std::string& name);
  Status AddFifo(const vault::Entry& entry, const std::string& name);
  Status AddFile(const vault::Entry& entry, const std::string& name);
  bool Defer(const vault::Entry& entry, const std::string& name);
  Status WriteFile(const vault::Entry& entry, const std::string& name);
  template <class Make>
  Status MakeAt(const std::string& name, Make make);

  void SetMetadata(const vault::Entry& entry, const std::string& name, os::File& file);
  void SetAttributes(const vault::Entry& entry, const std::string& name, os::File& file);

  void SyncPending();
  void NameSynced();
  void FlushFiles();
  void NameFile(PendingFile& pending);
  void LinkDeferred();
  bool LinkTo(const LinkTarget& target, const vault::Entry& entry, const std::string& name);
  std::unique_ptr<os::File> FinishDirectory(size_t index);
  void FinishDirectories();

  std::unique_ptr<os::FileSystem> files_;
  RestoreOptions options_;
  DataProvider provider_;
  std::vector<RestoreProblem> problems_;
  bool failed_ = false;

  std::vector<Directory> directories_;
  std::map<std::pair<size_t, std::string>, size_t> children_;
  std::string last_name_;  // of the directory that was asked for last
  size_t last_directory_ = 0;

  std::vector<PendingFile> pending_;
  std::unique_ptr<Batch> syncing_;
  std::unordered_map<uint64_t, LinkTarget> links_;
  std::vector<std::pair<vault::Entry, std::string>> deferred_;
};

// One file at `path`, as the last component of its name: with `overwrite` in place of what is
// there, else kAlreadyExists. Not for devices and pipes, which take data as it comes.
Status RestoreFile(os::FileSystem& file_system, const vault::Entry& entry, const std::string& path,
                   const RestoreOptions& options, DataProvider provider,
                   std::vector<RestoreProblem>& problems);

}  // namespace coffer::local
