// SPDX-License-Identifier: Apache-2.0
// A store in a directory of a file system.
//
//   ROOT/segments/ab/abcd   the object "segments/ab/abcd": a file, mode 0444 less the umask
//   ROOT/tmp/upload-<hex>   an object before it is published, locked while its process lives
//
// An object is on stable storage before it gets its name, and its name is before Publish succeeds:
// a crash leaves it whole or not there. Publishing n objects in d directories waits for the disk
// n + d times, several waits at once.
//
// The umask is its user's word on who may read new files, for objects as for anything else; nobody
// needs to write them ever again, and a mode that says so stops an accident. Directories have mode
// 0777 less the umask.
//
// ROOT may be a symbolic link. Below it none is followed at an object's own name, where anything
// but a regular file is an error that says what is there.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/store/store.h"

namespace coffer::store::internal {
class LocalUpload;
}

namespace coffer::store {

class LocalStore final : public Store {
 public:
  // Nothing is touched before the first call. `clock` is what Sweep compares ages with.
  LocalStore(os::FileSystem& file_system, std::string root, os::Clock& clock = os::SystemClock());

  Status Prepare(std::span<const std::string> prefixes) override;
  Result<std::unique_ptr<Upload>> Begin(std::optional<uint64_t> expected_size) override;
  Status Publish(std::vector<std::unique_ptr<Upload>> uploads) override;
  Status Settle(std::span<const std::string> keys) override;
  Result<std::unique_ptr<StoredObject>> Open(std::string_view key) override;
  Result<ObjectInfo> Stat(std::string_view key) override;
  Result<std::vector<ObjectInfo>> List(std::string_view prefix) override;
  Status RemoveAll(std::span<const std::string> keys) override;
  Status Sweep(std::chrono::seconds age) override;
  [[nodiscard]] std::vector<std::string> Warnings() const override;

 private:
  using Directories = std::set<std::string>;

  [[nodiscard]] std::string PathOf(std::string_view key) const;
  [[nodiscard]] std::string TemporaryDirectory() const;

  Status PrepareRoot();
  Status EnsureDirectory(const std::string& path);
  Status MoveToPlace(internal::LocalUpload& upload, Directories& changed);
  Status MakeDirectoryAnew(const std::string& path, Directories& changed);
  Status SyncDirectories(const Directories& directories);
  Status SyncOne(const std::string& path);
  Status CheckTrust() const;
  void Warn(std::string sentence);

  // The next level of List; what is found goes to `found`.
  Status ListBelow(const std::string& prefix, std::vector<ObjectInfo>& found);
  Status ListEntry(const std::string& key, std::vector<ObjectInfo>& found);
  Status RemoveOne(const std::string& path);

  os::FileSystem& file_system_;
  const std::string root_;
  os::Clock& clock_;

  // Held by whatever makes names durable, for as long as it takes.
  std::mutex turn_;
  std::atomic<bool> in_doubt_ = false;  // a name could not be made durable

  mutable std::mutex warnings_mutex_;
  std::set<std::string> warnings_;
};

}  // namespace coffer::store
