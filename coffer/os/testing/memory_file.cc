// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/memory_file.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "coffer/os/error.h"

namespace coffer::os::internal {
namespace {

// More than this in one file of a test is a mistake of the test.
constexpr uint64_t kSizeLimit = uint64_t{1} << 32;

}  // namespace

FileStat StatOf(const Node& node) {
  FileStat stat;
  stat.device = 1;
  stat.inode = node.inode;
  stat.kind = node.kind;
  stat.mode = node.attributes.mode;
  stat.user = node.attributes.user;
  stat.group = node.attributes.group;
  stat.link_count = node.link_count;
  stat.size = node.kind == FileKind::kSymlink ? node.link_target.size() : node.data.size();
  stat.stored_size = (stat.size + 511) / 512 * 512;
  stat.access_time = node.attributes.access_time;
  stat.modify_time = node.attributes.modify_time;
  stat.change_time = node.attributes.change_time;
  return stat;
}

template <class Function>
Status MemoryFile::Change(const char* verb, Function function) {
  const std::lock_guard lock(tree_->mutex);
  if (!tree_->tree->Step()) return PathError(verb, path_, EIO);
  const int error = function(*node_);
  if (error != 0) return PathError(verb, path_, error);
  node_->attributes.change_time = tree_->tree->Now();
  return OkStatus();
}

Result<size_t> MemoryFile::Read(MutableByteSpan out) {
  COFFER_ASSIGN_OR_RETURN(const size_t count, ReadAt(position_, out));
  position_ += count;
  return count;
}

Status MemoryFile::Write(ByteSpan bytes) {
  COFFER_TRY(WriteAt(position_, bytes));
  position_ += bytes.size();
  return OkStatus();
}

Result<size_t> MemoryFile::ReadAt(uint64_t offset, MutableByteSpan out) {
  const std::lock_guard lock(tree_->mutex);
  if (node_->kind == FileKind::kDirectory) return PathError("read", path_, EISDIR);
  if (access_ == Access::kWrite) return PathError("read", path_, EBADF);
  const Bytes& data = node_->data;
  if (offset >= data.size()) return size_t{0};
  const size_t count = std::min(out.size(), data.size() - static_cast<size_t>(offset));
  if (count != 0) std::memcpy(out.data(), data.data() + offset, count);
  return count;
}

Status MemoryFile::WriteAt(uint64_t offset, ByteSpan bytes) {
  return Change("write", [&](Node& node) {
    if (access_ == Access::kRead) return EBADF;
    if (offset > kSizeLimit || bytes.size() > kSizeLimit - offset) return EFBIG;
    const size_t end = static_cast<size_t>(offset) + bytes.size();
    if (!bytes.empty() && end > node.data.size()) node.data.resize(end);
    std::copy(bytes.begin(), bytes.end(), node.data.begin() + static_cast<ptrdiff_t>(offset));
    node.attributes.modify_time = tree_->tree->Now();
    return 0;
  });
}

Result<FileStat> MemoryFile::Stat() {
  const std::lock_guard lock(tree_->mutex);
  return StatOf(*node_);
}

Result<std::optional<uint64_t>> MemoryFile::NextData(uint64_t offset) {
  const std::lock_guard lock(tree_->mutex);
  return offset < node_->data.size() ? std::optional(offset) : std::nullopt;
}

Result<std::optional<uint64_t>> MemoryFile::NextHole(uint64_t offset) {
  const std::lock_guard lock(tree_->mutex);
  const uint64_t size = node_->data.size();
  return offset < size ? std::optional(size) : std::nullopt;
}

Status MemoryFile::Truncate(uint64_t size) {
  return Change("set the size of", [&](Node& node) {
    if (access_ == Access::kRead) return EINVAL;
    if (size > kSizeLimit) return EFBIG;
    node.data.resize(static_cast<size_t>(size));
    node.attributes.modify_time = tree_->tree->Now();
    return 0;
  });
}

Status MemoryFile::Allocate(uint64_t offset, uint64_t size) {
  return Change("allocate space for", [&](Node& node) {
    if (access_ == Access::kRead) return EBADF;
    if (offset > kSizeLimit || size > kSizeLimit - offset) return EFBIG;
    if (offset + size > node.data.size()) node.data.resize(static_cast<size_t>(offset + size));
    return 0;
  });
}

Status MemoryFile::Sync() {
  return Change("sync", [&](Node& node) {
    node.durable_data = node.data;
    node.durable_attributes = node.attributes;
    node.durable_entries = node.entries;
    node.pending.clear();
    return 0;
  });
}

Status MemoryFile::SetMode(uint32_t mode) {
  return Change("set the mode of", [&](Node& node) {
    node.attributes.mode = mode & 07777;
    return 0;
  });
}

Status MemoryFile::SetOwner(std::optional<uint32_t> user, std::optional<uint32_t> group) {
  return Change("set the owner of", [&](Node& node) {
    if (user) node.attributes.user = *user;
    if (group) node.attributes.group = *group;
    return 0;
  });
}

Status MemoryFile::SetTimes(FileTime access_time, FileTime modify_time) {
  return Change("set the times of", [&](Node& node) {
    node.attributes.access_time = MakeFileTime(access_time.seconds, access_time.nanoseconds);
    node.attributes.modify_time = MakeFileTime(modify_time.seconds, modify_time.nanoseconds);
    return 0;
  });
}

Result<std::vector<std::string>> MemoryFile::ListAttributes() {
  const std::lock_guard lock(tree_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, value] : node_->attributes.extended) names.push_back(name);
  return names;
}

Result<Bytes> MemoryFile::GetAttribute(const std::string& name) {
  const std::lock_guard lock(tree_->mutex);
  const auto found = node_->attributes.extended.find(name);
  if (found == node_->attributes.extended.end()) {
    return PathError("get an attribute of", path_, ENODATA);
  }
  return found->second;
}

Status MemoryFile::SetAttribute(const std::string& name, ByteSpan value) {
  return Change("set an attribute of", [&](Node& node) {
    node.attributes.extended[name] = Bytes(value.begin(), value.end());
    return 0;
  });
}

Result<bool> MemoryFile::TryLock() {
  const std::lock_guard lock(tree_->mutex);
  if (node_->lock_holder != nullptr && node_->lock_holder != this) return false;
  node_->lock_holder = this;
  return true;
}

Status MemoryFile::Lock() {
  for (;;) {
    COFFER_ASSIGN_OR_RETURN(const bool locked, TryLock());
    if (locked) return OkStatus();
    std::this_thread::yield();
  }
}

Status MemoryFile::Close() {
  Unlock();
  return OkStatus();
}

void MemoryFile::Unlock() {
  const std::lock_guard lock(tree_->mutex);
  if (node_->lock_holder == this) node_->lock_holder = nullptr;
}

}  // namespace coffer::os::internal
