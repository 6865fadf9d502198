// SPDX-License-Identifier: Apache-2.0
// Recipients and identities as the command line names them.
#pragma once

#include "coffer/age/recipient.h"
#include "coffer/base/result.h"
#include "coffer/cli/options.h"

namespace coffer::cli {

// Those of -r, -R and -i, in that order. Warns of one that is given twice.
Result<age::Recipients> LoadRecipients(const EncryptOptions& options);

// Those of -i. An encrypted identity file asks for its passphrase when it is needed. Warns of a
// file that is given twice.
Result<age::Identities> LoadIdentities(const std::vector<std::string>& paths,
                                       const PassphraseSourceOptions& passphrase_source,
                                       int max_work_factor);

// kInvalidArgument if the output, a path or standard output, is the file that is the input or one
// of the keys or the passphrase, under whatever name: it would destroy them, or grow without end.
Status CheckOutputIsNotInput(const OutputTarget& output, const std::string& input,
                             const std::vector<std::vector<std::string>>& key_files,
                             const PassphraseSourceOptions& passphrase_source);

// kInvalidArgument if standard input is named more than once.
Status CheckStandardInputUse(const std::string& input,
                             const std::vector<std::vector<std::string>>& key_files,
                             const PassphraseSourceOptions& passphrase_source);

}  // namespace coffer::cli
