// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/argon2_fill.h"

#include <algorithm>

#include "coffer/base/secret.h"

namespace coffer::crypto::internal {
namespace {

// Section 3.4: Argon2id takes addresses from a counter in the first two slices of the first pass,
// and from the memory in all others.
bool IsDataIndependent(uint32_t pass, uint32_t slice) {
  return pass == 0 && slice < kArgon2Slices / 2;
}

void Prefetch(const Argon2Block& block) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&block);
  for (size_t line = 0; line < sizeof(block); line += 64) __builtin_prefetch(bytes + line);
}

}  // namespace

Argon2Fill::Argon2Fill(const Argon2Implementation& implementation, const Argon2Shape& shape,
                       Argon2Block* blocks)
    : implementation_(implementation), shape_(shape), blocks_(blocks) {}

Argon2Fill::~Argon2Fill() { SecureWipe(&scratch_, sizeof(scratch_)); }

void Argon2Fill::FillSlice(uint32_t pass, uint32_t slice) {
  for (uint32_t lane = 0; lane < shape_.lanes; lane += kLanesInTurn) {
    FillSegments(pass, slice, lane, std::min(kLanesInTurn, shape_.lanes - lane));
  }
}

void Argon2Fill::FillSegments(uint32_t pass, uint32_t slice, uint32_t first_lane,
                              uint32_t lane_count) {
  const auto compress = pass == 0 ? implementation_.compress : implementation_.compress_over;
  const uint32_t length = shape_.segment_length();
  std::array<Argon2Block, kLanesInTurn> addresses;  // not secret
  std::array<const Argon2Block*, kLanesInTurn> reference;
  const auto look_ahead = [&](uint32_t i, uint32_t index) {
    const Position at = {pass, slice, first_lane + i, index};
    reference[i] = &Reference(at, PseudoRandom(at, addresses[i]));
    Prefetch(*reference[i]);
  };
  // The first two blocks of a lane are there from the start.
  const uint32_t first_index = pass == 0 && slice == 0 ? 2 : 0;
  for (uint32_t i = 0; i < lane_count; ++i) {
    const Position at = {pass, slice, first_lane + i, first_index};
    if (IsDataIndependent(pass, slice) && first_index != 0) FillAddresses(at, addresses[i]);
    if (first_index < length) look_ahead(i, first_index);
  }
  for (uint32_t index = first_index; index < length; ++index) {
    for (uint32_t i = 0; i < lane_count; ++i) {
      const Position at = {pass, slice, first_lane + i, index};
      compress(Previous(at), *reference[i], Block(at.lane, slice * length + index), scratch_);
      if (index + 1 < length) look_ahead(i, index + 1);
    }
  }
}

// Section 3.4.1.2: the addresses of 128 blocks are G(0, G(0, Z)).
void Argon2Fill::FillAddresses(const Position& at, Argon2Block& addresses) {
  constexpr uint64_t kAddresses = kArgon2Words;
  const Argon2Order& order = implementation_.order;
  static constexpr Argon2Block kZero{};
  Argon2Block input{};
  input.word[order[0]] = at.pass;
  input.word[order[1]] = at.lane;
  input.word[order[2]] = at.slice;
  input.word[order[3]] = shape_.block_count();
  input.word[order[4]] = shape_.passes;
  input.word[order[5]] = kArgon2Type;
  input.word[order[6]] = at.index / kAddresses + 1;
  Argon2Block between;
  implementation_.compress(kZero, input, between, scratch_);
  implementation_.compress(kZero, between, addresses, scratch_);
}

// J_2 || J_1 of section 3.4.1.
uint64_t Argon2Fill::PseudoRandom(const Position& at, Argon2Block& addresses) {
  if (!IsDataIndependent(at.pass, at.slice)) return Previous(at).word[implementation_.order[0]];
  if (at.index % kArgon2Words == 0) FillAddresses(at, addresses);
  return addresses.word[implementation_.order[at.index % kArgon2Words]];
}

const Argon2Block& Argon2Fill::Previous(const Position& at) const {
  const uint32_t column = at.slice * shape_.segment_length() + at.index;
  return Block(at.lane, column == 0 ? shape_.lane_length - 1 : column - 1);
}

// Section 3.4.2.
const Argon2Block& Argon2Fill::Reference(const Position& at, uint64_t pseudo_random) const {
  const auto j1 = static_cast<uint32_t>(pseudo_random);
  const auto j2 = static_cast<uint32_t>(pseudo_random >> 32);
  const bool first_segment = at.pass == 0 && at.slice == 0;
  const uint32_t lane = first_segment ? at.lane : j2 % shape_.lanes;
  // W: the blocks of finished segments, up to three behind, and those of this segment in the own
  // lane, but for the previous block. In other lanes it is one less at the start of a segment.
  const uint32_t length = shape_.segment_length();
  const uint32_t finished = at.pass == 0 ? at.slice * length : shape_.lane_length - length;
  const uint32_t size =
      lane == at.lane ? finished + at.index - 1 : finished - (at.index == 0 ? 1 : 0);
  const uint64_t x = uint64_t{j1} * j1 >> 32;
  const auto y = static_cast<uint32_t>(size * x >> 32);
  const uint32_t z = size - 1 - y;
  // W starts behind this segment, around the end of the lane.
  const uint32_t start = at.pass == 0 ? 0 : (at.slice + 1) * length;
  const uint32_t sum = start + z;  // below 2 q
  return Block(lane, sum < shape_.lane_length ? sum : sum - shape_.lane_length);
}

}  // namespace coffer::crypto::internal
