// SPDX-License-Identifier: Apache-2.0
// Stands in for the encoders of segment indexes and trailers in tests of what uses them. Its index
// is not the format's: a table of fixed fields under the same MAC.
#include <algorithm>
#include <bit>

#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/hmac.h"
#include "coffer/vault/records.h"

namespace coffer::vault {
namespace {

constexpr size_t kBlobSize = 4 * 8 + 32;
constexpr size_t kHeadSize = 16 + 16 + 8;
constexpr std::string_view kMagic = "cofsegm1";

void AppendU64(Bytes& out, uint64_t number) {
  std::array<uint8_t, 8> bytes;
  StoreBigEndian(number, bytes);
  Append(out, bytes);
}

uint64_t TakeU64(ByteReader& reader) { return LoadBigEndian<uint64_t>(reader.Take(8)->first<8>()); }

Error Damaged(const char* message) { return Error(ErrorCode::kDamaged, message); }

}  // namespace

uint64_t PaddedSize(uint64_t size) {
  if (size < 2) return size;
  const auto e = static_cast<unsigned>(std::bit_width(size) - 1);
  const auto s = static_cast<unsigned>(std::bit_width(e));
  if (e < s) return size;
  const uint64_t mask = (uint64_t{1} << (e - s)) - 1;
  return (size + mask) & ~mask;
}

Result<Bytes> EncodeSegmentIndex(const SegmentIndex& index, const crypto::CofferSeed& seed) {
  Bytes out;
  Append(out, index.vault);
  Append(out, index.writer);
  AppendU64(out, index.capability);
  for (const IndexedBlob& blob : index.blobs) {
    for (const uint64_t n : {blob.offset, blob.stored_size, blob.size, blob.codec}) {
      AppendU64(out, n);
    }
    Append(out, blob.hash);
  }
  COFFER_ASSIGN_OR_RETURN(const MacKey key,
                          WriterMacKey(seed, index.vault, index.writer, index.capability));
  COFFER_ASSIGN_OR_RETURN(crypto::HmacSha256 hmac, crypto::HmacSha256::Create(key.Expose()));
  COFFER_TRY(hmac.Update(out));
  std::array<uint8_t, 32> mac;
  COFFER_TRY(hmac.Finish(mac));
  Append(out, mac);
  return out;
}

Result<SegmentIndex> DecodeSegmentIndex(ByteSpan bytes, const crypto::CofferSeed& seed,
                                        const VaultId& vault) {
  if (bytes.size() < kHeadSize + 32 || (bytes.size() - kHeadSize - 32) % kBlobSize != 0) {
    return Damaged("no index has this size");
  }
  ByteReader reader(bytes.first(bytes.size() - 32));
  SegmentIndex index;
  std::ranges::copy(*reader.Take(16), index.vault.begin());
  std::ranges::copy(*reader.Take(16), index.writer.begin());
  index.capability = TakeU64(reader);
  while (!reader.empty()) {
    IndexedBlob blob;
    for (uint64_t* n : {&blob.offset, &blob.stored_size, &blob.size, &blob.codec}) {
      *n = TakeU64(reader);
    }
    std::ranges::copy(*reader.Take(32), blob.hash.begin());
    index.blobs.push_back(blob);
  }
  COFFER_ASSIGN_OR_RETURN(const Bytes again, EncodeSegmentIndex(index, seed));
  if (index.vault != vault || !ct::Equal(again, bytes)) {
    return Error(ErrorCode::kForged, "the index has a wrong MAC");
  }
  return index;
}

std::array<uint8_t, kSegmentTrailerSize> EncodeSegmentTrailer(const SegmentTrailer& trailer) {
  Bytes bytes;
  Append(bytes, AsBytes(kMagic));
  AppendU64(bytes, trailer.index_offset);
  AppendU64(bytes, trailer.index_size);
  std::array<uint8_t, kSegmentTrailerSize> out;
  std::ranges::copy(bytes, out.begin());
  return out;
}

Result<SegmentTrailer> DecodeSegmentTrailer(ByteSpan bytes) {
  if (bytes.size() != kSegmentTrailerSize || !std::ranges::equal(bytes.first(8), AsBytes(kMagic))) {
    return Damaged("this is no trailer of a segment");
  }
  ByteReader reader(bytes.subspan(8));
  SegmentTrailer trailer;
  trailer.index_offset = TakeU64(reader);
  trailer.index_size = TakeU64(reader);
  return trailer;
}

}  // namespace coffer::vault
