// SPDX-License-Identifier: Apache-2.0
// What can be said about an age file without a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coffer/base/io.h"
#include "coffer/base/result.h"

namespace coffer::age {

enum class PostQuantum : uint8_t { kYes, kNo, kUnknown };

struct Inspection {
  PostQuantum post_quantum = PostQuantum::kUnknown;
  bool armored = false;
  std::vector<std::string> stanza_types;  // in the order of the file
  // Bytes. They add up to the size of the file.
  uint64_t header_size = 0;
  uint64_t armor_size = 0;     // what the armor adds
  uint64_t overhead_size = 0;  // nonce and tags
  uint64_t payload_size = 0;   // plaintext
};

// Reads the header of `source`, and the rest of it too unless it is not armored and `file_size` is
// known. kPayload if no payload has the size that is there.
Result<Inspection> Inspect(ByteSource& source, std::optional<uint64_t> file_size);

}  // namespace coffer::age
