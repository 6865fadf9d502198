// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/internal/record_rules.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace coffer::vault::internal {
namespace {

Status Broken(bool right, std::string_view rule) {
  if (right) return OkStatus();
  return Error(ErrorCode::kDamaged, std::string(rule));
}

template <class Range, class Projection>
bool Ascends(const Range& range, Projection projection) {
  return std::ranges::adjacent_find(range, [&](const auto& a, const auto& b) {
           return !(std::invoke(projection, a) < std::invoke(projection, b));
         }) == std::ranges::end(range);
}

bool IsTime(const FileTime& time) { return time.nanoseconds < kNanosecondsPerSecond; }

bool IsTime(const std::optional<FileTime>& time) { return !time || IsTime(*time); }

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool AreRefs(std::span<const VersionRef> refs, size_t table_size) {
  return Ascends(refs, std::identity()) &&
         std::ranges::all_of(refs, [&](const VersionRef& ref) { return ref.commit < table_size; });
}

// Sizes up to kMaxObjectSize, so that sums of two do not overflow.
bool AreHoles(const Entry& entry) {
  uint64_t end = 0;
  for (const Hole& hole : entry.holes) {
    const bool first = &hole == entry.holes.data();
    if (hole.size == 0 || (!first && hole.offset <= end)) return false;
    if (hole.offset > entry.size || hole.size > entry.size - hole.offset) return false;
    end = hole.offset + hole.size;
  }
  return true;
}

Status CheckBlob(const Blob& blob, uint64_t piece_size, size_t segment_count) {
  COFFER_TRY(Broken(blob.segment < segment_count, "a blob is in a segment beyond the table"));
  COFFER_TRY(Broken(blob.offset <= kMaxObjectSize, "a blob is beyond the end of any object"));
  if (blob.codec == 0) {
    return Broken(blob.stored_size == piece_size, "a blob has not the size of its piece");
  }
  return Broken(blob.stored_size <= kMaxObjectSize, "a blob is larger than any object");
}

Status CheckData(const Entry& entry, size_t segment_count) {
  COFFER_TRY(Broken(entry.size < uint64_t{1} << 63, "a file is larger than any file"));
  COFFER_TRY(Broken(AreHoles(entry), "the holes of a file are not ascending, apart and within it"));
  const uint64_t data = entry.data_size();
  const uint64_t pieces = data / kPieceSize + (data % kPieceSize != 0 ? 1 : 0);
  if (entry.inline_data.empty()) {
    COFFER_TRY(Broken(entry.blobs.size() == pieces, "a file has not one blob for each piece"));
  } else {
    COFFER_TRY(Broken(entry.blobs.empty(), "a file's data is both in its entry and in blobs"));
    COFFER_TRY(Broken(entry.inline_data.size() == data, "data in an entry has not its size"));
  }
  COFFER_TRY(Broken(entry.piece_hashes.size() == (pieces >= 2 ? pieces : 0),
                    "a file has not one hash for each piece"));
  for (size_t i = 0; i < entry.blobs.size(); ++i) {
    const uint64_t piece_size = std::min(kPieceSize, data - i * kPieceSize);
    COFFER_TRY(CheckBlob(entry.blobs[i], piece_size, segment_count));
  }
  return OkStatus();
}

Status CheckKind(const Entry& entry) {
  const bool is_link = entry.kind == EntryKind::kSymlink;
  const bool is_device =
      entry.kind == EntryKind::kCharacterDevice || entry.kind == EntryKind::kBlockDevice;
  COFFER_TRY(Broken(is_link != entry.link_target.empty(),
                    "an entry has a target and is no symbolic link, or the other way round"));
  COFFER_TRY(Broken(!HasNul(entry.link_target), "the target of a symbolic link has a NUL"));
  COFFER_TRY(Broken(is_device == entry.device.has_value(),
                    "an entry has a device's numbers and is no device, or the other way round"));
  COFFER_TRY(Broken(entry.kind != EntryKind::kDirectory || !entry.link_group,
                    "a directory has several links"));
  if (entry.kind == EntryKind::kFile) return OkStatus();
  const bool has_data = entry.size != 0 || entry.content_hash != Id{} ||
                        !entry.inline_data.empty() || !entry.blobs.empty() ||
                        !entry.piece_hashes.empty() || !entry.holes.empty();
  return Broken(!has_data, "an entry has data and is no file");
}

Status CheckVector(std::span<const WriterSeq> vector) {
  COFFER_TRY(Broken(Ascends(vector, &WriterSeq::writer), "writers are not ascending"));
  return Broken(std::ranges::all_of(vector, [](const WriterSeq& item) { return item.seq != 0; }),
                "a commit's number is 0");
}

Status CheckObjects(std::span<const KnownObject> known) {
  COFFER_TRY(Broken(Ascends(known, &KnownObject::id), "known objects are not ascending"));
  return Broken(std::ranges::all_of(
                    known, [](const auto& item) { return item.header_size <= kMaxObjectSize; }),
                "a header is larger than any object");
}

Status CheckSegments(std::span<const KnownSegment> segments) {
  COFFER_TRY(Broken(Ascends(segments, &KnownSegment::id), "segments are not ascending"));
  return Broken(std::ranges::all_of(segments,
                                    [](const KnownSegment& item) {
                                      return item.object_size <= kMaxObjectSize &&
                                             item.header_size < item.object_size;
                                    }),
                "a segment is larger than any object, or no larger than its header");
}

// Both ascend by path.
bool ShareAPath(const Commit& commit) {
  auto removal = commit.removals.begin();
  for (const Entry& entry : commit.entries) {
    while (removal != commit.removals.end() && removal->path < entry.path) ++removal;
    if (removal == commit.removals.end()) return false;
    if (removal->path == entry.path) return true;
  }
  return false;
}

Status CheckCommitTables(const Commit& commit) {
  COFFER_TRY(CheckVector(commit.vector));
  COFFER_TRY(Broken(
      std::ranges::none_of(commit.vector,
                           [&](const WriterSeq& item) { return item.writer == commit.writer; }),
      "a commit names its own writer among the others"));
  COFFER_TRY(CheckObjects(commit.known));
  COFFER_TRY(CheckSegments(commit.segments));
  COFFER_TRY(Broken(Ascends(commit.pins, &Pin::commit), "pins are not ascending"));
  return Broken(Ascends(commit.referred_commits, std::identity()),
                "commits that are referred to are not ascending");
}

}  // namespace

