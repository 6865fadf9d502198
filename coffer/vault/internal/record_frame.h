// SPDX-License-Identifier: Apache-2.0
// What is around the body of a record, and its MAC:
//
//   record = magic[8] || body size:u64 || body || MAC[32] || zeros
#pragma once

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/vault/records.h"

namespace coffer::vault::internal {

inline constexpr size_t kMacSize = 32;

Status AppendMac(const MacKey& key, SecretBuffer& bytes);
// kForged if it is wrong, in constant time.
Status VerifyMac(const MacKey& key, ByteSpan bytes, ByteSpan mac);

// Reads the vault, writer and capability at the front of a body that nobody vouches for yet, and
// derives the key. kForged if it is another vault's.
Result<MacKey> KeyOfWriter(ByteSpan body, const crypto::CofferSeed& seed, const VaultId& vault);

}  // namespace coffer::vault::internal
