// SPDX-License-Identifier: Apache-2.0
// The keys of MACs (docs/format/vault.md, "coffer-vault", "Records").
#include "coffer/base/endian.h"
#include "coffer/crypto/hkdf.h"
#include "coffer/vault/records.h"

namespace coffer::vault {
namespace {

Result<MacKey> Derive(const crypto::CofferSeed& seed, const VaultId& vault, ByteSpan info) {
  MacKey key;
  COFFER_TRY(
      crypto::HkdfSha256({.ikm = seed.Expose(), .salt = vault, .info = info}, key.ExposeMutable()));
  return key;
}

}  // namespace

Result<MacKey> VaultMacKey(const crypto::CofferSeed& seed, const VaultId& vault) {
  return Derive(seed, vault, AsBytes("coffer/vault/v1"));
}

Result<MacKey> WriterMacKey(const crypto::CofferSeed& seed, const VaultId& vault,
                            const WriterId& writer, uint64_t capability) {
  // The label has one byte for it.
  if (capability > 0xff) {
    return Error(ErrorCode::kNeedsNewer,
                 "the record was written with a capability that needs a newer coffer");
  }
  Bytes info;
  Append(info, AsBytes("coffer/writer/v1"));
  Append(info, writer);
  info.push_back(static_cast<uint8_t>(capability));
  return Derive(seed, vault, info);
}

Result<MacKey> CheckpointMacKey(const crypto::CofferSeed& seed, const VaultId& vault) {
  return Derive(seed, vault, AsBytes("coffer/checkpoint/v1"));
}

}  // namespace coffer::vault
