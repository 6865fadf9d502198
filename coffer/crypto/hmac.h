// SPDX-License-Identifier: Apache-2.0
// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
#pragma once

#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::crypto {

class HmacSha256 {
 public:
  static constexpr size_t kSize = 32;

  static Result<HmacSha256> Create(ByteSpan key);

  HmacSha256(HmacSha256&& other) noexcept;
  HmacSha256& operator=(HmacSha256&& other) noexcept;
  ~HmacSha256();

  Status Update(ByteSpan bytes);
  // Writes the MAC of everything since Create or the last Finish, and starts again with the same
  // key.
  Status Finish(std::span<uint8_t, kSize> mac);

 private:
  explicit HmacSha256(void* context) : context_(context) {}

  void* context_;  // EVP_MAC_CTX, owned
};

}  // namespace coffer::crypto
