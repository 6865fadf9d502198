// SPDX-License-Identifier: Apache-2.0
// ChaCha20-Poly1305 (RFC 8439).
#pragma once

#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::crypto {

// One key, many messages. Keeps one context of the library: a message costs no allocation and no
// key set-up beyond what the algorithm needs. Not for use by several threads at once.
class ChaCha20Poly1305 {
 public:
  static constexpr size_t kKeySize = 32;
  static constexpr size_t kNonceSize = 12;
  static constexpr size_t kTagSize = 16;
  using Key = std::span<const uint8_t, kKeySize>;
  using Nonce = std::span<const uint8_t, kNonceSize>;

  // Fails with kCrypto if the library lacks the algorithm.
  static Result<ChaCha20Poly1305> Create(Key key);

  ChaCha20Poly1305(ChaCha20Poly1305&& other) noexcept;
  ChaCha20Poly1305& operator=(ChaCha20Poly1305&& other) noexcept;
  ~ChaCha20Poly1305();

  // Encrypts `plaintext` to `ciphertext`, which is kTagSize longer: the tag stands last. They are
  // the same memory from its start on, or do not overlap. A nonce is used once with a key.
  Status Seal(Nonce nonce, ByteSpan additional_data, ByteSpan plaintext,
              MutableByteSpan ciphertext);

  // Decrypts `ciphertext`, whose last kTagSize bytes are the tag, to `plaintext`, which is that
  // much shorter. Overlap as above. Returns whether the tag was right; if not, `plaintext` is
  // wiped. An error means that the library failed, and wipes `plaintext` too.
  Result<bool> Open(Nonce nonce, ByteSpan additional_data, ByteSpan ciphertext,
                    MutableByteSpan plaintext);

 private:
  explicit ChaCha20Poly1305(void* context) : context_(context) {}

  void* context_;  // EVP_CIPHER_CTX with the key set, owned
};

}  // namespace coffer::crypto
