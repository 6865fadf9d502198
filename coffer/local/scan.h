// SPDX-License-Identifier: Apache-2.0
// From trees of files to entries of a vault. What cannot be read is reported and the rest goes on.
//
// Below a directory that was named no symbolic link is followed, whoever plants one and when.
// FIFOs, sockets and devices are never opened. Depth and length of paths are bounded by
// vault::kMaxPathSize alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/local/exclude.h"
#include "coffer/os/file_system.h"
#include "coffer/os/users.h"
#include "coffer/vault/entry.h"

namespace coffer::local {

// A name in a vault for a path as it was typed: without "/" and "./" in front, without doubled
// slashes and "/./", without slashes at the end. Empty for "." and "/". kInvalidArgument for a path
// with "..", which says nothing about where it leads, with NUL, or that is too long.
Result<std::string> NormalizeName(const std::string& path);

struct ScanSource {
  std::string path;
  // As NormalizeName gives it. Empty for a directory whose content goes to the top of the vault,
  // without an entry for itself.
  std::string name;
};

struct ScanOptions {
  ExcludeList excludes;          // for what lies below the sources, by their names in the vault
  bool one_file_system = false;  // directories on others are recorded, and not entered
  std::optional<os::FileStat> vault;  // left out, with a note
};

// An open regular file: its data outside the holes, in order, and no more than there was when it
// was opened.
class ScannedFile final : public ByteSource {
 public:
  ScannedFile(std::unique_ptr<os::File> file, const os::FileStat& stat,
              std::vector<vault::Hole> holes);

  Result<size_t> Read(MutableByteSpan out) override;

  // To be called after the last Read, which returned 0. Where the file is not what it was when it
  // was opened (size, times), `entry` gets vault::kChangedWhileRead, and the size that was read.
  // Returns whether that is so.
  Result<bool> FinishReading(vault::Entry& entry);

 private:
  std::unique_ptr<os::File> file_;
  os::FileStat stat_;
  std::vector<vault::Hole> holes_;
  size_t next_hole_ = 0;
  uint64_t position_ = 0;
};

class ScannedItem {
 public:
  virtual ~ScannedItem() = default;

  // As the name shows it: without the data, and for regular files without attributes and holes.
  // May be moved from.
  [[nodiscard]] vault::Entry& entry() { return entry_; }
  // For messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  // Regular files only: opens the file and completes entry(). An error is a problem of this item.
  virtual Result<std::unique_ptr<ScannedFile>> Open() = 0;

 protected:
  ScannedItem(vault::Entry entry, std::string path)
      : entry_(std::move(entry)), path_(std::move(path)) {}

 private:
  vault::Entry entry_;
  std::string path_;
};

class ScanVisitor {
 public:
  virtual ~ScanVisitor() = default;

  // Each directory comes before what is in it, and the names of one directory in the order of their
  // bytes. An error ends the scan, and is its result.
  virtual Status OnEntry(ScannedItem& item) = 0;
  // Something that is not in the vault now, and ought to be.
  virtual void OnProblem(const std::string& path, const Error& error) = 0;
  // Something to know that loses nothing of a file's data.
  virtual void OnNote(const std::string& path, const std::string& what) = 0;
};

// Sources within others under the name they have there anyway are passed over; other overlaps of
// names are kInvalidArgument, before anything is visited.
Status Scan(os::FileSystem& file_system, os::Users& users, const std::vector<ScanSource>& sources,
            const ScanOptions& options, ScanVisitor& visitor);

// Whether a file need not be read again: it is what it was when `stored` was made, as far as size,
// times and inode tell, and was not touched at or after the start of that scan, when a change may
// have left no mark.
bool IsUnchanged(const vault::Entry& scanned, const vault::Entry& stored,
                 vault::FileTime stored_scan_started);

}  // namespace coffer::local
