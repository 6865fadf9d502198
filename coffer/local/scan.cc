// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/scan.h"

#include <errno.h>

#include <algorithm>
#include <map>
#include <utility>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"

namespace coffer::local {
namespace {

using os::FileKind;
using os::FileStat;
using os::FileSystem;
using os::JoinPath;
using vault::Entry;
using vault::EntryKind;
using vault::Hole;

// Beyond this the rest of a file counts as data: the zeros are stored instead.
constexpr size_t kHoleLimit = 65536;

std::optional<EntryKind> EntryKindOf(FileKind kind) {
  switch (kind) {
    case FileKind::kRegular:
      return EntryKind::kFile;
    case FileKind::kDirectory:
      return EntryKind::kDirectory;
    case FileKind::kSymlink:
      return EntryKind::kSymlink;
    case FileKind::kFifo:
      return EntryKind::kFifo;
    case FileKind::kCharacterDevice:
      return EntryKind::kCharacterDevice;
    case FileKind::kBlockDevice:
      return EntryKind::kBlockDevice;
    case FileKind::kSocket:
      return EntryKind::kSocket;
    case FileKind::kUnknown:
      break;
  }
  return std::nullopt;
}

Error WasReplaced(const std::string& path) {
  return {ErrorCode::kIo, Quote(path) + " was replaced while it was read"};
}

// The file's holes, as far as it has and shows them.
Result<std::vector<Hole>> FindHoles(os::File& file, const FileStat& stat) {
  std::vector<Hole> holes;
  if (stat.stored_size >= stat.size) return holes;
  uint64_t at = 0;
  while (at < stat.size && holes.size() < kHoleLimit) {
    const Result<std::optional<uint64_t>> found = file.NextData(at);
    // A file system that cannot tell has data only.
    if (!found.ok() && found.error().system_errno() == EINVAL) return std::vector<Hole>();
    if (!found.ok()) return found.error();
    const uint64_t data = std::min(found->value_or(stat.size), stat.size);
    if (data > at) holes.push_back({at, data - at});
    if (data == stat.size) break;
    COFFER_ASSIGN_OR_RETURN(const std::optional<uint64_t> hole, file.NextHole(data));
    if (!hole || *hole <= data) break;
    at = *hole;
  }
  return holes;
}

class Scanner {
 public:
  Scanner(FileSystem& file_system, os::Users& users, const ScanOptions& options,
          ScanVisitor& visitor)
      : file_system_(file_system), users_(users), options_(options), visitor_(visitor) {}

  Status ScanOne(const ScanSource& source);

 private:
  class Item;

  // A directory that is being read.
  struct Frame {
    std::vector<std::string> names;
    size_t next = 0;
    size_t path_size = 0;  // of the directory's path and name
    size_t name_size = 0;
  };

  Status Walk(const ScanSource& source, const FileStat& root);
  bool Enter(std::vector<Frame>& frames, FileSystem& view, const std::string& path,
             const std::string& name);
  // Returns whether what was visited is a directory to enter.
  Result<bool> Visit(FileSystem& files, const std::string& path, const std::string& name,
                     const FileStat& stat, uint64_t root_device);
  bool IsLeftOut(FileSystem& files, const std::string& path, const FileStat& stat);
  Result<Entry> EntryOf(FileSystem& files, const std::string& path, const std::string& name,
                        const FileStat& stat);
  void FillFrom(const FileStat& stat, Entry& entry);
  void ReadAttributes(os::File& file, Entry& entry);
  void AddDirectoryAttributes(FileSystem& files, const std::string& path, const FileStat& stat,
                              Entry& entry);
  Result<std::unique_ptr<ScannedFile>> OpenFile(FileSystem& files, const std::string& path,
                                                const FileStat& seen, Entry& entry);

  FileSystem& file_system_;
  os::Users& users_;
  const ScanOptions& options_;
  ScanVisitor& visitor_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> link_groups_;  // by device and inode
};

class Scanner::Item final : public ScannedItem {
 public:
  Item(Scanner& scanner, FileSystem& files, const std::string& path, const FileStat& stat,
       Entry entry)
      : ScannedItem(std::move(entry), files.FullPath(path)),
        scanner_(scanner),
        files_(files),
        relative_path_(path),
        stat_(stat) {}

  Result<std::unique_ptr<ScannedFile>> Open() override {
    COFFER_CHECK(stat_.kind == FileKind::kRegular);
    return scanner_.OpenFile(files_, relative_path_, stat_, entry());
  }

