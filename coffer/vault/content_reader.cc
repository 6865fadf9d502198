// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/content_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coffer/vault/segment.h"

namespace coffer::vault {
namespace {

Error Damaged(std::string message) { return Error(ErrorCode::kDamaged, std::move(message)); }

// The bytes outside the holes; nothing if the holes are larger than the file.
std::optional<uint64_t> DataSize(const Entry& entry) {
  uint64_t size = entry.size;
  for (const Hole& hole : entry.holes) {
    if (hole.size > size) return std::nullopt;
    size -= hole.size;
  }
  return size;
}

// Whether sizes, hashes and blobs of an entry belong together.
Status CheckShape(const Entry& entry, uint64_t size) {
  const uint64_t pieces = size / kPieceSize + (size % kPieceSize == 0 ? 0 : 1);
  const bool is_inline = !entry.inline_data.empty();
  const bool good = is_inline ? entry.blobs.empty() && entry.inline_data.size() == size
                              : entry.blobs.size() == pieces;
  if (!good || entry.piece_hashes.size() != (pieces >= 2 ? pieces : 0)) {
    return Damaged("what the vault says of a file's data does not fit its size");
  }
  if (pieces >= 2 && HashPieceHashes(entry.piece_hashes) != entry.content_hash) {
    return Damaged("the hash of a file's content is not that of its pieces");
  }
  return OkStatus();
}

}  // namespace

Result<std::shared_ptr<ObjectReader>> ContentReader::Segment(uint32_t number) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found =
        std::ranges::find_if(open_, [&](const Open& open) { return open.number == number; });
    if (found != open_.end()) {
      open_.splice(open_.begin(), open_, found);
      return open_.front().reader;
    }
  }
  const KnownSegment& segment = segments_.at(number);
  COFFER_ASSIGN_OR_RETURN(std::shared_ptr<ObjectReader> reader,
                          ObjectReader::OpenKnown(store_, ObjectClass::kSegment,
                                                  {.id = segment.id,
                                                   .header_size = segment.header_size,
                                                   .file_key = segment.file_key.Duplicate()}));
  if (reader->object_size() != segment.object_size) {
    return Damaged(ObjectKey(ObjectClass::kSegment, segment.id) +
                   " is damaged: it is not of the size that it was written with");
  }
  const std::scoped_lock lock(mutex_);
  open_.push_front({.number = number, .reader = reader});
  if (open_.size() > kOpenSegments) open_.pop_back();
  return reader;
}

Status ContentReader::ReadPiece(const Blob& blob, const Id& hash, MutableByteSpan out) {
  if (blob.codec != 0) {
    return Error(ErrorCode::kNeedsNewer,
                 "a file's data is stored in a way that needs a newer coffer");
  }
  if (blob.stored_size != out.size()) {
    return Damaged("what the vault says of a file's data does not fit its size");
  }
  COFFER_ASSIGN_OR_RETURN(const std::shared_ptr<ObjectReader> segment, Segment(blob.segment));
  COFFER_TRY(segment->ReadAt(blob.offset, out));
  if (HashPiece(out) != hash) {
    return Damaged(ObjectKey(ObjectClass::kSegment, segments_.at(blob.segment).id) +
                   " does not hold the piece of a file that it should hold");
  }
  return OkStatus();
}

Status ContentReader::Read(const Entry& entry, const Take& take) {
  const std::optional<uint64_t> size = DataSize(entry);
  if (!size) return Damaged("the holes of a file are larger than the file");
  COFFER_TRY(CheckShape(entry, *size));
  if (entry.blobs.empty()) {
    // Inline data of two pieces or more has passed for its piece hashes only.
    if (entry.piece_hashes.empty() && HashPiece(entry.inline_data) != entry.content_hash) {
      return Damaged("the data of a file does not have the hash that it should have");
    }
    for (size_t i = 0; i < entry.piece_hashes.size(); ++i) {
      const ByteSpan rest = ByteSpan(entry.inline_data).subspan(i * kPieceSize);
      if (HashPiece(rest.first(std::min<size_t>(rest.size(), kPieceSize))) !=
          entry.piece_hashes[i]) {
        return Damaged("the data of a file does not have the hash that it should have");
      }
    }
    return entry.inline_data.empty() ? OkStatus() : take(0, entry.inline_data);
  }
  SecretBuffer buffer(static_cast<size_t>(std::min(*size, kPieceSize)));
  for (size_t i = 0; i < entry.blobs.size(); ++i) {
    const uint64_t offset = i * kPieceSize;
    const MutableByteSpan piece =
        buffer.ExposeMutable().first(static_cast<size_t>(std::min(*size - offset, kPieceSize)));
    const Id& hash = entry.piece_hashes.empty() ? entry.content_hash : entry.piece_hashes[i];
    COFFER_TRY(ReadPiece(entry.blobs[i], hash, piece));
    COFFER_TRY(take(offset, piece));
  }
  return OkStatus();
}

}  // namespace coffer::vault
