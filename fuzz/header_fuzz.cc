// SPDX-License-Identifier: Apache-2.0
// Header parser: what parses encodes to the bytes that were read.
#include <algorithm>

#include "coffer/age/header.h"
#include "coffer/base/check.h"
#include "coffer/base/testing/memory_io.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const coffer::ByteSpan input(data, size);
  for (const size_t piece : {size_t{SIZE_MAX}, size_t{3}}) {
    coffer::testing::MemorySource source(input, piece);
    coffer::BufferedReader reader(source);
    const auto header = coffer::age::ReadHeader(reader);
    if (!header.ok()) {
      COFFER_CHECK(header.error().code() == coffer::ErrorCode::kHeader);
      continue;
    }
    const coffer::Bytes encoded = coffer::age::EncodeHeader(*header);
    const auto rest = coffer::testing::ReadAll(reader);
    COFFER_CHECK(encoded.size() + rest.bytes.size() == size);
    COFFER_CHECK(std::equal(encoded.begin(), encoded.end(), input.begin()));
    COFFER_CHECK(std::equal(rest.bytes.begin(), rest.bytes.end(),
                            input.begin() + static_cast<ptrdiff_t>(encoded.size())));
  }
  return 0;
}
