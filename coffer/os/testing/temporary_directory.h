// SPDX-License-Identifier: Apache-2.0
// A directory of the real file system that a test has for itself, and short ways to look into
// files.
#pragma once

#include <string>
#include <vector>

#include "coffer/os/file_system.h"

namespace coffer::os {

// Made under $TMPDIR or /tmp, and removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return JoinPath(path_, name);
  }

 private:
  std::string path_;
};

// These end the process when they fail: what they do is the scenery of a test, not its subject.
void WriteTestFile(FileSystem& file_system, const std::string& path, std::string_view content);
std::string ReadTestFile(FileSystem& file_system, const std::string& path);
bool TestFileExists(FileSystem& file_system, const std::string& path);
// Sorted.
std::vector<std::string> ListTestDirectory(FileSystem& file_system, const std::string& path);

}  // namespace coffer::os
