// SPDX-License-Identifier: Apache-2.0
// A File of the system.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coffer/os/file_system.h"
#include "coffer/os/internal/descriptor.h"

struct stat;
struct timespec;

namespace coffer::os::internal {

class RealFile final : public File {
 public:
  RealFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Result<size_t> Read(MutableByteSpan out) override;
  Status Write(ByteSpan bytes) override;
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override;
  Status WriteAt(uint64_t offset, ByteSpan bytes) override;
  Result<uint64_t> Position() override;
  Result<FileStat> Stat() override;
  Result<std::optional<uint64_t>> NextData(uint64_t offset) override;
  Result<std::optional<uint64_t>> NextHole(uint64_t offset) override;
  Status Truncate(uint64_t size) override;
  Status Allocate(uint64_t offset, uint64_t size) override;
  Status Sync() override;
  Status Flush() override;
  void StartWriteback(uint64_t offset, uint64_t size) override;
  void AdviseSequential() override;
  Status SetMode(uint32_t mode) override;
  Status SetOwner(std::optional<uint32_t> user, std::optional<uint32_t> group) override;
  Status SetTimes(FileTime access_time, FileTime modify_time) override;
  Result<std::vector<std::string>> ListAttributes() override;
  Result<Bytes> GetAttribute(const std::string& name) override;
  Status SetAttribute(const std::string& name, ByteSpan value) override;
  Result<bool> TryLock() override;
  Status Lock() override;
  Status Close() override;
  [[nodiscard]] const std::string& path() const override { return path_; }

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

 private:
  [[nodiscard]] Status Check(const char* verb, int result) const;
  Result<std::optional<uint64_t>> Seek(uint64_t offset, int whence);

  Descriptor descriptor_;
  std::string path_;
};

FileStat ToFileStat(const struct stat& from);
timespec ToTimespec(FileTime time);

}  // namespace coffer::os::internal
