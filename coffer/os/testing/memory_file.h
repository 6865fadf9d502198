// SPDX-License-Identifier: Apache-2.0
// An open file of a MemoryFileSystem.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "coffer/os/testing/memory_tree.h"

namespace coffer::os::internal {

// A tree and the lock for it and its nodes.
struct LockedTree {
  std::mutex mutex;
  std::shared_ptr<MemoryTree> tree;
};

FileStat StatOf(const Node& node);

class MemoryFile final : public File {
 public:
  MemoryFile(std::shared_ptr<LockedTree> tree, NodePointer node, Access access, std::string path)
      : tree_(std::move(tree)), node_(std::move(node)), access_(access), path_(std::move(path)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() override { Unlock(); }

  Result<size_t> Read(MutableByteSpan out) override;
  Status Write(ByteSpan bytes) override;
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override;
  Status WriteAt(uint64_t offset, ByteSpan bytes) override;
  Result<uint64_t> Position() override { return position_; }
  Result<FileStat> Stat() override;
  Result<std::optional<uint64_t>> NextData(uint64_t offset) override;
  Result<std::optional<uint64_t>> NextHole(uint64_t offset) override;
  Status Truncate(uint64_t size) override;
  Status Allocate(uint64_t offset, uint64_t size) override;
  Status Sync() override;
  Status Flush() override { return OkStatus(); }
  void StartWriteback(uint64_t, uint64_t) override {}
  void AdviseSequential() override {}
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

  [[nodiscard]] const NodePointer& node() const { return node_; }

 private:
  // Changes the node under the lock, as one operation.
  template <class Function>
  Status Change(const char* verb, Function function);
  void Unlock();

  std::shared_ptr<LockedTree> tree_;
  NodePointer node_;
  Access access_;
  std::string path_;
  uint64_t position_ = 0;
};

}  // namespace coffer::os::internal
