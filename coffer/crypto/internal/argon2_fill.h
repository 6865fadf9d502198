// SPDX-License-Identifier: Apache-2.0
// The filling of Argon2id's memory (RFC 9106 sections 3.2 to 3.4): which blocks are compressed into
// which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coffer/crypto/internal/argon2_kernels.h"

namespace coffer::crypto::internal {

inline constexpr uint32_t kArgon2Slices = 4;  // SL
inline constexpr uint32_t kArgon2Type = 2;    // y, Argon2id

struct Argon2Shape {
  uint32_t lanes;        // p
  uint32_t lane_length;  // q, in blocks: a multiple of kArgon2Slices, at least twice that
  uint32_t passes;       // t

  [[nodiscard]] uint32_t segment_length() const { return lane_length / kArgon2Slices; }
  [[nodiscard]] size_t block_count() const { return size_t{lanes} * lane_length; }
};

class Argon2Fill {
 public:
  // Works on shape.block_count() blocks, lane by lane, in the order of `implementation`. The first
  // two of each lane are set before the first slice is filled.
  Argon2Fill(const Argon2Implementation& implementation, const Argon2Shape& shape,
             Argon2Block* blocks);
  Argon2Fill(const Argon2Fill&) = delete;
  Argon2Fill& operator=(const Argon2Fill&) = delete;
  ~Argon2Fill();  // wipes what it kept, not the blocks

  // Slices are filled in order, from slice 0 of pass 0 on. The first two have no address that
  // depends on a secret; all others have.
  void FillSlice(uint32_t pass, uint32_t slice);

 private:
  // Lanes of a slice do not see each other (section 3.4), so some are filled in turn: while one is
  // computed, the blocks that the others need next come from memory.
  static constexpr uint32_t kLanesInTurn = 8;

  struct Position {
    uint32_t pass;
    uint32_t slice;
    uint32_t lane;
    uint32_t index;  // within the segment
  };

  void FillSegments(uint32_t pass, uint32_t slice, uint32_t first_lane, uint32_t lane_count);
  void FillAddresses(const Position& at, Argon2Block& addresses);
  [[nodiscard]] uint64_t PseudoRandom(const Position& at, Argon2Block& addresses);
  [[nodiscard]] const Argon2Block& Reference(const Position& at, uint64_t pseudo_random) const;
  [[nodiscard]] Argon2Block& Block(uint32_t lane, uint32_t column) const {
    return blocks_[size_t{lane} * shape_.lane_length + column];
  }
  // The block before `at` in its lane, around the end.
  [[nodiscard]] const Argon2Block& Previous(const Position& at) const;

  const Argon2Implementation& implementation_;
  const Argon2Shape shape_;
  Argon2Block* const blocks_;
  Argon2Scratch scratch_;
};

}  // namespace coffer::crypto::internal
