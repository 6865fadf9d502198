// SPDX-License-Identifier: Apache-2.0
// Segments: objects with pieces of files' data, back to back, and an index for whoever has no
// commit that refers to them (docs/format/vault.md, "Segments").
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "coffer/crypto/coffer_kem.h"
#include "coffer/vault/object.h"
#include "coffer/vault/records.h"

namespace coffer::vault {

// More blobs than this a segment does not get, however small they are: its index stays below 1 MiB.
inline constexpr size_t kMaxSegmentBlobCount = 8192;

// Whose segments are written. The seed outlives what is made with it.
struct SegmentAuthor {
  VaultId vault{};
  WriterId writer{};
  uint64_t capability = kOwnerCapability;
  const crypto::CofferSeed* seed = nullptr;
};

// KT128 of a piece.
Id HashPiece(ByteSpan piece);
// The content hash of two pieces or more, from theirs.
Id HashPieceHashes(std::span<const Id> hashes);

// Writes one segment. One thread at a time.
class SegmentWriter {
 public:
  // Encapsulates once.
  static Result<std::unique_ptr<SegmentWriter>> Begin(store::Store& store,
                                                      const age::CofferRecipient& recipient,
                                                      os::Random& random,
                                                      const SegmentAuthor& author,
                                                      std::optional<uint64_t> expected_size);

  // Appends a piece as it is, codec 0; returns its offset. `hash` is HashPiece of it.
  Result<uint64_t> Append(ByteSpan piece, const Id& hash);

  [[nodiscard]] uint64_t data_size() const { return writer_->plaintext_size(); }
  [[nodiscard]] size_t blob_count() const { return index_.blobs.size(); }

  // Writes index, zeros if `padding`, and trailer. Called once; afterwards the writer can only be
  // destroyed.
  Result<SealedObject> Finish(bool padding);

 private:
  SegmentWriter(std::unique_ptr<ObjectWriter> writer, const SegmentAuthor& author);

  std::unique_ptr<ObjectWriter> writer_;
  const crypto::CofferSeed* seed_;
  SegmentIndex index_;
};

// The index of a segment, verified: its MAC is under the key that its writer has from `seed`, its
// blobs stand back to back and what is between index and trailer is zero. kDamaged or kForged else.
Result<SegmentIndex> ReadSegmentIndex(ObjectReader& segment, const crypto::CofferSeed& seed,
                                      const VaultId& vault);

}  // namespace coffer::vault
