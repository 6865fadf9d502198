// SPDX-License-Identifier: Apache-2.0
// What this machine remembers of one vault, in a directory of its own (mode 0700):
//
//   writer             which writer this is, its latest commit and the one it is about to publish
//   seen-0, seen-1     the newest commits seen and the absences noticed; the newer whole one counts
//   turn.lock          locked while a turn lasts, and while a writer is drawn
//   seen.lock          locked while what was seen is changed
//
// Lost or damaged files are never fatal: without a whole `writer` this machine becomes a new
// writer, which costs nothing but a number, and counts from 1 under it. So it does when the files
// were copied: `writer` holds the machine (/etc/machine-id), the device and inode of the directory
// and its own inode, and counts only where they are right. What was seen is kept, since it is true
// on any machine.
//
// The writer file is 8192 bytes, two slots of 4096 that are overwritten in place, so that a turn
// costs one wait for the disk and not the two of a rename. Integers are big-endian:
//
//   slot   = magic[16] generation:u64 writer[16] machine[32] device:u64 directory:u64 file:u64
//            kind:u8 last_seq:u64 last_id[32] intended_seq:u64 intended_id[32] zeros sha256[32]
//
// The whole slot of the larger generation counts. kind is 1 if the slot was to be synced before
// anything followed from it (Record, and a new writer), 0 if not (Confirm). A slot is overwritten
// only while the other one is known to be on stable storage:
//
//   - a process that found kind 0 knows that of the other slot, since Confirm follows a Record that
//     succeeded, and goes on in the slot it found;
//   - one that found kind 1 writes the same bytes to that slot again and syncs them, since the sync
//     may never have been, or have failed; then it goes on in the other slot;
//   - after Record the slot is durable; after Confirm the one before it still is.
//
// Hence a crash at any moment leaves a slot that holds the number of every commit that was
// published, or none that is whole.
//
//   seen   = magic[16] generation:u64 commits:u32 absences:u32 commit[56]* absence[68]* sha256[32]
//   commit = writer[16] seq:u64 id[32];  absence = id[32] writer[16] seq:u64 seconds:u64 nanos:u32
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coffer/os/file_system.h"
#include "coffer/os/random.h"
#include "coffer/vault/installation.h"
#include "coffer/vault/key_file.h"

namespace coffer::local {

// Where the state of a vault belongs: $XDG_STATE_HOME/coffer/<id>, else
// $HOME/.local/state/coffer/<id>; kInvalidArgument if neither variable is an absolute path.
Result<std::string> StateDirectoryOf(const vault::VaultId& vault);

class FileInstallation final : public vault::Installation {
 public:
  struct Options {
    std::string directory;  // made with its parents
    std::string machine_id_path = "/etc/machine-id";
    os::Random& random = os::SystemRandom();
  };

  // Never fails for what is in the directory, or because there can be none: then a note says that
  // this vault cannot be remembered, what is told is forgotten at the end, and no turn is to be
  // had.
  static Result<std::unique_ptr<FileInstallation>> Open(os::FileSystem& file_system,
                                                        const Options& options);
  ~FileInstallation() override;

  [[nodiscard]] const vault::WriterId& writer() const override;
  Result<std::unique_ptr<vault::Turn>> TakeTurn() override;
  [[nodiscard]] std::vector<vault::SeenCommit> Seen() const override;
  Result<std::vector<vault::FirstNoticed>> NoteAbsences(
      std::span<const vault::FirstNoticed> now) override;
  // Writes nothing if nothing is new.
  Status Remember(std::span<const vault::SeenCommit> newest) override;

  // What the user ought to know: the state was copied, was damaged, cannot be kept.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  class State;
  explicit FileInstallation(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace coffer::local
