// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/testing/nist_drbg.h"

#include <algorithm>
#include <memory>

#include <openssl/evp.h>

#include "coffer/base/check.h"

namespace coffer::crypto::testing {

NistDrbg::NistDrbg(std::span<const uint8_t, kSeedSize> seed) {
  std::array<uint8_t, kSeedSize> data;
  std::ranges::copy(seed, data.begin());
  Update(data);
}

// Block_Encrypt(Key, ++V).
void NistDrbg::NextBlock(std::span<uint8_t, 16> block) {
  for (size_t i = counter_.size(); i-- != 0;) {
    if (++counter_[i] != 0) break;
  }
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context(EVP_CIPHER_CTX_new(),
                                                                           EVP_CIPHER_CTX_free);
  int written = 0;
  COFFER_CHECK(context != nullptr);
  COFFER_CHECK(
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_ecb(), nullptr, key_.data(), nullptr) == 1);
  COFFER_CHECK(EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1);
  COFFER_CHECK(EVP_EncryptUpdate(context.get(), block.data(), &written, counter_.data(), 16) == 1);
  COFFER_CHECK(written == 16);
}

void NistDrbg::Update(const std::array<uint8_t, kSeedSize>& data) {
  std::array<uint8_t, kSeedSize> next;
  for (size_t i = 0; i < kSeedSize; i += 16) {
    NextBlock(std::span<uint8_t, 16>(next.data() + i, 16));
  }
  for (size_t i = 0; i < kSeedSize; ++i) next[i] = static_cast<uint8_t>(next[i] ^ data[i]);
  std::copy_n(next.begin(), 32, key_.begin());
  std::copy_n(next.begin() + 32, 16, counter_.begin());
}

void NistDrbg::Fill(MutableByteSpan out) {
  while (!out.empty()) {
    std::array<uint8_t, 16> block;
    NextBlock(block);
    const size_t size = std::min(out.size(), block.size());
    std::copy_n(block.begin(), size, out.begin());
    out = out.subspan(size);
  }
  Update({});
}

}  // namespace coffer::crypto::testing
