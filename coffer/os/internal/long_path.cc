// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/internal/long_path.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <algorithm>

namespace coffer::os::internal {
namespace {

constexpr int kWalkFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

int OpenWithoutLinks(int from, const char* path) {
  open_how how = {};
  how.flags = kWalkFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(
      Retry([&] { return syscall(SYS_openat2, from, path, &how, sizeof(how)); }));
}

// Whether a path is relative and none of its components leads up.
bool StaysBelow(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  if (path.find("..") == std::string_view::npos)
    return true;  // paths may be long, and this is the rule
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    if (path.substr(start, end - start) == "..") return false;
    start = end + 1;
  }
  return true;
}

}  // namespace

int WalkByComponents(int from, std::string_view path, Descriptor& opened) {
  int at = from;
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string component(path.substr(start, end - start));
    start = end + 1;
    if (component.empty() || component == ".") continue;
    Descriptor next(Retry([&] { return openat(at, component.c_str(), kWalkFlags | O_NOFOLLOW); }));
    if (!next.valid()) return errno;
    opened = std::move(next);
    at = opened.get();
  }
  if (opened.valid()) return 0;
  opened = Descriptor(Retry([&] { return openat(from, ".", kWalkFlags); }));
  return opened.valid() ? 0 : errno;
}

int WalkWithoutLinks(int from, std::string_view path, Descriptor& opened) {
  while (!path.empty()) {
    size_t size = path.size();
    if (size >= PATH_MAX) size = path.rfind('/', PATH_MAX - 1);
    if (size == std::string_view::npos) return ENAMETOOLONG;
    const std::string piece(path.substr(0, size));
    path.remove_prefix(size);
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    const int at = opened.valid() ? opened.get() : from;
    Descriptor next(OpenWithoutLinks(at, piece.c_str()));
    if (!next.valid() && (errno == ENOSYS || errno == EPERM)) {
      // An old kernel, or a sandbox that does not know the call.
      const int error = WalkByComponents(at, piece, next);
      if (error != 0) return error;
    }
    if (!next.valid()) return errno;
    opened = std::move(next);
  }
  return 0;
}

int BeneathRoot::Open(std::string_view directory, std::shared_ptr<Descriptor>& opened) {
  if (directory.empty() || directory == ".") {
    opened = root_;
    return 0;
  }
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Descriptor> from = root_;
  std::string_view rest = directory;
  if (last_ != nullptr && directory.starts_with(last_path_)) {
    if (directory.size() == last_path_.size()) {
      opened = last_;
      return 0;
    }
    if (directory[last_path_.size()] == '/') {
      from = last_;
      rest.remove_prefix(last_path_.size() + 1);
    }
  }
  Descriptor found;
  const int error = WalkWithoutLinks(from->get(), rest, found);
  if (error != 0) return error;
  last_ = std::make_shared<Descriptor>(std::move(found));
  last_path_ = directory;
  opened = last_;
  return 0;
}

void BeneathRoot::Forget() {
  const std::lock_guard lock(mutex_);
  last_ = nullptr;
  last_path_.clear();
}

LongPath::LongPath(BeneathRoot* root, const std::string& path, LastComponent last)
    : name_(path.c_str()) {
  if (path.find('\0') != std::string::npos) {
    error_ = EINVAL;
  } else if (root != nullptr) {
    WalkBeneath(*root, path, last);
  } else {
    Walk(path);
  }
}

void LongPath::WalkBeneath(BeneathRoot& root, const std::string& path, LastComponent last) {
  if (!StaysBelow(path)) {
    error_ = path.empty() ? ENOENT : EINVAL;
    return;
  }
  std::string_view front = path;
  while (front.ends_with('/')) front.remove_suffix(1);
  const size_t slash = front.rfind('/');
  const std::string_view name = front.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (last == LastComponent::kIsDirectory || name == ".") {
    storage_ = ".";
  } else {
    storage_ = name;
    front = slash == std::string_view::npos ? std::string_view() : front.substr(0, slash);
  }
  while (front.ends_with('/')) front.remove_suffix(1);
  while (front.starts_with("./")) front.remove_prefix(2);
  name_ = storage_.c_str();
  error_ = root.Open(front, directory_);
}

void LongPath::Walk(const std::string& path) {
  size_t start = 0;
  while (path.size() - start >= PATH_MAX) {
    const size_t slash = path.rfind('/', start + PATH_MAX - 2);
    if (slash == std::string::npos || slash < start) {
      error_ = ENAMETOOLONG;
      return;
    }
    const std::string piece = path.substr(start, slash - start + 1);
    Descriptor next(Retry([&] { return openat(directory(), piece.c_str(), kWalkFlags); }));
    if (!next.valid()) {
      error_ = errno;
      return;
    }
    directory_ = std::make_shared<Descriptor>(std::move(next));
    start = slash + 1;
    // A slash in front would make the rest an absolute path.
    while (start < path.size() && path[start] == '/') ++start;
  }
  name_ = start > 0 && start == path.size() ? "." : path.c_str() + start;
}

int LongPath::directory() const { return directory_ != nullptr ? directory_->get() : AT_FDCWD; }

}  // namespace coffer::os::internal
