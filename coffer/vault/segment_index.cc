// SPDX-License-Identifier: Apache-2.0
// The index and the trailer of a segment.
#include <algorithm>
#include <array>
#include <string_view>

#include "coffer/base/endian.h"
#include "coffer/vault/internal/record_body.h"
#include "coffer/vault/internal/record_frame.h"
#include "coffer/vault/internal/record_rules.h"
#include "coffer/vault/records.h"

namespace coffer::vault {
namespace {

enum Key : uint8_t { kVault = 0, kWriter = 1, kCapability = 2, kBlobs = 3 };

constexpr std::string_view kTrailerMagic = "cofsegm1";
constexpr size_t kMinBlobSize = 1 + 4 + 34;

std::vector<IndexedBlob> ReadBlobs(CborReader& reader) {
  std::vector<IndexedBlob> blobs(reader.Array(kMinBlobSize));
  for (IndexedBlob& blob : blobs) {
    reader.ArrayOf(5);
    blob.offset = reader.Uint();
    blob.stored_size = reader.Uint();
    blob.size = reader.Uint();
    blob.codec = reader.Uint();
    reader.ByteStringInto(blob.hash);
    if (blob.codec == 0) continue;
    reader.Fail(ErrorCode::kNeedsNewer,
                "data in a form that only a newer coffer knows; update coffer");
  }
  return blobs;
}

}  // namespace

namespace internal {

void WriteSegmentIndexBody(const SegmentIndex& index, CborWriter& writer) {
  writer.Map(4);
  writer.Uint(kVault);
  writer.ByteString(index.vault);
  writer.Uint(kWriter);
  writer.ByteString(index.writer);
  writer.Uint(kCapability);
  writer.Uint(index.capability);
  writer.Uint(kBlobs);
  writer.Array(index.blobs.size());
  for (const IndexedBlob& blob : index.blobs) {
    writer.Array(5);
    writer.Uint(blob.offset);
    writer.Uint(blob.stored_size);
    writer.Uint(blob.size);
    writer.Uint(blob.codec);
    writer.ByteString(blob.hash);
  }
}

Result<SegmentIndex> ReadSegmentIndexBody(ByteSpan body) {
  CborReader reader(body);
  SegmentIndex index;
  KeySet keys;
  CborMap map(reader);
  while (const std::optional<uint64_t> key = map.Next()) {
    keys.Add(*key);
    if (*key == kVault) reader.ByteStringInto(index.vault);
    if (*key == kWriter) reader.ByteStringInto(index.writer);
    if (*key == kCapability) index.capability = ReadCapability(reader);
    if (*key == kBlobs) index.blobs = ReadBlobs(reader);
    if (*key > kBlobs) map.Unknown();
  }
  reader.Require(keys.HasAllUpTo(kBlobs), "the index of a segment lacks a field");
  reader.End();
  COFFER_TRY(reader.status());
  COFFER_TRY(CheckSegmentIndex(index));
  return index;
}

}  // namespace internal

Result<Bytes> EncodeSegmentIndex(const SegmentIndex& index, const crypto::CofferSeed& seed) {
  COFFER_CHECK(internal::CheckSegmentIndex(index).ok());
  CborWriter writer;
  internal::WriteSegmentIndexBody(index, writer);
  COFFER_ASSIGN_OR_RETURN(const MacKey key,
                          WriterMacKey(seed, index.vault, index.writer, index.capability));
  COFFER_TRY(internal::AppendMac(key, writer.buffer()));
  const ByteSpan bytes = writer.buffer().Expose();
  return Bytes(bytes.begin(), bytes.end());
}

Result<SegmentIndex> DecodeSegmentIndex(ByteSpan bytes, const crypto::CofferSeed& seed,
                                        const VaultId& vault) {
  if (bytes.size() < internal::kMacSize) {
    return Error(ErrorCode::kDamaged, "the index of a segment is cut off");
  }
  const ByteSpan body = bytes.first(bytes.size() - internal::kMacSize);
  COFFER_ASSIGN_OR_RETURN(const MacKey key, internal::KeyOfWriter(body, seed, vault));
  COFFER_TRY(internal::VerifyMac(key, body, bytes.last(internal::kMacSize)));
  return internal::ReadSegmentIndexBody(body);
}

std::array<uint8_t, kSegmentTrailerSize> EncodeSegmentTrailer(const SegmentTrailer& trailer) {
  std::array<uint8_t, kSegmentTrailerSize> bytes{};
  const std::span<uint8_t, kSegmentTrailerSize> out(bytes);
  std::ranges::copy(AsBytes(kTrailerMagic), bytes.begin());
  StoreBigEndian<uint64_t>(trailer.index_offset, out.subspan<8, 8>());
  StoreBigEndian<uint64_t>(trailer.index_size, out.subspan<16, 8>());
  return bytes;
}

Result<SegmentTrailer> DecodeSegmentTrailer(ByteSpan bytes) {
  if (bytes.size() != kSegmentTrailerSize ||
      !std::ranges::equal(bytes.first<8>(), AsBytes(kTrailerMagic))) {
    return Error(ErrorCode::kDamaged, "the trailer of a segment is malformed");
  }
  const SegmentTrailer trailer = {
      .index_offset = LoadBigEndian<uint64_t>(bytes.subspan<8, 8>()),
      .index_size = LoadBigEndian<uint64_t>(bytes.subspan<16, 8>()),
  };
  if (trailer.index_offset > internal::kMaxObjectSize || trailer.index_size < internal::kMacSize ||
      trailer.index_size > kMaxRecordBodySize + internal::kMacSize) {
    return Error(ErrorCode::kDamaged, "the trailer of a segment names an impossible place");
  }
  return trailer;
}

}  // namespace coffer::vault
