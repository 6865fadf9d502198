// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/segment.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "coffer/base/ct.h"
#include "coffer/crypto/kt128.h"

namespace coffer::vault {
namespace {

// An index of this size has ten times the blobs that a writer puts into a segment.
constexpr uint64_t kMaxIndexSize = uint64_t{16} << 20;
constexpr size_t kZerosAtOnce = 65536;
constexpr std::string_view kPiecesLabel = "coffer/pieces/v1";

Error Damaged(const char* message) { return Error(ErrorCode::kDamaged, message); }

Status CheckZeros(ObjectReader& segment, uint64_t begin, uint64_t end) {
  SecretBuffer zeros(static_cast<size_t>(std::min<uint64_t>(end - begin, kZerosAtOnce)));
  while (begin < end) {
    const auto size = static_cast<size_t>(std::min<uint64_t>(end - begin, zeros.size()));
    const MutableByteSpan bytes = zeros.ExposeMutable().first(size);
    COFFER_TRY(segment.ReadAt(begin, bytes));
    if (!ct::IsAllZero(bytes)) return Damaged("the padding of a segment is not zero");
    begin += size;
  }
  return OkStatus();
}

// Back to back from 0 to the index, each of a size that a piece can have.
Status CheckBlobs(const SegmentIndex& index, uint64_t index_offset) {
  uint64_t offset = 0;
  for (const IndexedBlob& blob : index.blobs) {
    if (blob.offset != offset || blob.size == 0 || blob.size > kPieceSize ||
        blob.stored_size > index_offset - offset ||
        (blob.codec == 0 && blob.stored_size != blob.size)) {
      return Damaged("the index of a segment does not describe it");
    }
    offset += blob.stored_size;
  }
  if (offset != index_offset) return Damaged("the index of a segment does not describe it");
  return OkStatus();
}

}  // namespace

Id HashPiece(ByteSpan piece) {
  Id hash;
  crypto::Kt128Hash(piece, {}, hash);
  return hash;
}

Id HashPieceHashes(std::span<const Id> hashes) {
  crypto::Kt128 kt128;
  for (const Id& hash : hashes) kt128.Update(hash);
  Id out;
  kt128.Finish(AsBytes(kPiecesLabel), out);
  return out;
}

SegmentWriter::SegmentWriter(std::unique_ptr<ObjectWriter> writer, const SegmentAuthor& author)
    : writer_(std::move(writer)), seed_(author.seed) {
  index_.vault = author.vault;
  index_.writer = author.writer;
  index_.capability = author.capability;
}

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Begin(store::Store& store,
                                                            const age::CofferRecipient& recipient,
                                                            os::Random& random,
                                                            const SegmentAuthor& author,
                                                            std::optional<uint64_t> expected_size) {
  COFFER_CHECK(author.seed != nullptr);
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectWriter> writer,
                          ObjectWriter::Begin(store, recipient, random, expected_size));
  return std::unique_ptr<SegmentWriter>(new SegmentWriter(std::move(writer), author));
}

Result<uint64_t> SegmentWriter::Append(ByteSpan piece, const Id& hash) {
  COFFER_CHECK(!piece.empty() && piece.size() <= kPieceSize);
  const uint64_t offset = writer_->plaintext_size();
  COFFER_TRY(writer_->Write(piece));
  index_.blobs.push_back({.offset = offset,
                          .stored_size = piece.size(),
                          .size = piece.size(),
                          .codec = 0,
                          .hash = hash});
  return offset;
}

Result<SealedObject> SegmentWriter::Finish(bool padding) {
  const uint64_t index_offset = writer_->plaintext_size();
  COFFER_ASSIGN_OR_RETURN(const Bytes index, EncodeSegmentIndex(index_, *seed_));
  COFFER_TRY(writer_->Write(index));
  const uint64_t size = writer_->plaintext_size() + kSegmentTrailerSize;
  uint64_t left = padding ? PaddedSize(size) - size : 0;
  const Bytes zeros(static_cast<size_t>(std::min<uint64_t>(left, kZerosAtOnce)));
  while (left != 0) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(left, zeros.size()));
    COFFER_TRY(writer_->Write(ByteSpan(zeros).first(count)));
    left -= count;
  }
  COFFER_TRY(writer_->Write(
      EncodeSegmentTrailer({.index_offset = index_offset, .index_size = index.size()})));
  return writer_->Finish(ObjectClass::kSegment);
}

Result<SegmentIndex> ReadSegmentIndex(ObjectReader& segment, const crypto::CofferSeed& seed,
                                      const VaultId& vault) {
  const uint64_t size = segment.plaintext_size();
  if (size < kSegmentTrailerSize) return Damaged("the segment has no trailer");
  const uint64_t trailer_offset = size - kSegmentTrailerSize;
  std::array<uint8_t, kSegmentTrailerSize> trailer_bytes;
  COFFER_TRY(segment.ReadAt(trailer_offset, trailer_bytes));
  COFFER_ASSIGN_OR_RETURN(const SegmentTrailer trailer, DecodeSegmentTrailer(trailer_bytes));
  if (trailer.index_offset > trailer_offset ||
      trailer.index_size > trailer_offset - trailer.index_offset ||
      trailer.index_size > kMaxIndexSize) {
    return Damaged("the trailer of a segment names an index that is not in it");
  }
  SecretBuffer bytes(static_cast<size_t>(trailer.index_size));
  COFFER_TRY(segment.ReadAt(trailer.index_offset, bytes.ExposeMutable()));
  COFFER_ASSIGN_OR_RETURN(SegmentIndex index, DecodeSegmentIndex(bytes.Expose(), seed, vault));
  COFFER_TRY(CheckBlobs(index, trailer.index_offset));
  COFFER_TRY(CheckZeros(segment, trailer.index_offset + trailer.index_size, trailer_offset));
  return index;
}

}  // namespace coffer::vault
