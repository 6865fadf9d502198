// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <limits>

#include "coffer/vault/internal/record_body.h"

namespace coffer::vault::internal {
namespace {

enum Key : uint8_t {
  kPath = 0,
  kKind = 1,
  kMode = 2,
  kOwner = 3,
  kOwnerNames = 4,
  kModified = 5,
  kAccessed = 6,
  kStatusChanged = 7,
  kInode = 8,
  kSize = 9,
  kContentHash = 10,
  kInlineData = 11,
  kBlobs = 12,
  kPieceHashes = 13,
  kHoles = 14,
  kLinkTarget = 15,
  kLinkGroup = 16,
  kAttributes = 17,
  kDevice = 18,
  kFlags = 19,
  kReplaces = 20,
  kLast = kReplaces,
};

constexpr uint64_t kMaxUint32 = std::numeric_limits<uint32_t>::max();
constexpr size_t kHashSize = sizeof(Id);

// Which optional keys an entry has, in order; the keys that all have are among them.
KeySet KeysOf(const Entry& entry) {
  const bool is_file = entry.kind == EntryKind::kFile;
  const bool optional[kLast + 1] = {
      true,
      true,
      true,
      true,
      !entry.user_name.empty() || !entry.group_name.empty(),
      true,
      entry.accessed.has_value(),
      entry.status_changed.has_value(),
      entry.inode.has_value(),
      is_file,
      is_file,
      !entry.inline_data.empty(),
      !entry.blobs.empty(),
      !entry.piece_hashes.empty(),
      !entry.holes.empty(),
      entry.kind == EntryKind::kSymlink,
      entry.link_group.has_value(),
      !entry.attributes.empty(),
      entry.device.has_value(),
      entry.flags != 0,
      !entry.replaces.empty(),
  };
  KeySet keys;
  for (uint64_t key = 0; key <= kLast; ++key) {
    if (optional[key]) keys.Add(key);
  }
  return keys;
}

size_t CountPairs(ByteSpan pairs) {
  CborReader reader(pairs);
  size_t count = 0;
  for (; reader.ok() && !reader.rest().empty(); ++count) {
    reader.Uint();
    reader.Skip();
  }
  COFFER_CHECK(reader.ok());
  return count;
}

void WriteBlobs(const std::vector<Blob>& blobs, CborWriter& writer) {
  writer.Array(blobs.size());
  for (const Blob& blob : blobs) {
    writer.Array(blob.codec == 0 ? 2 : 4);
    writer.Uint(blob.segment);
    writer.Uint(blob.offset);
    if (blob.codec == 0) continue;
    writer.Uint(blob.codec);
    writer.Uint(blob.stored_size);
  }
}

void WriteData(uint64_t key, const Entry& entry, CborWriter& writer) {
  if (key == kSize) writer.Uint(entry.size);
  if (key == kContentHash) writer.ByteString(entry.content_hash);
  if (key == kInlineData) writer.ByteString(entry.inline_data);
  if (key == kBlobs) WriteBlobs(entry.blobs, writer);
  if (key == kPieceHashes) {
    Bytes joined;
    for (const Id& hash : entry.piece_hashes) Append(joined, hash);
    writer.ByteString(joined);
  }
  if (key != kHoles) return;
  writer.Array(entry.holes.size());
  for (const Hole& hole : entry.holes) {
    writer.Array(2);
    writer.Uint(hole.offset);
    writer.Uint(hole.size);
  }
}

void WriteSpecial(uint64_t key, const Entry& entry, CborWriter& writer) {
  if (key == kLinkTarget) writer.ByteString(entry.link_target);
  if (key == kLinkGroup && entry.link_group) writer.Uint(*entry.link_group);
  if (key == kFlags) writer.Uint(entry.flags);
  if (key == kReplaces) WriteRefs(entry.replaces, writer);
  if (key == kDevice && entry.device) {
    writer.Array(2);
    writer.Uint(entry.device->first);
    writer.Uint(entry.device->second);
  }
  if (key != kAttributes) return;
  writer.Array(entry.attributes.size());
  for (const Attribute& attribute : entry.attributes) {
    writer.Array(2);
    writer.ByteString(attribute.name);
    writer.ByteString(attribute.value);
  }
}

void WriteMetadata(uint64_t key, const Entry& entry, CborWriter& writer) {
  if (key == kPath) writer.ByteString(entry.path);
  if (key == kKind) writer.Uint(static_cast<uint64_t>(entry.kind));
  if (key == kMode) writer.Uint(entry.mode);
  if (key == kModified) WriteTime(entry.modified, writer);
  if (key == kAccessed && entry.accessed) WriteTime(*entry.accessed, writer);
  if (key == kStatusChanged && entry.status_changed) WriteTime(*entry.status_changed, writer);
  if (key == kInode && entry.inode) writer.Uint(*entry.inode);
  if (key == kOwner) {
    writer.Array(2);
    writer.Uint(entry.user);
    writer.Uint(entry.group);
  }
  if (key == kOwnerNames) {
    writer.Array(2);
    writer.ByteString(entry.user_name);
    writer.ByteString(entry.group_name);
  }
}

EntryKind ReadKind(CborReader& reader) {
  const uint64_t kind = reader.Uint();
  if (kind > static_cast<uint64_t>(EntryKind::kSocket)) {
    reader.Fail(ErrorCode::kNeedsNewer,
                "an entry of a kind that only a newer coffer knows; update coffer");
    return EntryKind::kFile;
  }
  return static_cast<EntryKind>(kind);
}

// The stored size of a piece that is stored as it is follows from the file's data: FinishBlobs.
std::vector<Blob> ReadBlobs(CborReader& reader) {
  std::vector<Blob> blobs(reader.Array(3));
  for (Blob& blob : blobs) {
    const size_t count = reader.Array(1);
    reader.Require(count == 2 || count == 4, "a blob is malformed");
    blob.segment = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
    blob.offset = reader.Uint();
    if (count != 4) continue;
    reader.Require(reader.Uint() != 0, "a blob names the codec that goes without saying");
    reader.Fail(ErrorCode::kNeedsNewer,
                "data in a form that only a newer coffer knows; update coffer");
  }
  RequireItems(!blobs.empty(), reader);
  return blobs;
}

std::vector<Id> ReadPieceHashes(CborReader& reader) {
  const ByteSpan joined = reader.ByteString();
  reader.Require(joined.size() % kHashSize == 0, "the hashes of pieces are cut off");
  RequireItems(!joined.empty(), reader);
  std::vector<Id> hashes(reader.ok() ? joined.size() / kHashSize : 0);
  for (size_t i = 0; i < hashes.size(); ++i) {
    std::ranges::copy(joined.subspan(i * kHashSize, kHashSize), hashes[i].begin());
  }
  return hashes;
}

std::vector<Hole> ReadHoles(CborReader& reader) {
  std::vector<Hole> holes(reader.Array(3));
  for (Hole& hole : holes) {
    reader.ArrayOf(2);
    hole.offset = reader.Uint();
    hole.size = reader.Uint();
  }
  RequireItems(!holes.empty(), reader);
  return holes;
}

std::vector<Attribute> ReadAttributes(CborReader& reader) {
  std::vector<Attribute> attributes(reader.Array(3));
  for (Attribute& attribute : attributes) {
    reader.ArrayOf(2);
    attribute.name = AsText(reader.ByteString());
    const ByteSpan value = reader.ByteString();
    attribute.value.assign(value.begin(), value.end());
  }
  RequireItems(!attributes.empty(), reader);
  return attributes;
}

uint32_t ReadFlags(CborReader& reader) {
  const uint64_t flags = reader.Uint();
  RequireItems(flags != 0, reader);
  if ((flags & ~uint64_t{kChangedWhileRead}) != 0) {
    reader.Fail(ErrorCode::kNeedsNewer, "a flag that only a newer coffer knows; update coffer");
  }
  return static_cast<uint32_t>(flags);
}

void ReadData(uint64_t key, CborReader& reader, Entry& entry) {
  if (key == kSize) entry.size = reader.Uint();
  if (key == kContentHash) reader.ByteStringInto(entry.content_hash);
  if (key == kBlobs) entry.blobs = ReadBlobs(reader);
  if (key == kPieceHashes) entry.piece_hashes = ReadPieceHashes(reader);
  if (key == kHoles) entry.holes = ReadHoles(reader);
  if (key != kInlineData) return;
  const ByteSpan data = reader.ByteString();
  RequireItems(!data.empty(), reader);
  entry.inline_data.assign(data.begin(), data.end());
}

void ReadSpecial(uint64_t key, CborReader& reader, Entry& entry) {
  if (key == kLinkTarget) entry.link_target = AsText(reader.ByteString());
  if (key == kLinkGroup) entry.link_group = reader.Uint();
  if (key == kAttributes) entry.attributes = ReadAttributes(reader);
  if (key == kFlags) entry.flags = ReadFlags(reader);
  if (key == kDevice) {
    reader.ArrayOf(2);
    const uint64_t major = reader.Uint();
    entry.device = {major, reader.Uint()};
  }
  if (key != kReplaces) return;
  entry.replaces = ReadRefs(reader);
  RequireItems(!entry.replaces.empty(), reader);
}

void ReadMetadata(uint64_t key, CborReader& reader, Entry& entry) {
  if (key == kPath) entry.path = ReadPath(reader);
  if (key == kKind) entry.kind = ReadKind(reader);
  if (key == kMode) entry.mode = static_cast<uint32_t>(reader.UintUpTo(07777));
  if (key == kModified) entry.modified = ReadTime(reader);
  if (key == kAccessed) entry.accessed = ReadTime(reader);
  if (key == kStatusChanged) entry.status_changed = ReadTime(reader);
  if (key == kInode) entry.inode = reader.Uint();
  if (key == kOwner) {
    reader.ArrayOf(2);
    entry.user = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
    entry.group = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
  }
  if (key == kOwnerNames) {
    reader.ArrayOf(2);
    entry.user_name = AsText(reader.ByteString());
    entry.group_name = AsText(reader.ByteString());
    RequireItems(!entry.user_name.empty() || !entry.group_name.empty(), reader);
  }
}

// Whatever the holes are: the rules that say whether they are possible come later.
void FinishBlobs(Entry& entry) {
  uint64_t rest = entry.data_size();
  for (Blob& blob : entry.blobs) {
    blob.stored_size = std::min(rest, kPieceSize);
    rest -= blob.stored_size;
  }
}

}  // namespace

void WriteEntry(const Entry& entry, CborWriter& writer) {
  const KeySet keys = KeysOf(entry);
  size_t count = CountPairs(entry.extra);
  for (uint64_t key = 0; key <= kLast; ++key) count += keys.Has(key) ? 1U : 0U;
  writer.Map(count);
  for (uint64_t key = 0; key <= kLast; ++key) {
    if (!keys.Has(key)) continue;
    writer.Uint(key);
    if (key <= kInode) {
      WriteMetadata(key, entry, writer);
    } else if (key <= kHoles) {
      WriteData(key, entry, writer);
    } else {
      WriteSpecial(key, entry, writer);
    }
  }
  writer.Raw(entry.extra);
}

Entry ReadEntry(CborReader& reader) {
  Entry entry;
  KeySet keys;
  CborMap map(reader);
  while (const std::optional<uint64_t> key = map.Next()) {
    keys.Add(*key);
    if (*key <= kInode) {
      ReadMetadata(*key, reader, entry);
    } else if (*key <= kHoles) {
      ReadData(*key, reader, entry);
    } else if (*key <= kLast) {
      ReadSpecial(*key, reader, entry);
    } else {
      Append(entry.extra, map.Unknown());
    }
  }
  const bool is_file = entry.kind == EntryKind::kFile;
  reader.Require(keys.HasAllUpTo(kOwner) && keys.Has(kModified), "an entry lacks a field");
  for (uint64_t key = kSize; key <= kHoles; ++key) {
    reader.Require(is_file || !keys.Has(key), "an entry has data and is no file");
  }
  reader.Require(!is_file || (keys.Has(kSize) && keys.Has(kContentHash)),
                 "a file lacks its size or its hash");
  reader.Require(keys.Has(kLinkTarget) == (entry.kind == EntryKind::kSymlink),
                 "an entry has a target and is no symbolic link, or the other way round");
  if (reader.ok()) FinishBlobs(entry);
  return entry;
}

}  // namespace coffer::vault::internal
