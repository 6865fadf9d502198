// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/adoption.h"

#include <memory>
#include <utility>

#include "coffer/base/check.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/sha2.h"
#include "coffer/vault/object.h"

namespace coffer::vault {
namespace {

Error Damaged(const char* message) { return Error(ErrorCode::kDamaged, message); }

// That the bytes of the object are those that its name stands for.
Status CheckName(store::Store& store, const Id& id, MutableByteSpan buffer) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<store::StoredObject> object,
                          store.Open(ObjectKey(ObjectClass::kSegment, id)));
  COFFER_ASSIGN_OR_RETURN(crypto::Sha2Hasher hasher,
                          crypto::Sha2Hasher::Create(crypto::Sha2::kSha256));
  uint64_t offset = 0;
  for (;;) {
    COFFER_ASSIGN_OR_RETURN(const size_t count, object->ReadAt(offset, buffer));
    COFFER_TRY(hasher.Update(buffer.first(count)));
    offset += count;
    if (count < buffer.size()) break;
  }
  Id found;
  COFFER_TRY(hasher.Finish(found));
  if (found != id) return Damaged("a segment does not have the name of its bytes");
  return OkStatus();
}

Status CheckPieces(ObjectReader& segment, const SegmentIndex& index, MutableByteSpan buffer) {
  for (const IndexedBlob& blob : index.blobs) {
    // ReadSegmentIndex lets pass no codec but 0, and nothing larger than a piece.
    COFFER_CHECK(blob.codec == 0 && blob.size <= buffer.size());
    const MutableByteSpan piece = buffer.first(static_cast<size_t>(blob.size));
    COFFER_TRY(segment.ReadAt(blob.offset, piece));
    if (HashPiece(piece) != blob.hash) return Damaged("a segment does not hold its pieces");
  }
  return OkStatus();
}

Status Adopt(store::Store& store, const Id& id, age::CofferIdentity& identity,
             const SegmentAuthor& author, MutableByteSpan buffer, SegmentTable& segments,
             PieceCatalogue& catalogue) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<ObjectReader> segment,
                          ObjectReader::Open(store, ObjectClass::kSegment, id, identity));
  COFFER_ASSIGN_OR_RETURN(const SegmentIndex index,
                          ReadSegmentIndex(*segment, *author.seed, author.vault));
  COFFER_TRY(CheckName(store, id, buffer));
  COFFER_TRY(CheckPieces(*segment, index, buffer));
  ObjectKeys keys = segment->keys();
  const uint32_t number = segments.Add({.id = id,
                                        .object_size = segment->object_size(),
                                        .header_size = keys.header_size,
                                        .file_key = std::move(keys.file_key)});
  for (const IndexedBlob& blob : index.blobs) {
    catalogue.Add(blob.hash, blob.size,
                  {.segment = number, .offset = blob.offset, .stored_size = blob.stored_size});
  }
  return OkStatus();
}

}  // namespace

Result<size_t> AdoptSegments(store::Store& store, std::span<const Id> unreferenced,
                             age::CofferIdentity& identity, const SegmentAuthor& author,
                             SegmentTable& segments, PieceCatalogue& catalogue,
                             std::vector<std::string>* keys_to_settle) {
  COFFER_CHECK(author.seed != nullptr);
  size_t count = 0;
  if (unreferenced.empty()) return count;
  SecretBuffer buffer(kPieceSize);
  for (const Id& id : unreferenced) {
    const Status status =
        Adopt(store, id, identity, author, buffer.ExposeMutable(), segments, catalogue);
    if (!status.ok()) continue;
    keys_to_settle->push_back(ObjectKey(ObjectClass::kSegment, id));
    ++count;
  }
  return count;
}

}  // namespace coffer::vault
