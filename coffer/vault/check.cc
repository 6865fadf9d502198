// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/check.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "coffer/base/parallel.h"
#include "coffer/crypto/sha2.h"
#include "coffer/vault/content_reader.h"
#include "coffer/vault/key_file.h"

namespace coffer::vault {
namespace {

constexpr size_t kReadSize = size_t{1} << 20;
constexpr size_t kMaxSmallFile = size_t{64} << 10;

struct Named {
  ObjectClass object_class;
  Id id{};
  uint64_t size = 0;
};

std::optional<Named> NameOf(const store::ObjectInfo& info) {
  for (const ObjectClass object_class :
       {ObjectClass::kSegment, ObjectClass::kCommit, ObjectClass::kCheckpoint}) {
    if (const auto id = IdOfKey(object_class, info.key)) return Named{object_class, *id, info.size};
  }
  return std::nullopt;
}

// Reads an object from front to back into a hash.
Result<Id> HashOf(store::StoredObject& object, const CheckProgress& progress) {
  COFFER_ASSIGN_OR_RETURN(crypto::Sha2Hasher hasher,
                          crypto::Sha2Hasher::Create(crypto::Sha2::kSha256));
  Bytes buffer(static_cast<size_t>(std::min<uint64_t>(kReadSize, object.size())));
  for (uint64_t offset = 0; offset < object.size();) {
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(buffer.size(), object.size() - offset));
    COFFER_ASSIGN_OR_RETURN(const size_t count,
                            object.ReadAt(offset, MutableByteSpan(buffer).first(size)));
    if (count != size) return Error(ErrorCode::kDamaged, "it ends early");
    COFFER_TRY(hasher.Update(ByteSpan(buffer).first(size)));
    offset += size;
    progress(size);
  }
  Id id;
  COFFER_TRY(hasher.Finish(id));
  return id;
}

Result<std::optional<Finding>> CheckObject(store::Store& store, const Named& named,
                                           const CheckProgress& progress) {
  const std::string key = ObjectKey(named.object_class, named.id);
  Result<std::unique_ptr<store::StoredObject>> object = store.Open(key);
  Result<Id> hash = object.ok() ? HashOf(**object, progress) : Result<Id>(object.error());
  if (!hash.ok()) {
    // What the disk does not give back is damage of this object; the others may be whole.
    const bool gone = hash.error().code() == ErrorCode::kNotFound;
    return std::optional<Finding>(
        {gone ? FindingClass::kMissing : FindingClass::kDamaged, key, hash.error().message(), {}});
  }
  if (*hash == named.id) return std::optional<Finding>();
  return std::optional<Finding>(
      {FindingClass::kDamaged,
       key,
       named.size == 0 ? "it is empty" : "its bytes are not those it is named for",
       {}});
}

void CheckKeyFile(store::Store& store, const std::string& key, std::vector<Finding>& findings) {
  const Result<Bytes> bytes = store::ReadObject(store, key, kMaxSmallFile);
  const Status parsed = [&]() -> Status {
    if (!bytes.ok()) return bytes.error();
    const Result<KeyFile> file = KeyFile::Parse(*bytes);
    return file.ok() ? OkStatus() : Status(file.error());
  }();
  if (parsed.ok()) return;
  const bool newer = parsed.error().code() == ErrorCode::kNeedsNewer;
  findings.push_back({newer ? FindingClass::kNeedsNewer : FindingClass::kDamaged,
                      key,
                      parsed.error().message(),
                      {}});
}

void CheckVaultFile(store::Store& store, std::vector<Finding>& findings) {
  const Result<Bytes> bytes = ReadVaultFile(store);
  const Status parsed = [&]() -> Status {
    if (!bytes.ok()) return bytes.error();
    const Result<VaultFile> file = ParseVaultFile(*bytes);
    return file.ok() ? OkStatus() : Status(file.error());
  }();
  if (parsed.ok()) return;
  FindingClass what = FindingClass::kDamaged;
  if (parsed.error().code() == ErrorCode::kNeedsNewer) what = FindingClass::kNeedsNewer;
  if (parsed.error().code() == ErrorCode::kNotFound) what = FindingClass::kMissing;
  findings.push_back({what, std::string(kVaultFileKey), parsed.error().message(), {}});
}

bool IsPartOfVault(const store::ObjectInfo& info) {
  if (info.kind == store::EntryKind::kDirectory) return true;
  if (info.kind != store::EntryKind::kObject) return false;
  return info.key == kVaultFileKey || info.key == "reserve" || NameOf(info).has_value() ||
         (info.key.starts_with("condemned/") && info.size == 0) ||
         (info.key.starts_with("keys/") && info.key.ends_with(".key"));
}

// The files of the current state that use each segment.
class SegmentUsers {
 public:
  explicit SegmentUsers(const State& state) {
    for (const Version& version : state.versions()) {
      for (const Blob& blob : version.entry.blobs) {
        std::vector<const std::string*>& users = users_[state.segments().at(blob.segment).id];
        if (users.empty() || users.back() != &version.entry.path) {
          users.push_back(&version.entry.path);
        }
      }
    }
  }

  [[nodiscard]] std::vector<std::string> Of(const Id& segment) const {
    const auto found = users_.find(segment);
    if (found == users_.end()) return {};
    std::vector<std::string> paths;
    paths.reserve(found->second.size());
    for (const std::string* path : found->second) paths.push_back(*path);
    return paths;
  }

  [[nodiscard]] const std::map<Id, std::vector<const std::string*>>& all() const { return users_; }

 private:
  std::map<Id, std::vector<const std::string*>> users_;
};

}  // namespace

ObjectFilter AllObjects() {
  return [](ObjectClass, const Id&) { return true; };
}

