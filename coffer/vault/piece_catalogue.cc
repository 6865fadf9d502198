// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/piece_catalogue.h"

#include <array>
#include <span>
#include <utility>

#include "coffer/base/endian.h"
#include "coffer/os/random.h"

namespace coffer::vault {
namespace {

constexpr int kFirstBits = 10;

}  // namespace

PieceCatalogue::PieceCatalogue() : index_(size_t{1} << kFirstBits), shift_(64 - kFirstBits) {
  std::array<uint8_t, 8> bytes;
  os::SystemRandom().Fill(bytes);
  multiplier_ = LoadLittleEndian<uint64_t>(std::span<const uint8_t, 8>(bytes)) | 1;
}

size_t PieceCatalogue::PlaceOf(const Id& hash) const {
  const uint64_t word = LoadLittleEndian<uint64_t>(std::span<const uint8_t, 32>(hash).first<8>());
  return static_cast<size_t>((word * multiplier_) >> shift_);
}

size_t PieceCatalogue::Search(const Id& hash, uint64_t size) const {
  size_t place = PlaceOf(hash);
  while (index_[place] != 0) {
    const Piece& piece = pieces_[index_[place] - 1];
    if (piece.hash == hash && piece.size == size) break;
    place = (place + 1) & (index_.size() - 1);
  }
  return place;
}

void PieceCatalogue::Grow() {
  --shift_;
  std::vector<uint32_t> index(2 * index_.size());
  index_.swap(index);
  for (const uint32_t number : index) {
    if (number == 0) continue;
    const Piece& piece = pieces_[number - 1];
    index_[Search(piece.hash, piece.size)] = number;
  }
}

std::optional<Blob> PieceCatalogue::Find(const Id& hash, uint64_t size) const {
  const std::lock_guard lock(mutex_);
  const uint32_t number = index_[Search(hash, size)];
  if (number == 0) return std::nullopt;
  const Piece& piece = pieces_[number - 1];
  return Blob{.segment = piece.segment,
              .codec = piece.codec,
              .offset = piece.offset,
              .stored_size = piece.stored_size};
}

Blob PieceCatalogue::FindOrAdd(const Id& hash, uint64_t size, const Blob& blob) {
  if (size > kPieceSize || !std::in_range<uint32_t>(blob.stored_size)) return blob;
  const std::lock_guard lock(mutex_);
  const size_t place = Search(hash, size);
  if (const uint32_t number = index_[place]; number != 0) {
    const Piece& piece = pieces_[number - 1];
    return {.segment = piece.segment,
            .codec = piece.codec,
            .offset = piece.offset,
            .stored_size = piece.stored_size};
  }
  if (!std::in_range<uint32_t>(pieces_.size() + 1)) return blob;
  pieces_.push_back({.hash = hash,
                     .offset = blob.offset,
                     .segment = blob.segment,
                     .size = static_cast<uint32_t>(size),
                     .stored_size = static_cast<uint32_t>(blob.stored_size),
                     .codec = blob.codec});
  index_[place] = static_cast<uint32_t>(pieces_.size());
  if (2 * pieces_.size() > index_.size()) Grow();
  return blob;
}

size_t PieceCatalogue::size() const {
  const std::lock_guard lock(mutex_);
  return pieces_.size();
}

}  // namespace coffer::vault
