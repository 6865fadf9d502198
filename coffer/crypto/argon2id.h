// SPDX-License-Identifier: Apache-2.0
// Argon2id, version 0x13 (RFC 9106).
//
//   memory  uses memory_kib KiB, rounded down to a multiple of 4 KiB for each lane
//   time    filled `passes` times
//
// A hash runs on one thread: its lanes are computed in turn, which hides the memory's latency.
#pragma once

#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::crypto {

struct Argon2idParameters {
  uint32_t memory_kib;  // at least 8 for each lane
  uint32_t passes;      // at least 1
  uint32_t lanes;       // 1 to 2^24 - 1

  bool operator==(const Argon2idParameters&) const = default;
};

// Each below 4 GiB. The salt has at least 8 bytes. Most uses leave out the secret, which is a key
// kept apart from the salt, and the associated data.
struct Argon2idInput {
  ByteSpan password;
  ByteSpan salt;
  // NOLINTBEGIN(readability-redundant-member-init): lets initializers leave them out
  ByteSpan secret = {};
  ByteSpan associated_data = {};
  // NOLINTEND(readability-redundant-member-init)
};

// Fills `tag`, at least 4 bytes. kInvalidArgument for what is out of range, and kTooLarge for
// memory that the system does not have; then `tag` is wiped.
Status Argon2id(const Argon2idParameters& parameters, const Argon2idInput& input,
                MutableByteSpan tag);

struct Argon2idJob {
  Argon2idParameters parameters;
  Argon2idInput input;
  MutableByteSpan tag;
};

// All `jobs`, side by side on as many processors as there are. How long it takes and what it
// touches at first does not depend on the outcome of any. Nothing is computed unless the parameters
// of all are in range. On an error all tags are wiped.
Status Argon2idBatch(std::span<const Argon2idJob> jobs);

}  // namespace coffer::crypto
