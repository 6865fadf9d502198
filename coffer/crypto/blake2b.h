// SPDX-License-Identifier: Apache-2.0
// BLAKE2b without a key (RFC 7693), with digests of 1 to 64 bytes: what Argon2 hashes with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coffer/base/bytes.h"

namespace coffer::crypto {

class Blake2b {
 public:
  static constexpr size_t kMaxDigestSize = 64;
  static constexpr size_t kBlockSize = 128;

  // `digest_size` is between 1 and kMaxDigestSize; digests of different sizes have nothing in
  // common.
  explicit Blake2b(size_t digest_size);
  Blake2b(const Blake2b&) = delete;
  Blake2b& operator=(const Blake2b&) = delete;
  ~Blake2b();  // wipes

  void Update(ByteSpan bytes);
  // Writes the digest, for which `out` has the size. Called once, as the last.
  void Finish(MutableByteSpan out);

  static void Hash(ByteSpan bytes, MutableByteSpan out);

 private:
  enum class Last : bool { kNo, kYes };
  void Compress(const uint8_t* block, Last last);

  std::array<uint64_t, 8> h_;
  std::array<uint8_t, kBlockSize> buffer_;
  size_t buffered_ = 0;
  uint64_t counter_ = 0;  // bytes compressed so far; the high half of RFC 7693's t stays zero
  size_t digest_size_;
};

}  // namespace coffer::crypto
