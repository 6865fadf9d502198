// SPDX-License-Identifier: Apache-2.0
// BLAKE2b as RFC 7693 writes it. Argon2 spends next to no time here, so there is no faster version.
#include "coffer/crypto/blake2b.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "coffer/base/check.h"
#include "coffer/base/endian.h"
#include "coffer/base/secret.h"

namespace coffer::crypto {
namespace {

// Section 2.6: the fractional parts of the square roots of the first eight primes.
constexpr std::array<uint64_t, 8> kIv = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                         0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                         0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// Section 2.7. Rounds 10 and 11 use rows 0 and 1 again.
constexpr uint8_t kSigma[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
constexpr size_t kRounds = 12;

// Section 3.1.
void G(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
  a = a + b + x;
  d = std::rotr(d ^ a, 32);
  c = c + d;
  b = std::rotr(b ^ c, 24);
  a = a + b + y;
  d = std::rotr(d ^ a, 16);
  c = c + d;
  b = std::rotr(b ^ c, 63);
}

}  // namespace

// Section 3.3: the parameter block with fanout and depth 1 and no key.
Blake2b::Blake2b(size_t digest_size) : h_(kIv), digest_size_(digest_size) {
  COFFER_CHECK(digest_size >= 1);
  COFFER_CHECK(digest_size <= kMaxDigestSize);
  h_[0] ^= 0x01010000 ^ static_cast<uint64_t>(digest_size);
}

Blake2b::~Blake2b() {
  SecureWipe(h_.data(), sizeof(h_));
  SecureWipe(buffer_);
}

// Section 3.2.
void Blake2b::Compress(const uint8_t* block, Last last) {
  uint64_t m[16];
  uint64_t v[16];
  for (size_t i = 0; i < 16; ++i) {
    m[i] = LoadLittleEndian<uint64_t>(std::span<const uint8_t, 8>(block + 8 * i, 8));
  }
  for (size_t i = 0; i < 8; ++i) {
    v[i] = h_[i];
    v[i + 8] = kIv[i];
  }
  v[12] ^= counter_;
  if (last == Last::kYes) v[14] = ~v[14];
  for (size_t round = 0; round < kRounds; ++round) {
    const uint8_t* s = kSigma[round % 10];
    for (size_t i = 0; i < 4; ++i)
      G(v[i], v[4 + i], v[8 + i], v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
    for (size_t i = 0; i < 4; ++i) {
      G(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4], m[s[8 + 2 * i]],
        m[s[9 + 2 * i]]);
    }
  }
  for (size_t i = 0; i < 8; ++i) h_[i] ^= v[i] ^ v[i + 8];
  SecureWipe(m, sizeof(m));
  SecureWipe(v, sizeof(v));
}

// A full block waits for more, since the last one is compressed in another way.
void Blake2b::Update(ByteSpan bytes) {
  while (!bytes.empty()) {
    if (buffered_ == kBlockSize) {
      counter_ += kBlockSize;
      Compress(buffer_.data(), Last::kNo);
      buffered_ = 0;
    }
    const size_t size = std::min(bytes.size(), kBlockSize - buffered_);
    std::memcpy(buffer_.data() + buffered_, bytes.data(), size);
    buffered_ += size;
    bytes = bytes.subspan(size);
  }
}

void Blake2b::Finish(MutableByteSpan out) {
  COFFER_CHECK(out.size() == digest_size_);
  counter_ += buffered_;
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(buffered_), buffer_.end(), uint8_t{0});
  Compress(buffer_.data(), Last::kYes);
  std::array<uint8_t, kMaxDigestSize> digest;
  for (size_t i = 0; i < 8; ++i) {
    StoreLittleEndian(h_[i], std::span<uint8_t, 8>(digest.data() + 8 * i, 8));
  }
  std::memcpy(out.data(), digest.data(), out.size());
  SecureWipe(digest);
}

void Blake2b::Hash(ByteSpan bytes, MutableByteSpan out) {
  Blake2b hasher(out.size());
  hasher.Update(bytes);
  hasher.Finish(out);
}

}  // namespace coffer::crypto
