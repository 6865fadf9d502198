// SPDX-License-Identifier: Apache-2.0
// Paths as the directory and name of an *at call: those longer than the kernel takes in one call,
// and those that must not lead out of a directory.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "coffer/os/internal/descriptor.h"

namespace coffer::os::internal {

// A directory that paths start at and stay beneath (FileSystem::Beneath).
class BeneathRoot {
 public:
  BeneathRoot(Descriptor directory, std::string path)
      : root_(std::make_shared<Descriptor>(std::move(directory))), path_(std::move(path)) {}

  // Opens a directory below the root, "" being the root itself, without following any link.
  // Returns errno, or 0.
  int Open(std::string_view directory, std::shared_ptr<Descriptor>& opened);
  // To be called before names of directories change hands.
  void Forget();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::shared_ptr<Descriptor> root_;
  std::string path_;

  // The directory that was opened last: mostly the next one is the same, or lies in it.
  std::mutex mutex_;
  std::string last_path_;
  std::shared_ptr<Descriptor> last_;
};

// Opens `path`, relative and without "..", from `from` on without following any link. Returns
// errno, or 0. The second one serves kernels before 5.6, which lack openat2(2).
int WalkWithoutLinks(int from, std::string_view path, Descriptor& opened);
int WalkByComponents(int from, std::string_view path, Descriptor& opened);

enum class LastComponent : uint8_t {
  kIsName,       // of whatever it is, to be looked at or made
  kIsDirectory,  // that exists: beneath a root it is walked as well, and the name is "."
};

class LongPath {
 public:
  // `root` may be null: then a path starts where the system says, and beyond PATH_MAX its front is
  // walked in pieces.
  LongPath(BeneathRoot* root, const std::string& path, LastComponent last);

  // errno of why there is no such path, or 0: EINVAL for a NUL within it, or what the walk met.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int directory() const;
  [[nodiscard]] const char* name() const { return name_; }

 private:
  void Walk(const std::string& path);
  void WalkBeneath(BeneathRoot& root, const std::string& path, LastComponent last);

  std::shared_ptr<Descriptor> directory_;
  const char* name_;  // within the path, or storage_
  std::string storage_;
  int error_ = 0;
};

}  // namespace coffer::os::internal
