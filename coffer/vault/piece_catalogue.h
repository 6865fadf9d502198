// SPDX-License-Identifier: Apache-2.0
// Where the pieces are that a vault holds already, by hash and size. May be used by several threads
// at once. Holds about 65 bytes for each piece: below 8 MiB for 100,000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "coffer/vault/entry.h"

namespace coffer::vault {

class PieceCatalogue {
 public:
  PieceCatalogue();

  // Nothing for a piece that is not here. The blob's segment is a number of the SegmentTable that
  // the blobs were added with.
  [[nodiscard]] std::optional<Blob> Find(const Id& hash, uint64_t size) const;

  // The first blob of a piece stays. What is no piece, larger than kPieceSize, is not taken.
  void Add(const Id& hash, uint64_t size, const Blob& blob) { FindOrAdd(hash, size, blob); }
  // The blob that the piece has, which is `blob` if it had none.
  Blob FindOrAdd(const Id& hash, uint64_t size, const Blob& blob);

  [[nodiscard]] size_t size() const;

 private:
  struct Piece {
    Id hash;
    uint64_t offset;
    uint32_t segment;
    uint32_t size;
    uint32_t stored_size;
    uint8_t codec;
  };

  [[nodiscard]] size_t PlaceOf(const Id& hash) const;
  // The place in index_ of a piece, or of the free one where it belongs.
  [[nodiscard]] size_t Search(const Id& hash, uint64_t size) const;
  void Grow();

  mutable std::mutex mutex_;
  std::deque<Piece> pieces_;
  // Open addressing: 1 + the number of a piece, or 0. A power of two, at least half of it free.
  std::vector<uint32_t> index_;
  int shift_;
  // Drawn at random: who chooses the content of files must not choose their places.
  uint64_t multiplier_;
};

}  // namespace coffer::vault