Status CheckEntry(const Entry& entry, const TableSizes& tables) {
  COFFER_TRY(Broken(IsValidPath(entry.path), "the path of an entry is malformed"));
  COFFER_TRY(Broken(entry.mode <= 07777, "an entry has more than the twelve permission bits"));
  COFFER_TRY(
      Broken(IsTime(entry.modified) && IsTime(entry.accessed) && IsTime(entry.status_changed),
             "a time has a second's nanoseconds or more"));
  COFFER_TRY(CheckKind(entry));
  if (entry.kind == EntryKind::kFile) COFFER_TRY(CheckData(entry, tables.segments));
  COFFER_TRY(Broken(Ascends(entry.attributes, &Attribute::name), "attributes are not ascending"));
  for (const Attribute& attribute : entry.attributes) {
    COFFER_TRY(Broken(!attribute.name.empty() && !HasNul(attribute.name),
                      "the name of an attribute is malformed"));
  }
  return Broken(AreRefs(entry.replaces, tables.referred_commits),
                "replaced versions are not ascending, or beyond the table");
}

Status CheckCommit(const Commit& commit) {
  COFFER_TRY(Broken(commit.seq != 0, "a commit's number is 0"));
  COFFER_TRY(Broken(commit.previous.has_value() == (commit.seq != 1),
                    "a commit names the one before and is the first, or the other way round"));
  COFFER_TRY(Broken(IsTime(commit.time) && IsTime(commit.scan_started) && IsTime(commit.horizon),
                    "a time has a second's nanoseconds or more"));
  COFFER_TRY(CheckCommitTables(commit));
  const TableSizes tables = {.segments = commit.segments.size(),
                             .referred_commits = commit.referred_commits.size()};
  COFFER_TRY(Broken(Ascends(commit.entries, &Entry::path), "entries are not ascending by path"));
  for (const Entry& entry : commit.entries) COFFER_TRY(CheckEntry(entry, tables));
  COFFER_TRY(
      Broken(Ascends(commit.removals, &Removal::path), "removals are not ascending by path"));
  for (const Removal& removal : commit.removals) {
    COFFER_TRY(Broken(IsValidPath(removal.path), "the path of a removal is malformed"));
    COFFER_TRY(Broken(!removal.versions.empty(), "a removal removes nothing"));
    COFFER_TRY(Broken(AreRefs(removal.versions, tables.referred_commits),
                      "removed versions are not ascending, or beyond the table"));
  }
  return Broken(!ShareAPath(commit), "a path is both added and removed");
}

