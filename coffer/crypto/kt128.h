// SPDX-License-Identifier: Apache-2.0
// KT128 (KangarooTwelve) and TurboSHAKE128 (RFC 9861): Keccak with 12 rounds, and a tree over
// chunks of 8192 bytes whose leaves are hashed side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coffer/base/bytes.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/keccak_states.h"
#include "coffer/crypto/sha3.h"

namespace coffer::crypto {

// TurboSHAKE128 with domain separation byte `domain`, 0x01 to 0x7f.
class TurboShake128 : public Sponge {
 public:
  explicit TurboShake128(uint8_t domain)
      : Sponge({kShake128Kind.rate, domain, KeccakRounds::k12}) {}
};

// Hashes a stream of any size in constant memory, about 64 KiB once a message is longer than one
// chunk. Not for use by several threads at once.
class Kt128 {
 public:
  static constexpr size_t kChunkSize = 8192;

  void Update(ByteSpan message);
  // Writes as many bytes of output as `out` holds for everything since the start or the last
  // Finish, and starts again. The customization string is often empty.
  void Finish(ByteSpan customization, MutableByteSpan out);

 private:
  void AbsorbRest(ByteSpan bytes);
  void AbsorbLeaves(ByteSpan chunks);

  // The final node: the first chunk, then the chaining values of the others (the leaves). Its
  // domain byte is set in Finish, when it is known whether there are leaves.
  Sponge final_node_{{kShake128Kind.rate, 0x07, KeccakRounds::k12}};
  size_t first_chunk_size_ = 0;
  uint64_t leaf_count_ = 0;
  SecretBuffer pending_;  // bytes of leaves that are not hashed: less than a group of chunks
};

// KT128 of one message.
void Kt128Hash(ByteSpan message, ByteSpan customization, MutableByteSpan out);

}  // namespace coffer::crypto
