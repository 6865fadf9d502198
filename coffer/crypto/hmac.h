// SPDX-License-Identifier: Apache-2.0
// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
#pragma once

#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/sha2.h"

namespace coffer::crypto {

class HmacSha256 {
 public:
  static constexpr size_t kSize = 32;

  // Keeps a wiped-at-the-end copy of `key`, which may have any size.
  static Result<HmacSha256> Create(ByteSpan key);

  HmacSha256(HmacSha256&& other) noexcept;
  HmacSha256& operator=(HmacSha256&& other) noexcept;
  ~HmacSha256();

  Status Update(ByteSpan bytes);
  // Writes the MAC of everything since Create or the last Finish, and starts again with the same
  // key.
  Status Finish(std::span<uint8_t, kSize> mac);

 private:
  struct KeyBlockRole;
  using KeyBlock = SecretArray<64, KeyBlockRole>;  // the key, or its digest, and zeros

  HmacSha256(Sha2Hasher hasher, KeyBlock block);
  Status Start();
  Status HashPaddedKey(uint8_t pad);

  Sha2Hasher hasher_;
  KeyBlock block_;
  bool started_ = false;  // whether the inner hash has the padded key
};

}  // namespace coffer::crypto