 private:
  Scanner& scanner_;
  FileSystem& files_;
  const std::string& relative_path_;
  const FileStat& stat_;
};

void Scanner::FillFrom(const FileStat& stat, Entry& entry) {
  entry.mode = stat.mode;
  entry.user = stat.user;
  entry.group = stat.group;
  entry.user_name = users_.UserName(stat.user);
  entry.group_name = users_.GroupName(stat.group);
  entry.modified = stat.modify_time;
  entry.accessed = stat.access_time;
  entry.status_changed = stat.change_time;
  entry.inode = stat.inode;
  if (entry.kind == EntryKind::kFile) entry.size = stat.size;
}

Result<Entry> Scanner::EntryOf(FileSystem& files, const std::string& path, const std::string& name,
                               const FileStat& stat) {
  const std::optional<EntryKind> kind = EntryKindOf(stat.kind);
  if (!kind) {
    return Error(ErrorCode::kIo, Quote(files.FullPath(path)) + " is of a kind that is not known");
  }
  Entry entry;
  entry.path = name;
  entry.kind = *kind;
  FillFrom(stat, entry);
  if (*kind == EntryKind::kSymlink) {
    COFFER_ASSIGN_OR_RETURN(entry.link_target, files.ReadLink(path));
  }
  if (*kind == EntryKind::kCharacterDevice || *kind == EntryKind::kBlockDevice) {
    entry.device = {stat.device_major, stat.device_minor};
  }
  if (*kind == EntryKind::kFile && stat.link_count > 1) {
    const uint64_t fresh = link_groups_.size();
    entry.link_group = link_groups_.try_emplace({stat.device, stat.inode}, fresh).first->second;
  }
  if (*kind == EntryKind::kDirectory) AddDirectoryAttributes(files, path, stat, entry);
  return entry;
}

// A directory that cannot be opened is reported when it is to be read.
void Scanner::AddDirectoryAttributes(FileSystem& files, const std::string& path,
                                     const FileStat& stat, Entry& entry) {
  os::OpenOptions options;
  options.wait_for_peer = false;  // whatever has taken its place
  const auto opened = files.Open(path, options);
  if (!opened.ok()) return;
  const Result<FileStat> now = (*opened)->Stat();
  if (now.ok() && os::SameObject(*now, stat)) ReadAttributes(**opened, entry);
}

void Scanner::ReadAttributes(os::File& file, Entry& entry) {
  entry.attributes.clear();
  Result<std::vector<std::string>> names = file.ListAttributes();
  if (!names.ok()) {
    visitor_.OnNote(file.path(),
                    "its extended attributes are left out: " + names.error().message());
    return;
  }
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    Result<Bytes> value = file.GetAttribute(name);
    if (value.ok()) {
      entry.attributes.push_back({name, std::move(value).value()});
    } else if (value.error().system_errno() != ENODATA) {  // removed meanwhile
      visitor_.OnNote(file.path(),
                      "its attribute " + Quote(name) + " is left out: " + value.error().message());
    }
  }
}

Result<std::unique_ptr<ScannedFile>> Scanner::OpenFile(FileSystem& files, const std::string& path,
                                                       const FileStat& seen, Entry& entry) {
  os::OpenOptions options;
  options.follow_symlink = false;
  options.wait_for_peer = false;
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<os::File> file, files.Open(path, options));
  COFFER_ASSIGN_OR_RETURN(const FileStat stat, file->Stat());
  if (stat.kind != FileKind::kRegular || !os::SameObject(stat, seen)) {
    return WasReplaced(files.FullPath(path));
  }
  file->AdviseSequential();
  FillFrom(stat, entry);
  ReadAttributes(*file, entry);
  COFFER_ASSIGN_OR_RETURN(entry.holes, FindHoles(*file, stat));
  return std::make_unique<ScannedFile>(std::move(file), stat, entry.holes);
}

bool Scanner::IsLeftOut(FileSystem& files, const std::string& path, const FileStat& stat) {
  if (!options_.vault || !os::SameObject(*options_.vault, stat)) return false;
  visitor_.OnNote(files.FullPath(path), "is the vault itself, and left out");
  return true;
}

