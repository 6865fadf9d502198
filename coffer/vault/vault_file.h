// SPDX-License-Identifier: Apache-2.0
// The file coffer-vault: the recipient of a vault (docs/format/vault.md, "coffer-vault").
#pragma once

#include <cstdint>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/crypto/coffer_kem.h"
#include "coffer/vault/key_file.h"

namespace coffer::vault {

inline constexpr std::string_view kVaultFileKey = "coffer-vault";
inline constexpr size_t kVaultFileSize = 16948;

struct VaultFile {
  VaultId id{};
  Bytes ek;  // kCofferEncapsulationKeySize bytes

  // The recipient that derives from the seed. Costs a key generation.
  static Result<VaultFile> FromSeed(const crypto::CofferSeed& seed, const VaultId& id);
};

// The file's bytes, with its MAC.
Result<Bytes> EncodeVaultFile(const VaultFile& file, const crypto::CofferSeed& seed);

// kDamaged for what is not a file as it was written, kNeedsNewer for one of another version.
// Nothing in it is to be trusted before VerifyVaultFile: anyone can make a checksum.
Result<VaultFile> ParseVaultFile(ByteSpan bytes);

// The same, and kForged unless its MAC is right under the seed and its recipient is that of the
// seed: whoever writes to the storage can put another one there, and would read all that is added.
// Costs a key generation.
Result<VaultFile> VerifyVaultFile(ByteSpan bytes, const crypto::CofferSeed& seed,
                                  const VaultId& expected_id);

}  // namespace coffer::vault
