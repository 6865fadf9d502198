// SPDX-License-Identifier: Apache-2.0
// The nodes of a MemoryFileSystem, how names lead to them, and what of them survives a crash.
// Nothing here locks; MemoryFileSystem does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coffer/os/file_system.h"

namespace coffer::os::internal {

// Decisions that a seed settles (splitmix64), the same on every machine.
class Coin {
 public:
  explicit Coin(uint64_t seed) : state_(seed) {}
  bool Toss() {
    uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return (mixed >> 63) != 0;
  }

 private:
  uint64_t state_;
};

struct Node;
using NodePointer = std::shared_ptr<Node>;
using Entries = std::map<std::string, NodePointer>;

// Names of one directory that change together; a null pointer takes the name away.
using Change = std::vector<std::pair<std::string, NodePointer>>;

struct Attributes {
  uint32_t mode = 0;
  uint32_t user = 0;
  uint32_t group = 0;
  FileTime access_time;
  FileTime modify_time;
  FileTime change_time;
  std::map<std::string, Bytes> extended;
};

struct Node {
  FileKind kind = FileKind::kRegular;
  uint64_t inode = 0;
  uint64_t link_count = 0;
  Attributes attributes;
  const void* lock_holder = nullptr;

  Bytes data;                     // of a regular file
  Bytes durable_data;             // as of its last sync
  Attributes durable_attributes;  // the same

  std::string link_target;  // of a symbolic link

  Entries entries;  // of a directory
  Entries durable_entries;
  std::vector<Change> pending;  // since its last sync, oldest first
  std::weak_ptr<Node> parent;
};

// Where a path leads. `node` is null if the name is free; `directory` is null for the root itself.
struct Lookup {
  NodePointer directory;
  std::string name;
  NodePointer node;
  bool must_be_directory = false;  // the path ends with a slash
};

class MemoryTree {
 public:
  MemoryTree();

  // Returns errno, or 0 and fills `found`.
  int Find(const std::string& path, bool follow_last, Lookup& found) const;
  // The same where there must be something (ENOENT), or must be nothing (EEXIST).
  int FindExisting(const std::string& path, bool follow_last, Lookup& found) const;
  int FindFree(const std::string& path, Lookup& found) const;

  NodePointer MakeNode(FileKind kind, uint32_t mode);
  // Applies a change to a directory and notes it as not durable. The link counts are the caller's.
  void Apply(Node& directory, Change change);
  // Whether `inner` is `outer` or lies below it.
  static bool IsWithin(const NodePointer& outer, NodePointer inner);

  // What a crash leaves: with a coin some of what was not synced, without none of it.
  [[nodiscard]] std::shared_ptr<MemoryTree> Crashed(Coin* coin) const;

  // A time that differs from all before it.
  FileTime Now() { return MakeFileTime(1'700'000'000, ++now_); }

  // Counts an operation; false once the power is gone.
  bool Step();

  NodePointer root;
  size_t operation_count = 0;
  size_t cut_at = SIZE_MAX;

 private:
  uint64_t next_inode_ = 1;
  int64_t now_ = 0;  // nanoseconds
};

}  // namespace coffer::os::internal
