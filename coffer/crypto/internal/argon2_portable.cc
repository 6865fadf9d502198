// SPDX-License-Identifier: Apache-2.0
// Argon2's compression function in portable C++: the reference for the other files.
#include <bit>

#include "coffer/crypto/internal/argon2_kernels.h"

namespace coffer::crypto::internal {
namespace {

// Section 3.6: a + b + 2 * trunc(a) * trunc(b).
uint64_t AddAndMultiply(uint64_t a, uint64_t b) {
  return a + b + 2 * (a & 0xffffffff) * (b & 0xffffffff);
}

// Section 3.6, GB.
void QuarterRound(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d) {
  a = AddAndMultiply(a, b);
  d = std::rotr(d ^ a, 32);
  c = AddAndMultiply(c, d);
  b = std::rotr(b ^ c, 24);
  a = AddAndMultiply(a, b);
  d = std::rotr(d ^ a, 16);
  c = AddAndMultiply(c, d);
  b = std::rotr(b ^ c, 63);
}

// Section 3.6, P on the words v_0 .. v_15: pairs of them, `stride` words from one pair to the next.
void Permute(uint64_t* first, size_t stride) {
  uint64_t v[16];
  for (size_t i = 0; i < 16; ++i) v[i] = first[i / 2 * stride + i % 2];
  for (size_t i = 0; i < 4; ++i) QuarterRound(v[i], v[4 + i], v[8 + i], v[12 + i]);
  for (size_t i = 0; i < 4; ++i) {
    QuarterRound(v[i], v[4 + (i + 1) % 4], v[8 + (i + 2) % 4], v[12 + (i + 3) % 4]);
  }
  for (size_t i = 0; i < 16; ++i) first[i / 2 * stride + i % 2] = v[i];
}

// Section 3.5: R = X xor Y as 8 rows of 8 pairs of words; P on each row, then on each column;
// `out` is xored with the result and R.
void CompressOver(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
                  Argon2Scratch& scratch) {
  Argon2Block& z = scratch.block[0];
  for (size_t i = 0; i < kArgon2Words; ++i) {
    z.word[i] = x.word[i] ^ y.word[i];
    out.word[i] ^= z.word[i];
  }
  for (size_t row = 0; row < 8; ++row) Permute(z.word + 16 * row, 2);
  for (size_t column = 0; column < 8; ++column) Permute(z.word + 2 * column, 16);
  for (size_t i = 0; i < kArgon2Words; ++i) out.word[i] ^= z.word[i];
}

void Compress(const Argon2Block& x, const Argon2Block& y, Argon2Block& out,
              Argon2Scratch& scratch) {
  out = {};
  CompressOver(x, y, out, scratch);
}

constexpr Argon2Order AsWritten() {
  Argon2Order order{};
  for (size_t w = 0; w < kArgon2Words; ++w) order[w] = static_cast<uint8_t>(w);
  return order;
}

}  // namespace

const Argon2Implementation kArgon2Portable = {
    .name = "portable",
    .level = os::SimdLevel::kPortable,
    .order = AsWritten(),
    .compress = Compress,
    .compress_over = CompressOver,
};

}  // namespace coffer::crypto::internal