ObjectFilter SomeSegments(int percent, os::Random& random) {
  // Which ones are drawn anew each time: a key for a hash of the id.
  Id key;
  random.Fill(key);
  return [percent, key](ObjectClass object_class, const Id& id) {
    if (object_class != ObjectClass::kSegment) return true;
    Bytes both(key.begin(), key.end());
    Append(both, id);
    const auto digest = crypto::Sha256(both);
    if (!digest.ok()) return true;
    const uint32_t drawn = uint32_t{(*digest)[0]} << 8 | (*digest)[1];
    return drawn * 100 < static_cast<uint32_t>(percent) * 65536;
  };
}

Result<CheckCounts> CheckNames(store::Store& store, const ObjectFilter& filter,
                               const CheckProgress& progress, std::vector<Finding>& findings) {
  CheckVaultFile(store, findings);
  COFFER_ASSIGN_OR_RETURN(const std::vector<store::ObjectInfo> listed, store.List(""));
  std::vector<Named> objects;
  CheckCounts counts;
  for (const store::ObjectInfo& info : listed) {
    if (!IsPartOfVault(info)) {
      findings.push_back({FindingClass::kStranger, info.key, "not part of a vault", {}});
      continue;
    }
    if (info.key.starts_with("keys/") && info.kind == store::EntryKind::kObject) {
      CheckKeyFile(store, info.key, findings);
    }
    const std::optional<Named> named = NameOf(info);
    if (!named || !filter(named->object_class, named->id)) continue;
    objects.push_back(*named);
    ++counts.object_count;
    counts.size += info.size;
  }
  std::mutex mutex;
  COFFER_TRY(RunInParallel(objects.size(), [&](size_t i) -> Status {
    COFFER_ASSIGN_OR_RETURN(std::optional<Finding> finding,
                            CheckObject(store, objects[i], progress));
    if (!finding) return OkStatus();
    const std::lock_guard lock(mutex);
    findings.push_back(*std::move(finding));
    return OkStatus();
  }));
  std::ranges::sort(findings, {},
                    [](const Finding& finding) { return std::pair(finding.key, finding.message); });
  return counts;
}

Status CheckReferences(Vault& vault, std::vector<Finding>& findings) {
  const State& state = vault.state();
  const SegmentUsers users(state);
  COFFER_ASSIGN_OR_RETURN(const std::vector<store::ObjectInfo> listed,
                          vault.store().List("segments"));
  std::map<Id, uint64_t> sizes;
  for (const store::ObjectInfo& info : listed) {
    if (info.kind != store::EntryKind::kObject) continue;
    if (const auto id = IdOfKey(ObjectClass::kSegment, info.key)) sizes.emplace(*id, info.size);
  }
  std::set<Id> damaged;
  for (Finding& finding : findings) {
    const auto id = IdOfKey(ObjectClass::kSegment, finding.key);
    if (!id) continue;
    damaged.insert(*id);
    finding.paths = users.Of(*id);
  }
  // Also those that only earlier versions use: their loss is a loss of history.
  std::map<Id, uint64_t> referred;
  const SegmentTable& segments = state.segments();
  for (const auto& [id, paths] : users.all()) {
    if (const auto number = segments.Find(id)) {
      referred.emplace(id, segments.at(*number).object_size);
    }
  }
  COFFER_TRY(vault.VisitCommits([&referred](const CommitInfo&, const Commit& commit) {
    for (const KnownSegment& known : commit.segments) referred.emplace(known.id, known.object_size);
  }));
  for (const auto& [id, object_size] : referred) {
    const auto found = sizes.find(id);
    if (found == sizes.end()) {
      std::vector<std::string> paths = users.Of(id);
      const char* const message = paths.empty()
                                      ? "it is not there; only earlier versions of files need it"
                                      : "it is not there";
      findings.push_back({FindingClass::kMissing, ObjectKey(ObjectClass::kSegment, id), message,
                          std::move(paths)});
      continue;
    }
    if (found->second != object_size && !damaged.contains(id)) {
      findings.push_back({FindingClass::kDamaged, ObjectKey(ObjectClass::kSegment, id),
                          "it has " + std::to_string(found->second) + " bytes in place of " +
                              std::to_string(object_size),
                          users.Of(id)});
    }
    sizes.erase(found);
  }
  for (const auto& [id, size] : sizes) {
    if (damaged.contains(id)) continue;
    findings.push_back({FindingClass::kUnreferenced,
                        ObjectKey(ObjectClass::kSegment, id),
                        "nothing refers to it",
                        {}});
  }
  return OkStatus();
}

Status CheckData(Vault& vault, const ObjectFilter& filter, const CheckProgress& progress,
                 std::vector<Finding>& findings) {
  const State& state = vault.state();
  ContentReader reader(vault.store(), state.segments());
  const std::vector<Version>& versions = state.versions();
  std::mutex mutex;
  return RunInParallel(versions.size(), [&](size_t i) -> Status {
    const Entry& entry = versions[i].entry;
    if (entry.kind != EntryKind::kFile) return OkStatus();
    const bool is_wanted = std::ranges::all_of(entry.blobs, [&](const Blob& blob) {
      return filter(ObjectClass::kSegment, state.segments().at(blob.segment).id);
    });
    if (!is_wanted) return OkStatus();
    const Status read = reader.Read(entry, [&](uint64_t, ByteSpan bytes) {
      progress(bytes.size());
      return OkStatus();
    });
    if (read.ok()) return OkStatus();
    const std::lock_guard lock(mutex);
    findings.push_back({read.error().code() == ErrorCode::kNotFound ? FindingClass::kMissing
                                                                    : FindingClass::kDamaged,
                        "",
                        read.error().message(),
                        {entry.path}});
    return OkStatus();
  });
}

}  // namespace coffer::vault
