// SPDX-License-Identifier: Apache-2.0
// HPKE (RFC 9180) in base mode with HKDF-SHA256 and ChaCha20Poly1305, over several KEMs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

inline constexpr uint16_t kHpkeKdfHkdfSha256 = 0x0001;
inline constexpr uint16_t kHpkeAeadChaCha20Poly1305 = 0x0003;

struct HpkeSuite {
  uint16_t kem;
  uint16_t kdf = kHpkeKdfHkdfSha256;
  uint16_t aead = kHpkeAeadChaCha20Poly1305;
};

// KeySchedule of section 5.1 in base mode: writes the key, as long as the AEAD of the suite wants
// it, and the base nonce. The suite's KDF is HKDF-SHA256, its KEM any that made `shared`, ours
// included.
Status HpkeKeySchedule(const HpkeSuite& suite, ByteSpan shared, ByteSpan info, MutableByteSpan key,
                       std::span<uint8_t, 12> base_nonce);

// The messages of one encapsulation, in order. One context either seals or opens.
class HpkeContext {
 public:
  static constexpr size_t kTagSize = ChaCha20Poly1305::kTagSize;

  // The context of a secret that the KEM with this identifier made.
  static Result<HpkeContext> Create(uint16_t kem, ByteSpan shared, ByteSpan info);

  // Sizes and overlap are as in ChaCha20Poly1305, as is the meaning of what Open returns: a message
  // that does not open does not count.
  Status Seal(ByteSpan aad, ByteSpan plaintext, MutableByteSpan ciphertext);
  Result<bool> Open(ByteSpan aad, ByteSpan ciphertext, MutableByteSpan plaintext);

 private:
  using Nonce = std::array<uint8_t, ChaCha20Poly1305::kNonceSize>;

  HpkeContext(ChaCha20Poly1305 aead, const Nonce& base_nonce)
      : aead_(std::move(aead)), base_nonce_(base_nonce) {}
  [[nodiscard]] Nonce NextNonce() const;

  ChaCha20Poly1305 aead_;
  Nonce base_nonce_;
  uint64_t sequence_ = 0;
};

enum class HpkeKem : uint16_t {
  kDhkemP256 = 0x0010,     // keys: a point in either form, a scalar
  kMlKem768P256 = 0x0050,  // a hybrid key of 1249 bytes, a seed of 32
  kXWing = 0x647a,         // a hybrid key of 1216 bytes, a seed of 32
};

struct HpkeSealed {
  Bytes enc;
  Bytes ciphertext;  // kTagSize longer than the plaintext
};

// One message (section 6.1). kInvalidArgument if the key is malformed or gives no secret.
Result<HpkeSealed> HpkeSeal(HpkeKem kem, ByteSpan public_key, ByteSpan info, ByteSpan aad,
                            ByteSpan plaintext, os::Random& random);

// The plaintext, or nothing if it does not open under this key. kInvalidArgument if the key, `enc`
// or the ciphertext cannot be right by their sizes or encoding, or if a curve gives no secret.
Result<std::optional<SecretBuffer>> HpkeOpen(HpkeKem kem, ByteSpan private_key, ByteSpan enc,
                                             ByteSpan info, ByteSpan aad, ByteSpan ciphertext);

}  // namespace coffer::crypto
