// SPDX-License-Identifier: Apache-2.0
// Key files: what parses is written again as the same bytes, and its costs are within the bounds.
// The input is taken as it is, and once more with a right checksum behind it, which no fuzzer
// would find.
#include <algorithm>

#include "coffer/base/check.h"
#include "coffer/crypto/sha2.h"
#include "coffer/vault/key_file.h"

namespace {

using coffer::ErrorCode;

void CheckFile(coffer::ByteSpan bytes) {
  const auto file = coffer::vault::KeyFile::Parse(bytes);
  if (file.ok()) {
    const auto encoded = file->Encode();
    COFFER_CHECK(encoded.ok());
    COFFER_CHECK(std::ranges::equal(*encoded, bytes));
    return;
  }
  const ErrorCode code = file.error().code();
  const bool documented = code == ErrorCode::kDamaged || code == ErrorCode::kNeedsNewer ||
                          code == ErrorCode::kInvalidArgument || code == ErrorCode::kTooLarge;
  COFFER_CHECK(documented);
  COFFER_CHECK(file.error().message().size() < 200);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const coffer::ByteSpan bytes(data, size);
  CheckFile(bytes);
  const auto digest = coffer::crypto::Sha256(bytes);
  COFFER_CHECK(digest.ok());
  coffer::Bytes sealed(bytes.begin(), bytes.end());
  coffer::Append(sealed, *digest);
  CheckFile(sealed);
  return 0;
}
