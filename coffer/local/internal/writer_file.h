// SPDX-License-Identifier: Apache-2.0
// The file that says which writer this machine is (grammar and protocol: installation.h).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/os/file_system.h"
#include "coffer/vault/installation.h"

namespace coffer::local::internal {

inline constexpr size_t kSlotSize = 4096;

// Where a writer file is: another machine, directory or file is a copy.
struct Place {
  std::array<uint8_t, 32> machine{};
  uint64_t device = 0;
  uint64_t directory = 0;
  uint64_t file = 0;

  bool operator==(const Place&) const = default;
};

struct Slot {
  uint64_t generation = 0;
  vault::WriterId writer{};
  Place place;
  bool synced = false;  // kind
  // Sequence 0 is none. The writer of both is `writer`.
  uint64_t last_seq = 0;
  vault::Id last_id{};
  uint64_t intended_seq = 0;
  vault::Id intended_id{};
};

Result<Bytes> EncodeSlot(const Slot& slot);
// Nothing if the bytes are not a whole slot.
Result<std::optional<Slot>> DecodeSlot(ByteSpan bytes);

// An open writer file.
class WriterFile {
 public:
  // kNotFound if there is none, kDamaged if no slot is whole.
  static Result<std::unique_ptr<WriterFile>> Open(os::FileSystem& file_system,
                                                  const std::string& path, os::Access access);
  // Puts the file of a writer that has made no commit in the place of what is there. `place.file`
  // is filled in. Nothing is synced: what a crash takes away is a writer that did nothing.
  static Status Create(os::FileSystem& file_system, const std::string& directory,
                       const std::string& name, Slot first);

  [[nodiscard]] const Slot& current() const { return current_; }
  [[nodiscard]] uint64_t inode() const { return inode_; }

  // Makes `next` the current slot; its generation is filled in. With `synced` it is on stable
  // storage on success. After a failure the file takes nothing more.
  Status Advance(Slot next);
  void GiveUp() { failed_ = true; }

 private:
  explicit WriterFile(std::unique_ptr<os::File> file) : file_(std::move(file)) {}
  Status Load();
  Status Settle();
  Status WriteSlot(size_t index, const Slot& slot);

  std::unique_ptr<os::File> file_;
  uint64_t inode_ = 0;
  Slot current_;
  size_t current_index_ = 0;
  // The slot that is known to be on stable storage; neither, if that of a writer before its first
  // commit.
  std::optional<size_t> durable_index_;
  bool failed_ = false;
};

}  // namespace coffer::local::internal
