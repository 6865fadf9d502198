// SPDX-License-Identifier: Apache-2.0
// SHA-256 and SHA-512 (FIPS 180-4).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::crypto {

enum class Sha2 { kSha256, kSha512 };

class Sha2Hasher {
 public:
  static Result<Sha2Hasher> Create(Sha2 which);

  Sha2Hasher(Sha2Hasher&& other) noexcept;
  Sha2Hasher& operator=(Sha2Hasher&& other) noexcept;
  ~Sha2Hasher();

  Status Update(ByteSpan bytes);
  // Writes the digest, 32 or 64 bytes as `out` must be, and starts again.
  Status Finish(MutableByteSpan out);

 private:
  Sha2Hasher(void* context, Sha2 which) : context_(context), which_(which) {}

  Status Start();

  void* context_;  // EVP_MD_CTX, owned
  Sha2 which_;
  bool started_ = false;  // whether the context is within a message
};

Result<std::array<uint8_t, 32>> Sha256(ByteSpan bytes);
Result<std::array<uint8_t, 64>> Sha512(ByteSpan bytes);

}  // namespace coffer::crypto
