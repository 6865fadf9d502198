// SPDX-License-Identifier: Apache-2.0
// Passphrases: asked for on the terminal, or from a file, a descriptor or a command.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/cli/options.h"

namespace coffer::cli {

inline constexpr size_t kMaxPassphraseSize = size_t{1} << 20;

// kInvalidArgument if more than one source is given; kIo if the descriptor is not open. To be
// called before any file is opened, since one of ours would get the number of a descriptor that is
// not there, and be read as the passphrase.
Status CheckPassphraseSource(const PassphraseSourceOptions& options);

// A passphrase for something new. On the terminal it is asked for twice; left empty, one is made
// and shown. From elsewhere it must not be empty.
Result<SecretBuffer> NewPassphrase(const PassphraseSourceOptions& options);

// The passphrase of something that exists. `what` is for the prompt, e.g. "" or " for identity file
// x".
Result<SecretBuffer> ExistingPassphrase(const PassphraseSourceOptions& options,
                                        const std::string& what);

// Existing passphrases of several things. On the terminal each is asked for; from elsewhere, where
// a second look may find nothing, one is read when the first is wanted and serves for all.
class ExistingPassphrases {
 public:
  explicit ExistingPassphrases(PassphraseSourceOptions options) : options_(std::move(options)) {}

  Result<SecretBuffer> Get(const std::string& what);

 private:
  PassphraseSourceOptions options_;
  std::optional<SecretBuffer> read_;
};

}  // namespace coffer::cli
