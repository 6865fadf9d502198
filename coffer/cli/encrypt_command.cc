// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "coffer/age/armor.h"
#include "coffer/age/encrypt.h"
#include "coffer/age/scrypt.h"
#include "coffer/cli/commands.h"
#include "coffer/cli/key_loading.h"
#include "coffer/cli/passphrase.h"
#include "coffer/cli/transfer.h"
#include "coffer/os/input.h"
#include "coffer/os/memory.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/os/terminal.h"

namespace coffer::cli {
namespace {

bool WantsPassphrase(const EncryptOptions& options) {
  // With -i, a passphrase from a file is for encrypted identity files.
  return options.passphrase || (options.passphrase_source.any() && options.identity_files.empty());
}

Status CheckOptions(const EncryptOptions& options) {
  const bool named = !options.recipients.empty() || !options.recipients_files.empty() ||
                     !options.identity_files.empty();
  if (!named && !WantsPassphrase(options)) {
    return InvalidArgument("missing recipients: give -r, -R, -i or -p");
  }
  if (named && WantsPassphrase(options)) {
    return InvalidArgument("-p/--passphrase can't be combined with -r, -R or -i");
  }
  COFFER_TRY(CheckPassphraseSource(options.passphrase_source));
  return CheckStandardInputUse(options.input, {options.recipients_files, options.identity_files},
                               options.passphrase_source);
}

Result<age::Recipients> ChooseRecipients(const EncryptOptions& options) {
  if (!WantsPassphrase(options)) return LoadRecipients(options);
  COFFER_ASSIGN_OR_RETURN(SecretBuffer passphrase, NewPassphrase(options.passphrase_source));
  age::Recipients recipients;
  recipients.push_back(std::make_unique<age::ScryptRecipient>(std::move(passphrase)));
  return recipients;
}

Status EncryptStream(const age::Recipients& recipients, os::Input& input, ByteSink& sink,
                     bool quiet) {
  os::Random& random = os::SystemRandom();
  const age::FileKey file_key = age::NewFileKey(random);
  const os::MemoryLock lock(file_key.Expose());
  COFFER_ASSIGN_OR_RETURN(age::Encryptor encryptor,
                          age::Encryptor::Begin(file_key, recipients, random, sink));
  COFFER_TRY(Transfer(input, encryptor, {.total_size = input.size(), .quiet = quiet}));
  return encryptor.Close();
}

}  // namespace

Status RunEncrypt(const EncryptOptions& options) {
  COFFER_TRY(CheckOptions(options));
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::Input> input, os::OpenInput(options.input));
  COFFER_TRY(CheckOutputIsNotInput(options.output, options.input,
                                   {options.recipients_files, options.identity_files},
                                   options.passphrase_source));
  if (!options.output.path && !options.armor && os::StandardOutputIsTerminal()) {
    return InvalidArgument(
        "refusing to output binary to the terminal; use -a for text, or -o - to do it anyway");
  }
  COFFER_ASSIGN_OR_RETURN(const age::Recipients recipients, ChooseRecipients(options));
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(options.output.path.value_or("-"),
                             {.in_place = options.output.in_place, .sync = options.output.sync}));
  if (options.armor) {
    age::ArmorWriter armor(*output);
    COFFER_TRY(EncryptStream(recipients, *input, armor, options.quiet));
    COFFER_TRY(armor.Close());
  } else {
    COFFER_TRY(EncryptStream(recipients, *input, *output, options.quiet));
  }
  return output->Commit();
}

}  // namespace coffer::cli
