// SPDX-License-Identifier: Apache-2.0
// Where a vault is, and its key files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/cli/vault_options.h"
#include "coffer/crypto/coffer_kem.h"
#include "coffer/store/store.h"
#include "coffer/vault/key_file.h"

namespace coffer::cli {

// The directory of the vault: kInvalidArgument if nothing says where.
Result<std::string> VaultPath(const VaultTarget& target);

struct KeyFileSource {
  std::string name;                // for messages: a path, or its key in the store
  std::optional<std::string> key;  // if it is in the vault
  Bytes bytes;
  vault::KeyFile file;
};

// What --key or COFFER_KEY name.
std::optional<std::string> KeyFilePath(const VaultTarget& target);

// That key file; else all of this vault in the vault, ascending by name. Those that are damaged are
// warned about and left out; it is an error if none is left. kNotFound if there is no vault.
Result<std::vector<KeyFileSource>> ReadKeyFiles(const VaultTarget& target, store::Store& store);

struct Unlocked {
  crypto::CofferSeed seed;
  size_t slot = 0;
  KeyFileSource source;
};

// Tries a secret, and if it looks like a recovery code also the form in which it was shown, on the
// key files in their order. kWrongPassphrase if none opens.
Result<Unlocked> TryUnlock(std::vector<KeyFileSource>& sources, const SecretBuffer& secret);

// Asks for the passphrase, or takes it from where `target` or the environment say, and unlocks.
Result<Unlocked> Unlock(const VaultTarget& target, store::Store& store);

}  // namespace coffer::cli