Result<bool> Scanner::Visit(FileSystem& files, const std::string& path, const std::string& name,
                            const FileStat& stat, uint64_t root_device) {
  if (name.size() > vault::kMaxPathSize) {
    visitor_.OnProblem(files.FullPath(path),
                       Error(ErrorCode::kTooLarge, "its name is longer than a vault takes"));
    return false;
  }
  Result<Entry> entry = EntryOf(files, path, name, stat);
  if (!entry.ok()) {
    visitor_.OnProblem(files.FullPath(path), entry.error());
    return false;
  }
  Item item(*this, files, path, stat, std::move(entry).value());
  if (!name.empty()) COFFER_TRY(visitor_.OnEntry(item));
  if (stat.kind != FileKind::kDirectory) return false;
  return !options_.one_file_system || stat.device == root_device;
}

Status Scanner::ScanOne(const ScanSource& source) {
  const Result<FileStat> stat = file_system_.StatNoFollow(source.path);
  if (!stat.ok()) {
    visitor_.OnProblem(source.path, stat.error());
    return OkStatus();
  }
  if (IsLeftOut(file_system_, source.path, *stat)) return OkStatus();
  if (stat->kind == FileKind::kDirectory) return Walk(source, *stat);
  if (source.name.empty()) {
    visitor_.OnProblem(source.path, Error(ErrorCode::kInvalidArgument,
                                          Quote(source.path) + " needs a name in the vault"));
    return OkStatus();
  }
  COFFER_TRY(Visit(file_system_, source.path, source.name, *stat, stat->device));
  return OkStatus();
}

// Reads a directory, to be walked next. `path` and `name` are its own.
bool Scanner::Enter(std::vector<Frame>& frames, FileSystem& view, const std::string& path,
                    const std::string& name) {
  const std::string& at = path.empty() ? "." : path;
  auto entries = view.ReadDirectory(at, FileSystem::kNoLimit);
  if (!entries.ok()) {
    visitor_.OnProblem(view.FullPath(at), entries.error());
    return false;
  }
  Frame frame;
  frame.path_size = path.size();
  frame.name_size = name.size();
  frame.names.reserve(entries->size());
  for (os::DirectoryEntry& entry : *entries) frame.names.push_back(std::move(entry.name));
  std::sort(frame.names.begin(), frame.names.end());
  frames.push_back(std::move(frame));
  return true;
}

Status Scanner::Walk(const ScanSource& source, const FileStat& root) {
  const auto view = file_system_.Beneath(source.path);
  const Result<FileStat> opened = view.ok() ? (*view)->Stat(".") : Result<FileStat>(view.error());
  if (!opened.ok() || !os::SameObject(*opened, root)) {
    visitor_.OnProblem(source.path, opened.ok() ? WasReplaced(source.path) : opened.error());
    return OkStatus();
  }
  COFFER_ASSIGN_OR_RETURN(const bool enter, Visit(**view, ".", source.name, root, root.device));
  std::vector<Frame> frames;
  if (enter) Enter(frames, **view, "", source.name);
  // Both grow and shrink with the depth: one copy of a long path for all levels.
  std::string path;
  std::string name = source.name;
  while (!frames.empty()) {
    Frame& frame = frames.back();
    path.resize(frame.path_size);
    name.resize(frame.name_size);
    if (frame.next == frame.names.size()) {
      frames.pop_back();
      continue;
    }
    const std::string& last = frame.names[frame.next++];
    if (!path.empty()) path += '/';
    path += last;
    if (!name.empty()) name += '/';
    name += last;
    const Result<FileStat> stat = (*view)->StatNoFollow(path);
    if (!stat.ok()) {
      visitor_.OnProblem((*view)->FullPath(path), stat.error());
      continue;
    }
    if (options_.excludes.Matches(name, stat->kind == FileKind::kDirectory)) continue;
    if (IsLeftOut(**view, path, *stat)) continue;
    COFFER_ASSIGN_OR_RETURN(const bool descend, Visit(**view, path, name, *stat, root.device));
    if (descend) Enter(frames, **view, path, name);
  }
  return OkStatus();
}

// Whether a path has nothing about it that a name has not: almost all have not, and some are long.
bool IsPlain(const std::string& path) {
  return !path.empty() && path.front() != '/' && path.front() != '.' && path.back() != '/' &&
         path.find("//") == std::string::npos && path.find("/.") == std::string::npos;
}

// What of `inner` lies below `outer`, if it does; nothing for the same name.
std::optional<std::string> Below(const std::string& outer, const std::string& inner) {
  if (inner == outer) return "";
  if (outer.empty()) return inner;
  if (!inner.starts_with(outer + "/")) return std::nullopt;
  return inner.substr(outer.size() + 1);
}

