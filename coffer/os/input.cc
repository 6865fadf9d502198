// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/input.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"

namespace coffer::os {
namespace {

constexpr size_t kReadStep = 4096;

Result<std::unique_ptr<Input>> InputOf(std::unique_ptr<File> file, const std::string& name) {
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file->Stat());
  if (stat.kind == FileKind::kDirectory) {
    Error error(ErrorCode::kInvalidArgument, "cannot read " + name + ": it is a directory");
    error.set_system_errno(EISDIR);
    return error;
  }
  std::optional<uint64_t> size;
  if (stat.kind == FileKind::kRegular && stat.size > 0) {
    // Standard input may be in the middle of a file.
    const Result<uint64_t> position = file->Position();
    if (position.ok()) size = stat.size - std::min(stat.size, *position);
    file->AdviseSequential();
  }
  return std::make_unique<Input>(std::move(file), stat, size);
}

}  // namespace

Input::Input(std::unique_ptr<File> file, const FileStat& stat, std::optional<uint64_t> size)
    : file_(std::move(file)), stat_(stat), size_(size) {}

Result<std::unique_ptr<Input>> OpenInput(const std::string& path, FileSystem& file_system) {
  if (path.empty() || path == "-") {
    Result<std::unique_ptr<File>> file = file_system.OpenDescriptor(STDIN_FILENO);
    if (!file.ok()) {
      return SystemError("cannot read standard input", file.error().system_errno());
    }
    return InputOf(std::move(file).value(), "standard input");
  }
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<File> file, file_system.Open(path, OpenOptions{}));
  return InputOf(std::move(file), Quote(path));
}

Result<SecretBuffer> ReadAll(ByteSource& source, size_t limit, const std::string& name) {
  SecretBuffer content;
  std::array<uint8_t, kReadStep> buffer;
  Result<size_t> count = size_t{0};
  do {
    // One byte beyond the limit tells that there is more.
    const size_t room = limit - content.size();
    const size_t wanted = room < buffer.size() ? room + 1 : buffer.size();
    count = source.Read(MutableByteSpan(buffer).first(wanted));
    if (!count.ok()) break;
    if (*count > room) {
      count =
          Error(ErrorCode::kTooLarge, name + " is larger than " + std::to_string(limit) + " bytes");
      break;
    }
    content.Append(ByteSpan(buffer).first(*count));
  } while (*count > 0);
  SecureWipe(buffer);
  if (!count.ok()) return std::move(count).error();
  return content;
}

Result<SecretBuffer> ReadSecretFile(const std::string& path, size_t limit,
                                    FileSystem& file_system) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<Input> input, OpenInput(path, file_system));
  const bool is_standard = path.empty() || path == "-";
  return ReadAll(*input, limit, is_standard ? "standard input" : Quote(path));
}

Result<SecretBuffer> ReadSecretDescriptor(int descriptor, size_t limit) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<File> file,
                          RealFileSystem().OpenDescriptor(descriptor));
  return ReadAll(*file, limit, "file descriptor " + std::to_string(descriptor));
}

}  // namespace coffer::os
