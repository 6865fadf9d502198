// SPDX-License-Identifier: Apache-2.0
// The input of a command: a path, or standard input; and whole small inputs at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/os/file_system.h"

namespace coffer::os {

class Input final : public ByteSource {
 public:
  Input(std::unique_ptr<File> file, const FileStat& stat, std::optional<uint64_t> size);

  Result<size_t> Read(MutableByteSpan out) override { return file_->Read(out); }

  // How many bytes there are to read. Known for regular files that are not empty (files of the
  // kernel say 0 and are not); a hint, since a file may grow or shrink while it is read.
  [[nodiscard]] std::optional<uint64_t> size() const { return size_; }
  // Of the open file, for SameFile().
  [[nodiscard]] const FileStat& stat() const { return stat_; }
  [[nodiscard]] File& file() { return *file_; }

 private:
  std::unique_ptr<File> file_;
  FileStat stat_;
  std::optional<uint64_t> size_;
};

// Opens `path` for one reading from front to back; "-" and "" are standard input. A directory is
// refused (kInvalidArgument).
Result<std::unique_ptr<Input>> OpenInput(const std::string& path,
                                         FileSystem& file_system = RealFileSystem());

// Reads all of a source, a file or an inherited descriptor; kTooLarge beyond `limit` bytes.
// `name` is for messages.
Result<SecretBuffer> ReadAll(ByteSource& source, size_t limit, const std::string& name);
Result<SecretBuffer> ReadSecretFile(const std::string& path, size_t limit,
                                    FileSystem& file_system = RealFileSystem());
Result<SecretBuffer> ReadSecretDescriptor(int descriptor, size_t limit);

}  // namespace coffer::os
