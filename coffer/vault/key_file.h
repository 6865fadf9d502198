// SPDX-License-Identifier: Apache-2.0
// The key file of a vault: its seed, sealed under a passphrase in each of two slots. Version 1, 212
// bytes, integers big-endian; docs/format/keyfile.md has an example and the reasons.
//
//   file = magic[16] version:u16=1 flags:u16=0 vault_id[16] slot slot sha256[32]
//   slot = kdf:u8=1 lanes:u8 passes:u16 memory_kib:u32 salt[16] sealed[48]
//
//   tag    = Argon2id(passphrase, salt, parameters)[32]
//   key    = HKDF-SHA256(ikm = tag, salt = "", info = "coffer/slot/v1" || index:u8 ||
//                        the first 8 bytes of the slot || vault_id)[32]
//   sealed = ChaCha20-Poly1305(key, nonce = 0, aad = "", seed[32])
//
// Both slots are always filled: an unused one is random bytes, which nobody can tell from a sealed
// seed without its passphrase.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/argon2id.h"
#include "coffer/crypto/coffer_kem.h"
#include "coffer/os/random.h"

namespace coffer::vault {

using VaultId = std::array<uint8_t, 16>;

inline constexpr size_t kKeyFileSize = 212;
inline constexpr size_t kKeySlotCount = 2;

// The costs that a key file may ask for and those that are written, and what computes the hashes.
// Tests have others; the product uses kKeyFilePolicy alone.
struct KeyFilePolicy {
  crypto::Argon2idParameters floor;
  crypto::Argon2idParameters ceiling;
  crypto::Argon2idParameters written;
  Status (*hash)(std::span<const crypto::Argon2idJob> jobs);
};

inline constexpr KeyFilePolicy kKeyFilePolicy = {
    .floor = {.memory_kib = 64 * 1024, .passes = 3, .lanes = 4},
    .ceiling = {.memory_kib = 1024 * 1024, .passes = 16, .lanes = 16},
    .written = {.memory_kib = 64 * 1024, .passes = 3, .lanes = 4},
    .hash = crypto::Argon2idBatch,
};

struct UnlockedKeyFile {
  crypto::CofferSeed seed;
  size_t slot = 0;  // the one that the passphrase opens
};

class KeyFile {
 public:
  struct Contents {
    VaultId vault_id;
    const crypto::CofferSeed& seed;
    const SecretBuffer& passphrase;               // for slot 0
    const SecretBuffer* second_secret = nullptr;  // for slot 1, e.g. a recovery code
  };

  // Draws the two salts, then what fills slot 1 if there is no second secret. kInvalidArgument if
  // a secret is empty or both are the same.
  static Result<KeyFile> Create(const Contents& contents, os::Random& random,
                                const KeyFilePolicy& policy = kKeyFilePolicy);

  // kDamaged for what is not a key file as it was written, kNeedsNewer for one of another version,
  // kInvalidArgument and kTooLarge for costs below the floor and above the ceiling.
  static Result<KeyFile> Parse(ByteSpan bytes, const KeyFilePolicy& policy = kKeyFilePolicy);

  [[nodiscard]] Result<Bytes> Encode() const;  // fails only with the library

  [[nodiscard]] const VaultId& vault_id() const { return vault_id_; }

  // Computes both slots at the same time, whichever it is that opens, and chooses without a branch,
  // so that time does not tell. kWrongPassphrase if none opens.
  [[nodiscard]] Result<UnlockedKeyFile> Unlock(const SecretBuffer& secret,
                                               const KeyFilePolicy& policy = kKeyFilePolicy) const;

  // A key file whose slot `slot` opens with `new_secret`, under a new salt and the written costs.
  // The other slot is copied as it is. `unlocked` comes from this file. kInvalidArgument if the
  // secret is empty or opens the other slot too.
  [[nodiscard]] Result<KeyFile> ReplaceSlot(const UnlockedKeyFile& unlocked, size_t slot,
                                            const SecretBuffer& new_secret, os::Random& random,
                                            const KeyFilePolicy& policy = kKeyFilePolicy) const;

 private:
  struct Slot {
    crypto::Argon2idParameters parameters;
    std::array<uint8_t, 16> salt;
    std::array<uint8_t, 48> sealed;
  };
  struct SlotAccess;

  KeyFile() = default;

  VaultId vault_id_{};
  std::array<Slot, kKeySlotCount> slots_{};
};

// "<name>-<first 16 hexadecimal digits of the SHA-256 of `file`>.key". A name is 1 to 64 of
// A-Z a-z 0-9 . _ - , else kInvalidArgument.
Result<std::string> KeyFileName(std::string_view name, ByteSpan file);

}  // namespace coffer::vault
