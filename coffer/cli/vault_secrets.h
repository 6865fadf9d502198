// SPDX-License-Identifier: Apache-2.0
// The secrets of a vault at the command line: passphrases from the environment too, and recovery
// codes.
#pragma once

#include <optional>
#include <string>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/cli/passphrase_source.h"

namespace coffer::cli {

// `options`, or if none is set what COFFER_PASSPHRASE_FILE and COFFER_PASSPHRASE_COMMAND say.
PassphraseSourceOptions WithEnvironment(PassphraseSourceOptions options);

struct RecoveryOptions {
  bool none = false;                // no recovery code
  std::optional<std::string> file;  // a new file to write it to
};

// kInvalidArgument if both are set, or if neither is and there is no terminal to show a code on.
Status CheckRecoveryOptions(const RecoveryOptions& options);

// A new recovery code. Written to the file, on stable storage; else shown on the terminal, and
// asked back until it is right. kCancelled if the person gives up.
Result<std::optional<SecretBuffer>> NewRecoveryCode(const RecoveryOptions& options);

// A recovery code as it was shown, from one that was typed with capitals, spaces or without dashes;
// nothing if it is no code with a right checksum.
std::optional<SecretBuffer> AsRecoveryCode(const SecretBuffer& typed);

// What to say about a secret that opens nothing: whether it is a mistyped code.
Error WrongPassphrase(const SecretBuffer& secret);

}  // namespace coffer::cli
