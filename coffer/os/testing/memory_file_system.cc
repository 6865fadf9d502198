// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/memory_file_system.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"
#include "coffer/os/testing/beneath_view.h"
#include "coffer/os/testing/memory_file.h"
#include "coffer/os/testing/memory_tree.h"

namespace coffer::os {

using internal::Attributes;
using internal::Change;
using internal::Lookup;
using internal::MemoryFile;
using internal::MemoryTree;
using internal::NodePointer;

namespace {

constexpr uint32_t kUmask = 022;

// Whether a rename may happen: errno, or 0.
int CheckRename(const Lookup& from, const Lookup& to) {
  if (from.node == nullptr) return ENOENT;
  if (from.directory == nullptr || to.directory == nullptr) return EBUSY;
  const bool moves_directory = from.node->kind == FileKind::kDirectory;
  if (moves_directory && MemoryTree::IsWithin(from.node, to.directory)) return EINVAL;
  if (to.node == nullptr) return to.must_be_directory && !moves_directory ? ENOTDIR : 0;
  const bool replaces_directory = to.node->kind == FileKind::kDirectory;
  if (moves_directory && !replaces_directory) return ENOTDIR;
  if (!moves_directory && replaces_directory) return EISDIR;
  return replaces_directory && !to.node->entries.empty() ? ENOTEMPTY : 0;
}

}  // namespace

// A locked tree with the steps that all calls share.
class MemoryFileSystem::Tree : public internal::LockedTree {
 public:
  // Runs `function(tree)`, which returns errno, or 0, under the lock; as an operation that counts
  // if it changes something.
  template <class Function>
  int Read(Function function) {
    const std::lock_guard lock(mutex);
    return function(*tree);
  }
  template <class Function>
  int Write(Function function) {
    const std::lock_guard lock(mutex);
    return tree->Step() ? function(*tree) : EIO;
  }
};

namespace {

Status StatusOf(int error, const char* verb, const std::string& path) {
  if (error == 0) return OkStatus();
  return PathError(verb, path, error);
}

Status StatusOf(int error, const char* verb, const std::string& from, const std::string& to) {
  if (error == 0) return OkStatus();
  return SystemError("cannot " + std::string(verb) + " " + Quote(from) + " to " + Quote(to), error);
}

// Finds or creates what Open opens.
int FindOrCreate(MemoryTree& tree, const std::string& path, const OpenOptions& options,
                 NodePointer& node) {
  const bool must_be_new = options.creation == Creation::kMustBeNew;
  Lookup found;
  const int error = tree.Find(path, options.follow_symlink && !must_be_new, found);
  if (error != 0) return error;
  if (found.node == nullptr) {
    if (options.creation == Creation::kMustExist) return ENOENT;
    if (found.must_be_directory) return EISDIR;
    if (!tree.Step()) return EIO;
    node = tree.MakeNode(FileKind::kRegular, options.mode & 07777 & ~kUmask);
    node->link_count = 1;
    tree.Apply(*found.directory, {{found.name, node}});
    return 0;
  }
  if (must_be_new) return EEXIST;
  node = found.node;
  if (node->kind == FileKind::kSymlink) return ELOOP;
  if (node->kind == FileKind::kDirectory) return options.access == Access::kRead ? 0 : EISDIR;
  if (options.truncate) {
    if (!tree.Step()) return EIO;
    node->data.clear();
  }
  return 0;
}

int RenameIn(MemoryTree& tree, const std::string& from_path, const std::string& to_path,
             bool replace) {
  Lookup from;
  Lookup to;
  int error = tree.Find(from_path, false, from);
  if (error == 0) error = tree.Find(to_path, false, to);
  if (error == 0 && !replace && to.node != nullptr) error = EEXIST;
  if (error == 0) error = CheckRename(from, to);
  if (error != 0 || from.node == to.node) return error;
  if (to.node != nullptr) --to.node->link_count;
  if (from.node->kind == FileKind::kDirectory) from.node->parent = to.directory;
  if (from.directory == to.directory) {
    tree.Apply(*from.directory, {{from.name, nullptr}, {to.name, from.node}});
  } else {
    tree.Apply(*to.directory, {{to.name, from.node}});
    tree.Apply(*from.directory, {{from.name, nullptr}});
  }
  return 0;
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() : tree_(std::make_shared<Tree>()) {
  tree_->tree = std::make_shared<MemoryTree>();
}

MemoryFileSystem::MemoryFileSystem(std::shared_ptr<Tree> tree) : tree_(std::move(tree)) {}

MemoryFileSystem::~MemoryFileSystem() = default;

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::CrashDroppingUnsynced() const {
  const std::lock_guard lock(tree_->mutex);
  auto left = std::make_shared<Tree>();
  left->tree = tree_->tree->Crashed(nullptr);
  return std::unique_ptr<MemoryFileSystem>(new MemoryFileSystem(std::move(left)));
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::CrashKeepingSome(uint64_t seed) const {
  const std::lock_guard lock(tree_->mutex);
  internal::Coin coin(seed);
  auto left = std::make_shared<Tree>();
  left->tree = tree_->tree->Crashed(&coin);
  return std::unique_ptr<MemoryFileSystem>(new MemoryFileSystem(std::move(left)));
}

void MemoryFileSystem::CutAfter(size_t operation_count) {
  const std::lock_guard lock(tree_->mutex);
  tree_->tree->cut_at = tree_->tree->operation_count + operation_count;
}

bool MemoryFileSystem::cut() const {
  const std::lock_guard lock(tree_->mutex);
  return tree_->tree->operation_count >= tree_->tree->cut_at;
}

size_t MemoryFileSystem::operation_count() const {
  const std::lock_guard lock(tree_->mutex);
  return tree_->tree->operation_count;
}

Result<std::unique_ptr<File>> MemoryFileSystem::Open(const std::string& path,
                                                     const OpenOptions& options) {
  NodePointer node;
  const int error =
      tree_->Read([&](MemoryTree& tree) { return FindOrCreate(tree, path, options, node); });
  const char* verb = options.creation == Creation::kMustExist ? "open" : "create";
  COFFER_TRY(StatusOf(error, verb, path));
  return std::unique_ptr<File>(std::make_unique<MemoryFile>(tree_, node, options.access, path));
}

Result<std::unique_ptr<File>> MemoryFileSystem::OpenDescriptor(int descriptor) {
  return PathError("open", "/dev/fd/" + std::to_string(descriptor), EBADF);
}

Result<std::unique_ptr<File>> MemoryFileSystem::CreateUnnamed(const std::string& directory,
                                                              uint32_t mode) {
  NodePointer node;
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(directory, true, found); failure != 0) return failure;
    if (found.node->kind != FileKind::kDirectory) return ENOTDIR;
    node = tree.MakeNode(FileKind::kRegular, mode & 07777 & ~kUmask);
    return 0;
  });
  COFFER_TRY(StatusOf(error, "create a file in", directory));
  return std::unique_ptr<File>(std::make_unique<MemoryFile>(tree_, node, Access::kReadWrite,
                                                            JoinPath(directory, "(unnamed)")));
}

Status MemoryFileSystem::LinkUnnamed(File& file, const std::string& path) {
  auto* memory_file = dynamic_cast<MemoryFile*>(&file);
  COFFER_CHECK(memory_file != nullptr);
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup at;
    if (const int failure = tree.FindFree(path, at); failure != 0) return failure;
    ++memory_file->node()->link_count;
    tree.Apply(*at.directory, {{at.name, memory_file->node()}});
    return 0;
  });
  return StatusOf(error, "create", path);
}

