// SPDX-License-Identifier: Apache-2.0
// The matrix A from AES-128 through OpenSSL: for processors, or levels, without AES of their own.
#include <array>
#include <cstring>
#include <memory>

#include <openssl/evp.h>

#include "coffer/base/endian.h"
#include "coffer/crypto/internal/frodo_kernels.h"

namespace coffer::crypto::internal {
namespace {

struct ContextDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// Fetched once. It lives as long as the process; null if OpenSSL has no AES.
const EVP_CIPHER* Cipher() {
  static const EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, "AES-128-ECB", nullptr);
  return cipher;
}

// OpenSSL expands the key by itself.
void Expand(std::span<const uint8_t, 16> seed, FrodoAesKey& key) {
  std::memcpy(key.round_keys.data(), seed.data(), seed.size());
}

bool Rows(const FrodoAesKey& key, size_t first, size_t count, size_t n, uint16_t* out) {
  const std::unique_ptr<EVP_CIPHER_CTX, ContextDeleter> context(EVP_CIPHER_CTX_new());
  if (context == nullptr || Cipher() == nullptr ||
      EVP_EncryptInit_ex2(context.get(), Cipher(), key.round_keys.data(), nullptr, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
    return false;
  }
  // The blocks are written where their encryption goes: i, j, and twelve zero bytes.
  auto* const bytes = reinterpret_cast<uint8_t*>(out);
  const size_t size = count * n * 2;
  std::memset(bytes, 0, size);
  uint8_t* block = bytes;
  for (size_t i = first; i < first + count; ++i) {
    for (size_t j = 0; j < n; j += 8, block += 16) {
      StoreLittleEndian(static_cast<uint16_t>(i), std::span<uint8_t, 2>(block, 2));
      StoreLittleEndian(static_cast<uint16_t>(j), std::span<uint8_t, 2>(block + 2, 2));
    }
  }
  int written = 0;
  return EVP_EncryptUpdate(context.get(), bytes, &written, bytes, static_cast<int>(size)) == 1 &&
         static_cast<size_t>(written) == size;
}

bool Always() { return true; }

}  // namespace

const FrodoAes kFrodoAesPortable = {.name = "openssl",
                                    .level = os::SimdLevel::kPortable,
                                    .supported = Always,
                                    .expand = Expand,
                                    .rows = Rows};

}  // namespace coffer::crypto::internal
