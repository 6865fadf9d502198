// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/temporary_directory.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "coffer/base/check.h"

namespace coffer::os {

TemporaryDirectory::TemporaryDirectory() {
  const char* base = getenv("TMPDIR");
  path_ = JoinPath(base != nullptr ? base : "/tmp", "coffer-test-XXXXXX");
  COFFER_CHECK(mkdtemp(path_.data()) != nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteTestFile(FileSystem& file_system, const std::string& path, std::string_view content) {
  OpenOptions options;
  options.access = Access::kWrite;
  options.creation = Creation::kMayExist;
  options.truncate = true;
  auto file = file_system.Open(path, options);
  COFFER_CHECK(file.ok());
  COFFER_CHECK((*file)->Write(AsBytes(content)).ok());
  COFFER_CHECK((*file)->Close().ok());
}

std::string ReadTestFile(FileSystem& file_system, const std::string& path) {
  auto file = file_system.Open(path, {});
  COFFER_CHECK(file.ok());
  std::string content;
  for (;;) {
    uint8_t buffer[4096];
    const auto count = (*file)->Read(buffer);
    COFFER_CHECK(count.ok());
    if (*count == 0) return content;
    content += AsText(ByteSpan(buffer, *count));
  }
}

bool TestFileExists(FileSystem& file_system, const std::string& path) {
  return file_system.StatNoFollow(path).ok();
}

std::vector<std::string> ListTestDirectory(FileSystem& file_system, const std::string& path) {
  auto entries = file_system.ReadDirectory(path, FileSystem::kNoLimit);
  COFFER_CHECK(entries.ok());
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : *entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace coffer::os
