// SPDX-License-Identifier: Apache-2.0
// Key files in the store of their vault: keys/<name>-<16 hex>.key, each of them immutable.
#pragma once

#include <string>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/store/store.h"

namespace coffer::vault {

// Puts a key file under keys/ with a name made of `name` and its hash; returns its key. Durable
// when it succeeds.
Result<std::string> PublishKeyFile(store::Store& store, std::string_view name, ByteSpan file);

// Puts `file` in the place of the one at `old_key`, with its name. `secret` has to open what can be
// read back of the new one before the old one goes: at every moment there is one that opens.
Status ReplaceKeyFile(store::Store& store, const std::string& old_key, ByteSpan file,
                      const SecretBuffer& secret);

// That a key file opens with `secret`; else why not.
Status ProveKeyFile(ByteSpan file, const SecretBuffer& secret);

}  // namespace coffer::vault