Result<FileStat> MemoryFileSystem::StatWith(const std::string& path, bool follow) {
  FileStat stat;
  const int error = tree_->Read([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, follow, found); failure != 0) return failure;
    stat = internal::StatOf(*found.node);
    return 0;
  });
  COFFER_TRY(StatusOf(error, "stat", path));
  return stat;
}

Result<FileStat> MemoryFileSystem::Stat(const std::string& path) { return StatWith(path, true); }

Result<FileStat> MemoryFileSystem::StatNoFollow(const std::string& path) {
  return StatWith(path, false);
}

Status MemoryFileSystem::Rename(const std::string& from, const std::string& to) {
  const int error = tree_->Write([&](MemoryTree& tree) { return RenameIn(tree, from, to, true); });
  return StatusOf(error, "rename", from, to);
}

Status MemoryFileSystem::RenameNoReplace(const std::string& from, const std::string& to) {
  const int error = tree_->Write([&](MemoryTree& tree) { return RenameIn(tree, from, to, false); });
  return StatusOf(error, "rename", from, to);
}

Status MemoryFileSystem::Link(const std::string& existing, const std::string& name) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup from;
    Lookup to;
    if (const int failure = tree.FindExisting(existing, false, from); failure != 0) return failure;
    if (from.node->kind == FileKind::kDirectory) return EPERM;
    if (const int failure = tree.FindFree(name, to); failure != 0) return failure;
    ++from.node->link_count;
    tree.Apply(*to.directory, {{to.name, from.node}});
    return 0;
  });
  return StatusOf(error, "link", existing, name);
}

Status MemoryFileSystem::Remove(const char* verb, const std::string& path, bool directory) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, false, found); failure != 0) return failure;
    const bool is_directory = found.node->kind == FileKind::kDirectory;
    if (directory && !is_directory) return ENOTDIR;
    if (!directory && is_directory) return EISDIR;
    if (found.directory == nullptr) return EBUSY;
    if (directory && !found.node->entries.empty()) return ENOTEMPTY;
    --found.node->link_count;
    tree.Apply(*found.directory, {{found.name, nullptr}});
    return 0;
  });
  return StatusOf(error, verb, path);
}

