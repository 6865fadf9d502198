// SPDX-License-Identifier: Apache-2.0
// The bodies of records without what frames them, and the fields that several of them have. Reading
// a body checks everything but the MAC and the vault: for the decoder after it did that, and for
// tests and fuzzers.
#pragma once

#include <string>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/vault/cbor.h"
#include "coffer/vault/records.h"

namespace coffer::vault::internal {

void WriteCommitBody(const Commit& commit, CborWriter& writer);
void WriteCheckpointBody(const Checkpoint& checkpoint, CborWriter& writer);
void WriteSegmentIndexBody(const SegmentIndex& index, CborWriter& writer);

// kDamaged or kNeedsNewer.
Result<Commit> ReadCommitBody(ByteSpan body);
Result<Checkpoint> ReadCheckpointBody(ByteSpan body);
Result<SegmentIndex> ReadSegmentIndexBody(ByteSpan body);

// Keys of a map that are there, for those that must be: bit n for key n below 64.
class KeySet {
 public:
  void Add(uint64_t key) { keys_ |= key < 64 ? uint64_t{1} << key : 0; }
  [[nodiscard]] bool Has(uint64_t key) const { return (keys_ >> key & 1) != 0; }
  [[nodiscard]] bool HasAllUpTo(uint64_t last) const {
    const uint64_t all = (uint64_t{2} << last) - 1;
    return (keys_ & all) == all;
  }

 private:
  uint64_t keys_ = 0;
};

// Fields. Times are two items, in an array of their own or in that of their record.
void WriteTimeItems(const FileTime& time, CborWriter& writer);
void WriteTime(const FileTime& time, CborWriter& writer);
void WriteIds(const std::vector<Id>& ids, CborWriter& writer);
void WriteVector(const std::vector<WriterSeq>& vector, CborWriter& writer);
void WriteKnown(const std::vector<KnownObject>& known, CborWriter& writer);
void WriteSegments(const std::vector<KnownSegment>& segments, CborWriter& writer);
void WriteRefs(const std::vector<VersionRef>& refs, CborWriter& writer);
void WriteEntry(const Entry& entry, CborWriter& writer);

FileTime ReadTimeItems(CborReader& reader);
FileTime ReadTime(CborReader& reader);
void ReadFileKey(CborReader& reader, age::FileKey& key);
uint64_t ReadCapability(CborReader& reader);  // kNeedsNewer unless it is the owner's
std::vector<Id> ReadIds(CborReader& reader);
std::vector<WriterSeq> ReadVector(CborReader& reader);
std::vector<KnownObject> ReadKnown(CborReader& reader);
std::vector<KnownSegment> ReadSegments(CborReader& reader);
std::vector<VersionRef> ReadRefs(CborReader& reader);
Entry ReadEntry(CborReader& reader);

std::string ReadPath(CborReader& reader);

// An array under an optional key is only there if it has items.
void RequireItems(bool has_items, CborReader& reader);

}  // namespace coffer::vault::internal
