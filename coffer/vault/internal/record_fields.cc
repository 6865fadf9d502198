// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "coffer/vault/internal/record_body.h"

namespace coffer::vault::internal {
namespace {

constexpr uint64_t kMaxUint32 = std::numeric_limits<uint32_t>::max();

// The smallest encodings: heads and the bytes of identifiers.
constexpr size_t kIdItemSize = 2 + 32;
constexpr size_t kWriterItemSize = 1 + 16;
constexpr size_t kFileKeyItemSize = 1 + 16;

}  // namespace

void WriteTimeItems(const FileTime& time, CborWriter& writer) {
  writer.Int(time.seconds);
  writer.Uint(time.nanoseconds);
}

void WriteTime(const FileTime& time, CborWriter& writer) {
  writer.Array(2);
  WriteTimeItems(time, writer);
}

void WriteIds(const std::vector<Id>& ids, CborWriter& writer) {
  writer.Array(ids.size());
  for (const Id& id : ids) writer.ByteString(id);
}

void WriteVector(const std::vector<WriterSeq>& vector, CborWriter& writer) {
  writer.Array(vector.size());
  for (const WriterSeq& item : vector) {
    writer.Array(2);
    writer.ByteString(item.writer);
    writer.Uint(item.seq);
  }
}

void WriteKnown(const std::vector<KnownObject>& known, CborWriter& writer) {
  writer.Array(known.size());
  for (const KnownObject& item : known) {
    writer.Array(3);
    writer.ByteString(item.id);
    writer.Uint(item.header_size);
    writer.ByteString(item.file_key.Expose());
  }
}

void WriteSegments(const std::vector<KnownSegment>& segments, CborWriter& writer) {
  writer.Array(segments.size());
  for (const KnownSegment& item : segments) {
    writer.Array(4);
    writer.ByteString(item.id);
    writer.Uint(item.object_size);
    writer.Uint(item.header_size);
    writer.ByteString(item.file_key.Expose());
  }
}

void WriteRefs(const std::vector<VersionRef>& refs, CborWriter& writer) {
  writer.Array(refs.size());
  for (const VersionRef& ref : refs) {
    writer.Array(2);
    writer.Uint(ref.commit);
    writer.Uint(ref.index);
  }
}

FileTime ReadTimeItems(CborReader& reader) {
  FileTime time;
  time.seconds = reader.Int();
  time.nanoseconds = static_cast<uint32_t>(reader.UintUpTo(999'999'999));
  return time;
}

FileTime ReadTime(CborReader& reader) {
  reader.ArrayOf(2);
  return ReadTimeItems(reader);
}

void ReadFileKey(CborReader& reader, age::FileKey& key) {
  reader.ByteStringInto(key.ExposeMutable());
}

uint64_t ReadCapability(CborReader& reader) {
  const uint64_t capability = reader.UintUpTo(0xff);
  if (capability != kOwnerCapability) {
    reader.Fail(ErrorCode::kNeedsNewer,
                "a writer of a kind that only a newer coffer knows; update coffer");
  }
  return capability;
}

std::vector<Id> ReadIds(CborReader& reader) {
  std::vector<Id> ids(reader.Array(kIdItemSize));
  for (Id& id : ids) reader.ByteStringInto(id);
  return ids;
}

std::vector<WriterSeq> ReadVector(CborReader& reader) {
  std::vector<WriterSeq> vector(reader.Array(kWriterItemSize + 2));
  for (WriterSeq& item : vector) {
    reader.ArrayOf(2);
    reader.ByteStringInto(item.writer);
    item.seq = reader.Uint();
  }
  return vector;
}

std::vector<KnownObject> ReadKnown(CborReader& reader) {
  std::vector<KnownObject> known(reader.Array(kIdItemSize + kFileKeyItemSize + 2));
  for (KnownObject& item : known) {
    reader.ArrayOf(3);
    reader.ByteStringInto(item.id);
    item.header_size = reader.Uint();
    ReadFileKey(reader, item.file_key);
  }
  return known;
}

std::vector<KnownSegment> ReadSegments(CborReader& reader) {
  std::vector<KnownSegment> segments(reader.Array(kIdItemSize + kFileKeyItemSize + 3));
  for (KnownSegment& item : segments) {
    reader.ArrayOf(4);
    reader.ByteStringInto(item.id);
    item.object_size = reader.Uint();
    item.header_size = reader.Uint();
    ReadFileKey(reader, item.file_key);
  }
  return segments;
}

std::vector<VersionRef> ReadRefs(CborReader& reader) {
  std::vector<VersionRef> refs(reader.Array(3));
  for (VersionRef& ref : refs) {
    reader.ArrayOf(2);
    ref.commit = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
    ref.index = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
  }
  return refs;
}

std::string ReadPath(CborReader& reader) {
  const ByteSpan path = reader.ByteString();
  reader.Require(path.size() <= kMaxPathSize, "a path is too long");
  return reader.ok() ? std::string(AsText(path)) : std::string();
}

void RequireItems(bool has_items, CborReader& reader) {
  reader.Require(has_items, "an optional field is there and empty");
}

}  // namespace coffer::vault::internal