Status MemoryFileSystem::Unlink(const std::string& path) { return Remove("remove", path, false); }

Status MemoryFileSystem::RemoveDirectory(const std::string& path) {
  return Remove("remove directory", path, true);
}

Status MemoryFileSystem::MakeDirectory(const std::string& path, uint32_t mode) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup at;
    if (const int failure = tree.FindFree(path, at); failure != 0) return failure;
    NodePointer node = tree.MakeNode(FileKind::kDirectory, mode & 07777 & ~kUmask);
    node->link_count = 1;
    node->parent = at.directory;
    tree.Apply(*at.directory, {{at.name, node}});
    return 0;
  });
  return StatusOf(error, "create directory", path);
}

Result<std::vector<DirectoryEntry>> MemoryFileSystem::ReadDirectory(const std::string& path,
                                                                    size_t limit) {
  std::vector<DirectoryEntry> entries;
  const int error = tree_->Read([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, true, found); failure != 0) return failure;
    if (found.node->kind != FileKind::kDirectory) return ENOTDIR;
    for (const auto& [name, node] : found.node->entries) {
      if (entries.size() == limit) break;
      entries.push_back({name, node->kind});
    }
    return 0;
  });
  COFFER_TRY(StatusOf(error, "read directory", path));
  return entries;
}

Status MemoryFileSystem::SyncDirectory(const std::string& path) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, true, found); failure != 0) return failure;
    if (found.node->kind != FileKind::kDirectory) return ENOTDIR;
    found.node->durable_entries = found.node->entries;
    found.node->pending.clear();
    return 0;
  });
  return StatusOf(error, "sync directory", path);
}

Status MemoryFileSystem::MakeFifo(const std::string& path, uint32_t mode) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup at;
    if (const int failure = tree.FindFree(path, at); failure != 0) return failure;
    NodePointer node = tree.MakeNode(FileKind::kFifo, mode & 07777 & ~kUmask);
    node->link_count = 1;
    tree.Apply(*at.directory, {{at.name, node}});
    return 0;
  });
  return StatusOf(error, "create FIFO", path);
}

Result<std::unique_ptr<FileSystem>> MemoryFileSystem::Beneath(const std::string& directory) {
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, Stat(directory));
  COFFER_TRY(
      StatusOf(stat.kind == FileKind::kDirectory ? 0 : ENOTDIR, "open directory", directory));
  return std::unique_ptr<FileSystem>(std::make_unique<BeneathView>(*this, directory));
}

Status MemoryFileSystem::MakeSymlink(const std::string& target, const std::string& path) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup at;
    if (target.empty()) return ENOENT;
    if (const int failure = tree.FindFree(path, at); failure != 0) return failure;
    NodePointer node = tree.MakeNode(FileKind::kSymlink, 0777);
    node->link_count = 1;
    node->link_target = target;
    tree.Apply(*at.directory, {{at.name, node}});
    return 0;
  });
  return StatusOf(error, "create symbolic link", path);
}

Result<std::string> MemoryFileSystem::ReadLink(const std::string& path) {
  std::string target;
  const int error = tree_->Read([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, false, found); failure != 0) return failure;
    if (found.node->kind != FileKind::kSymlink) return EINVAL;
    target = found.node->link_target;
    return 0;
  });
  COFFER_TRY(StatusOf(error, "read symbolic link", path));
  return target;
}

Status MemoryFileSystem::SetOwnerNoFollow(const std::string& path, uint32_t user, uint32_t group) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, false, found); failure != 0) return failure;
    found.node->attributes.user = user;
    found.node->attributes.group = group;
    return 0;
  });
  return StatusOf(error, "set the owner of", path);
}

Status MemoryFileSystem::SetTimesNoFollow(const std::string& path, FileTime access_time,
                                          FileTime modify_time) {
  const int error = tree_->Write([&](MemoryTree& tree) {
    Lookup found;
    if (const int failure = tree.FindExisting(path, false, found); failure != 0) return failure;
    Attributes& attributes = found.node->attributes;
    attributes.access_time = MakeFileTime(access_time.seconds, access_time.nanoseconds);
    attributes.modify_time = MakeFileTime(modify_time.seconds, modify_time.nanoseconds);
    return 0;
  });
  return StatusOf(error, "set the times of", path);
}

Result<bool> MemoryFileSystem::IsOnProcessFileSystem(const std::string& path) {
  COFFER_TRY(StatNoFollow(path));
  return false;
}

uint32_t MemoryFileSystem::Umask() { return kUmask; }

}  // namespace coffer::os