// As far as the text tells.
bool IsSamePath(const std::string& a, const std::string& b) {
  if (a.starts_with('/') != b.starts_with('/')) return false;
  const Result<std::string> normal_a = NormalizeName(a);
  const Result<std::string> normal_b = NormalizeName(b);
  return normal_a.ok() && normal_b.ok() ? *normal_a == *normal_b : a == b;
}

// The sources without those that others hold under the same names.
Result<std::vector<ScanSource>> WithoutOverlaps(const std::vector<ScanSource>& sources) {
  std::vector<ScanSource> kept;
  for (size_t i = 0; i < sources.size(); ++i) {
    const ScanSource& source = sources[i];
    const Result<std::string> normal = NormalizeName(source.name);
    if (!normal.ok() || *normal != source.name) {
      return Error(ErrorCode::kInvalidArgument, Quote(source.name) + " is no name in a vault");
    }
    bool held = false;
    for (size_t j = 0; j < sources.size(); ++j) {
      const std::optional<std::string> rest = Below(sources[j].name, source.name);
      if (i == j || !rest) continue;
      if (!IsSamePath(JoinPath(sources[j].path, *rest), source.path)) {
        return Error(ErrorCode::kInvalidArgument,
                     Quote(source.path) + " and " + Quote(sources[j].path) +
                         " would have the same names in the vault: add them one by one, under "
                         "names of their own");
      }
      held = held || !rest->empty() || j < i;
    }
    if (!held) kept.push_back(source);
  }
  return kept;
}

}  // namespace

ScannedFile::ScannedFile(std::unique_ptr<os::File> file, const FileStat& stat,
                         std::vector<Hole> holes)
    : file_(std::move(file)), stat_(stat), holes_(std::move(holes)) {}

Result<size_t> ScannedFile::Read(MutableByteSpan out) {
  while (next_hole_ < holes_.size() && holes_[next_hole_].offset == position_) {
    position_ += holes_[next_hole_++].size;
  }
  const uint64_t end = next_hole_ < holes_.size() ? holes_[next_hole_].offset : stat_.size;
  const auto size = static_cast<size_t>(std::min<uint64_t>(out.size(), end - position_));
  if (size == 0) return size_t{0};
  COFFER_ASSIGN_OR_RETURN(const size_t count, file_->ReadAt(position_, out.first(size)));
  position_ += count;
  return count;
}

Result<bool> ScannedFile::FinishReading(Entry& entry) {
  COFFER_ASSIGN_OR_RETURN(const FileStat now, file_->Stat());
  const bool same = position_ == stat_.size && now.size == stat_.size &&
                    now.modify_time == stat_.modify_time && now.change_time == stat_.change_time;
  if (same) return false;
  entry.flags |= vault::kChangedWhileRead;
  entry.size = position_;
  std::erase_if(entry.holes, [&](const Hole& hole) { return hole.offset >= position_; });
  return true;
}

Result<std::string> NormalizeName(const std::string& path) {
  std::string name;
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, Quote(path) + " holds a NUL");
  }
  if (IsPlain(path)) name = path;
  for (size_t start = name.size(); start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string component = path.substr(start, end - start);
    start = end + 1;
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      return Error(ErrorCode::kInvalidArgument,
                   Quote(path) + " has \"..\" in it: say which name it is to have in the vault");
    }
    if (!name.empty()) name += '/';
    name += component;
  }
  if (name.size() > vault::kMaxPathSize) {
    return Error(ErrorCode::kInvalidArgument, "a name is longer than a vault takes");
  }
  return name;
}

Status Scan(FileSystem& file_system, os::Users& users, const std::vector<ScanSource>& sources,
            const ScanOptions& options, ScanVisitor& visitor) {
  COFFER_ASSIGN_OR_RETURN(const std::vector<ScanSource> kept, WithoutOverlaps(sources));
  Scanner scanner(file_system, users, options, visitor);
  for (const ScanSource& source : kept) COFFER_TRY(scanner.ScanOne(source));
  return OkStatus();
}

bool IsUnchanged(const Entry& scanned, const Entry& stored, vault::FileTime stored_scan_started) {
  return scanned.kind == stored.kind && scanned.size == stored.size &&
         scanned.modified == stored.modified && scanned.status_changed.has_value() &&
         scanned.status_changed == stored.status_changed && scanned.inode.has_value() &&
         scanned.inode == stored.inode && scanned.modified < stored_scan_started &&
         *scanned.status_changed < stored_scan_started;
}

}  // namespace coffer::local
