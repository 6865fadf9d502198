// SPDX-License-Identifier: Apache-2.0
// The file that an output is written to until it gets its name.
//
// Where there is O_TMPFILE it has no name; elsewhere, and for the moment before it replaces
// another, it is .coffer-tmp-<16 hex> in the directory of the output. A process holds a lock on its
// temporaries, and the handlers of signals.h know them, so that one without a lock is left over
// from a process that was killed, or from a crash.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "coffer/base/result.h"
#include "coffer/os/file_system.h"
#include "coffer/os/signals.h"

namespace coffer::os {

// Removes the temporaries of dead processes from a directory. Looks at no more than the first 2048
// entries, so that the cost of an output does not grow with its directory. Best effort.
void SweepTemporaries(FileSystem& file_system, const std::string& directory);

class TemporaryFile {
 public:
  // In `directory`; without a name with `mode` less the umask, with one with mode 0600.
  static Result<std::unique_ptr<TemporaryFile>> Create(FileSystem& file_system,
                                                       const std::string& directory, uint32_t mode);
  // Removes the file, unless it was named.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] File& file() { return *file_; }
  [[nodiscard]] bool has_name() const { return !name_.empty(); }

  // Makes `path`, in the same directory, a name of the file: kAlreadyExists if it is taken, or in
  // place of what is there.
  Status NameNew(const std::string& path);
  Status Replace(const std::string& path);

 private:
  TemporaryFile(FileSystem& file_system, std::string directory)
      : file_system_(file_system), directory_(std::move(directory)) {}

  Status CreateNamed();
  Status ClaimAndReplace(const std::string& path);
  Status LinkTemporaryName(SignalGuard& guard);
  [[nodiscard]] std::string NewName() const;

  FileSystem& file_system_;
  std::string directory_;
  std::unique_ptr<File> file_;
  std::string name_;  // the path of the temporary name, while there is one
  size_t slot_ = SignalGuard::kNoSlot;
};

}  // namespace coffer::os