Status CheckCheckpoint(const Checkpoint& checkpoint) {
  COFFER_TRY(CheckVector(checkpoint.vector));
  COFFER_TRY(CheckSegments(checkpoint.segments));
  COFFER_TRY(CheckObjects(checkpoint.bases));
  bool times = IsTime(checkpoint.time) && IsTime(checkpoint.horizon);
  for (const CoveredCommit& covered : checkpoint.covered) {
    times = times && IsTime(covered.time) && IsTime(covered.scan_started);
    COFFER_TRY(Broken(covered.seq != 0, "a commit's number is 0"));
    COFFER_TRY(Broken(covered.header_size <= kMaxObjectSize, "a header is larger than any object"));
  }
  for (const PinState& pin : checkpoint.pins) times = times && IsTime(pin.time);
  COFFER_TRY(Broken(times, "a time has a second's nanoseconds or more"));
  COFFER_TRY(
      Broken(Ascends(checkpoint.covered, &CoveredCommit::id), "covered commits are not ascending"));
  COFFER_TRY(Broken(Ascends(checkpoint.referred_commits, std::identity()),
                    "commits that are referred to are not ascending"));
  COFFER_TRY(Broken(Ascends(checkpoint.pins, [](const PinState& pin) { return pin.pin.commit; }),
                    "pins are not ascending"));
  COFFER_TRY(Broken(Ascends(checkpoint.entries,
                            [](const CheckpointEntry& item) {
                              return std::tuple(std::string_view(item.entry.path), item.version);
                            }),
                    "versions are not ascending"));
  for (const CheckpointEntry& item : checkpoint.entries) {
    COFFER_TRY(Broken(item.version.commit < checkpoint.covered.size(),
                      "a version is of a commit beyond the table"));
    COFFER_TRY(Broken(item.entry.replaces.empty(), "an entry of a checkpoint replaces others"));
    COFFER_TRY(CheckEntry(item.entry, {.segments = checkpoint.segments.size()}));
  }
  return Broken(AreRefs(checkpoint.tombstones, checkpoint.referred_commits.size()),
                "tombstones are not ascending, or beyond the table");
}

Status CheckSegmentIndex(const SegmentIndex& index) {
  uint64_t offset = 0;
  for (const IndexedBlob& blob : index.blobs) {
    COFFER_TRY(Broken(blob.offset == offset, "blobs do not stand back to back"));
    COFFER_TRY(Broken(blob.size != 0 && blob.size <= kPieceSize, "a piece has a wrong size"));
    COFFER_TRY(Broken(blob.stored_size <= kMaxObjectSize - offset, "a blob is too large"));
    COFFER_TRY(Broken(blob.codec != 0 || blob.stored_size == blob.size,
                      "a blob has not the size of its piece"));
    offset += blob.stored_size;
  }
  return OkStatus();
}

}  // namespace coffer::vault::internal
