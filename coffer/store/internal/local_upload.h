// SPDX-License-Identifier: Apache-2.0
// An object of a local store before it has its key: a file upload-<16 hex> in the store's tmp/,
// mode 0600, locked while its process lives. The handlers of coffer/os/signals.h know it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "coffer/os/file_system.h"
#include "coffer/os/signals.h"
#include "coffer/store/store.h"

namespace coffer::store::internal {

class LocalUpload final : public Upload {
 public:
  // `directory` is the store's tmp/, `root` what messages name.
  static Result<std::unique_ptr<LocalUpload>> Create(os::FileSystem& file_system,
                                                     const std::string& root,
                                                     const std::string& directory,
                                                     std::optional<uint64_t> expected_size);
  // Removes the file, unless it was moved to its place.
  ~LocalUpload() override;
  LocalUpload(const LocalUpload&) = delete;
  LocalUpload& operator=(const LocalUpload&) = delete;

  Status Write(ByteSpan bytes) override;
  Status Finish(std::string_view key) override;
  [[nodiscard]] uint64_t size() const override { return size_; }
  [[nodiscard]] const std::string& key() const override { return key_; }

  // Gives the file the mode of an object and puts it on stable storage. After a failure it is never
  // synced again, since a second sync may succeed without what the first one lost.
  Status Seal(uint32_t mode);
  // Gives it the name `path`, of which nobody has had anything yet: kAlreadyExists. The lock ends
  // only with the upload, so that no sweep comes in between.
  Status MoveTo(const std::string& path);

 private:
  LocalUpload(os::FileSystem& file_system, const std::string& root)
      : file_system_(file_system), root_(root) {}

  Status CreateFile(const std::string& directory);
  Status Reserve(uint64_t expected_size);
  void StartWriteback();
  [[nodiscard]] bool IsAt(const std::string& path) const;
  // Errors of the temporary are errors of the store.
  [[nodiscard]] Status Named(Status status) const;

  os::FileSystem& file_system_;
  const std::string& root_;
  std::unique_ptr<os::File> file_;
  std::string path_;  // of the temporary, while there is one
  size_t slot_ = os::SignalGuard::kNoSlot;
  std::string key_;
  uint64_t size_ = 0;
  uint64_t reserved_size_ = 0;
  uint64_t writeback_start_ = 0;
};

// Removes from a store's tmp/ the uploads that no living process holds and that nobody has written
// to since `newest` (nothing: whenever that was). Goes on after a failure and returns the first.
Status SweepUploads(os::FileSystem& file_system, const std::string& directory,
                    std::optional<os::FileTime> newest);

}  // namespace coffer::store::internal
