// SPDX-License-Identifier: Apache-2.0
// The part of Argon2id that has no secret addresses, with every secret marked: memcheck speaks up
// if a branch or an address depends on one. And the part that has them by design, which it must
// catch.
#include <cstdio>
#include <string_view>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/ct.h"
#include "coffer/crypto/blake2b.h"
#include "coffer/crypto/internal/argon2_fill.h"

namespace coffer::crypto {
namespace {

using internal::Argon2Block;

void HashSecrets() {
  for (size_t size : {0U, 1U, 128U, 300U}) {
    Bytes message(size, 0x5c);
    ct::Poison(message.data(), message.size());
    for (size_t digest_size : {32U, 64U}) {
      Bytes digest(digest_size);
      Blake2b::Hash(message, digest);
    }
  }
}

// Segments of more than the 128 blocks for which addresses are made at once.
void FillSlices(uint32_t count) {
  constexpr internal::Argon2Shape kShape = {.lanes = 3, .lane_length = 4 * 150, .passes = 1};
  std::vector<Argon2Block> blocks(kShape.block_count());
  for (uint32_t lane = 0; lane < kShape.lanes; ++lane) {
    Argon2Block* first = &blocks[size_t{lane} * kShape.lane_length];
    for (size_t i = 0; i < internal::kArgon2Words; ++i) {
      first[0].word[i] = i + lane;
      first[1].word[i] = 1000 * i;
    }
    ct::Poison(first, 2 * sizeof(Argon2Block));
  }
  internal::Argon2Fill fill(internal::Argon2(), kShape, blocks.data());
  for (uint32_t slice = 0; slice < count; ++slice) fill.FillSlice(0, slice);
}

}  // namespace
}  // namespace coffer::crypto

int main(int argc, char** argv) {
  if (argc < 2) {
    coffer::crypto::HashSecrets();
    coffer::crypto::FillSlices(2);
    return 0;
  }
  if (std::string_view(argv[1]) == "dependent_slice") {
    coffer::crypto::FillSlices(3);
    return 0;
  }
  std::fprintf(stderr, "no such leak: %s\n", argv[1]);
  return 2;
}
