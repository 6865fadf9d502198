// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/memory_tree.h"

#include <errno.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace coffer::os::internal {
namespace {

constexpr size_t kNameLimit = 255;
constexpr int kSymlinkLimit = 40;
constexpr size_t kBlockSize = 4096;

// Puts the components of `path` in front of `pending`.
void PushComponents(const std::string& path, std::deque<std::string>& pending) {
  std::vector<std::string> components;
  size_t start = 0;
  while (start < path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    if (end > start) components.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  pending.insert(pending.begin(), components.begin(), components.end());
}

// Unsynced content after a crash: each block old, new or, where there is no old one, zeros.
Bytes MixData(const Bytes& durable, const Bytes& current, Coin& coin) {
  Bytes mixed(coin.Toss() ? current.size() : durable.size());
  for (size_t start = 0; start < mixed.size(); start += kBlockSize) {
    const Bytes& from = coin.Toss() ? current : durable;
    const size_t end = std::min({start + kBlockSize, mixed.size(), from.size()});
    for (size_t i = start; i < end; ++i) mixed[i] = from[i];
  }
  return mixed;
}

// Builds the tree that is left. Files with several names stay one file.
class Survival {
 public:
  Survival(MemoryTree& to, Coin* coin) : to_(to), coin_(coin) {}

  void CopyDirectory(const Node& from, const NodePointer& to) {
    Entries left = from.durable_entries;
    for (const Change& change : from.pending) {
      if (coin_ == nullptr || !coin_->Toss()) continue;
      for (const auto& [name, node] : change) {
        if (node == nullptr) {
          left.erase(name);
        } else {
          left[name] = node;
        }
      }
    }
    for (const auto& [name, node] : left) {
      NodePointer copy = Copy(*node, to);
      if (copy == nullptr) continue;
      ++copy->link_count;
      to->entries[name] = copy;
      to->durable_entries[name] = copy;
    }
  }

 private:
  NodePointer Copy(const Node& from, const NodePointer& parent) {
    const auto known = copies_.find(&from);
    if (known != copies_.end()) {
      // A directory that was moved can be left in both places; it keeps one.
      return from.kind == FileKind::kDirectory ? nullptr : known->second;
    }
    NodePointer copy = to_.MakeNode(from.kind, 0);
    copies_[&from] = copy;
    copy->inode = from.inode;
    copy->link_target = from.link_target;
    const bool keep_attributes =
        from.kind != FileKind::kRegular || (coin_ != nullptr && coin_->Toss());
    copy->attributes = keep_attributes ? from.attributes : from.durable_attributes;
    copy->durable_attributes = copy->attributes;
    copy->data =
        coin_ == nullptr ? from.durable_data : MixData(from.durable_data, from.data, *coin_);
    copy->durable_data = copy->data;
    copy->parent = parent;
    if (from.kind == FileKind::kDirectory) CopyDirectory(from, copy);
    return copy;
  }

  MemoryTree& to_;
  Coin* coin_;
  std::unordered_map<const Node*, NodePointer> copies_;
};

}  // namespace

MemoryTree::MemoryTree() : root(MakeNode(FileKind::kDirectory, 0755)) { root->link_count = 1; }

int MemoryTree::Find(const std::string& path, bool follow_last, Lookup& found) const {
  if (path.empty()) return ENOENT;
  if (path.find('\0') != std::string::npos) return EINVAL;
  std::deque<std::string> pending;
  PushComponents(path, pending);
  found = {nullptr, "", root, path.back() == '/'};
  int link_count = 0;
  while (!pending.empty()) {
    const std::string name = pending.front();
    pending.pop_front();
    if (found.node == nullptr) return ENOENT;
    if (found.node->kind != FileKind::kDirectory) return ENOTDIR;
    if (name.size() > kNameLimit) return ENAMETOOLONG;
    if (name == ".") continue;
    if (name == "..") {
      const NodePointer parent = found.node->parent.lock();
      if (parent != nullptr) found.node = parent;
      found.directory = nullptr;
      continue;
    }
    const NodePointer directory = found.node;
    const auto entry = directory->entries.find(name);
    found.directory = directory;
    found.name = name;
    found.node = entry == directory->entries.end() ? nullptr : entry->second;
    const bool is_last = pending.empty() && !found.must_be_directory;
    if (found.node == nullptr || found.node->kind != FileKind::kSymlink) continue;
    if (is_last && !follow_last) continue;
    if (++link_count > kSymlinkLimit) return ELOOP;
    const std::string& target = found.node->link_target;
    PushComponents(target, pending);
    found.node = target.starts_with('/') ? root : directory;
  }
  const bool is_file = found.node != nullptr && found.node->kind != FileKind::kDirectory;
  return is_file && found.must_be_directory ? ENOTDIR : 0;
}

int MemoryTree::FindExisting(const std::string& path, bool follow_last, Lookup& found) const {
  const int error = Find(path, follow_last, found);
  return error == 0 && found.node == nullptr ? ENOENT : error;
}

int MemoryTree::FindFree(const std::string& path, Lookup& found) const {
  const int error = Find(path, false, found);
  return error == 0 && found.node != nullptr ? EEXIST : error;
}

NodePointer MemoryTree::MakeNode(FileKind kind, uint32_t mode) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->inode = next_inode_++;
  node->attributes.mode = mode;
  const FileTime now = Now();
  node->attributes.access_time = now;
  node->attributes.modify_time = now;
  node->attributes.change_time = now;
  node->durable_attributes = node->attributes;
  return node;
}

void MemoryTree::Apply(Node& directory, Change change) {
  for (const auto& [name, node] : change) {
    if (node == nullptr) {
      directory.entries.erase(name);
    } else {
      directory.entries[name] = node;
    }
  }
  directory.pending.push_back(std::move(change));
  directory.attributes.modify_time = Now();
  directory.attributes.change_time = directory.attributes.modify_time;
}

bool MemoryTree::IsWithin(const NodePointer& outer, NodePointer inner) {
  for (; inner != nullptr; inner = inner->parent.lock()) {
    if (inner == outer) return true;
  }
  return false;
}

std::shared_ptr<MemoryTree> MemoryTree::Crashed(Coin* coin) const {
  auto left = std::make_shared<MemoryTree>();
  left->next_inode_ = next_inode_;
  left->now_ = now_;
  Survival(*left, coin).CopyDirectory(*root, left->root);
  return left;
}

bool MemoryTree::Step() {
  if (operation_count >= cut_at) return false;
  ++operation_count;
  return true;
}

}  // namespace coffer::os::internal
