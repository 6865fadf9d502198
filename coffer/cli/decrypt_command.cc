// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "coffer/age/armor.h"
#include "coffer/age/decrypt.h"
#include "coffer/age/scrypt.h"
#include "coffer/base/buffered_reader.h"
#include "coffer/cli/commands.h"
#include "coffer/cli/key_loading.h"
#include "coffer/cli/passphrase.h"
#include "coffer/cli/terminal_text.h"
#include "coffer/cli/transfer.h"
#include "coffer/crypto/passphrase_code.h"
#include "coffer/os/input.h"
#include "coffer/os/memory.h"
#include "coffer/os/output_file.h"
#include "coffer/os/terminal.h"

namespace coffer::cli {
namespace {

Status CheckOptions(const DecryptOptions& options) {
  if (options.verify && options.output.path) {
    return InvalidArgument("--verify writes nothing and can't be combined with -o");
  }
  COFFER_TRY(CheckPassphraseSource(options.passphrase_source));
  return CheckStandardInputUse(options.input, {options.identity_files}, options.passphrase_source);
}

Result<age::FileKey> UnlockWithPassphrase(const age::Header& header,
                                          const DecryptOptions& options) {
  auto code_check = crypto::PassphraseCodeCheck::kNotACode;
  const auto ask = [&]() -> Result<SecretBuffer> {
    COFFER_ASSIGN_OR_RETURN(SecretBuffer passphrase,
                            ExistingPassphrase(options.passphrase_source, ""));
    COFFER_ASSIGN_OR_RETURN(code_check, crypto::CheckPassphraseCode(passphrase.ExposeText()));
    return passphrase;
  };
  age::Identities identities;
  identities.push_back(std::make_unique<age::ScryptIdentity>(ask, options.max_work_factor));
  Result<age::FileKey> file_key = age::UnwrapFileKey(header, identities);
  if (file_key.ok() || file_key.error().code() != ErrorCode::kNoMatch) return file_key;
  const bool mistyped = code_check == crypto::PassphraseCodeCheck::kWrongChecksum;
  return Error(ErrorCode::kNoMatch,
               mistyped
                   ? "incorrect passphrase: it looks like a generated one, but its checksum is "
                     "wrong; check for a typing error"
                   : "incorrect passphrase");
}

Result<age::FileKey> Unlock(const age::Header& header, const DecryptOptions& options) {
  COFFER_TRY(age::CheckScryptStandsAlone(header.stanzas));
  const bool needs_passphrase = header.stanzas.front().type == age::kScryptType;
  if (needs_passphrase && !options.identity_files.empty()) {
    return InvalidArgument(
        "file is passphrase-encrypted but identities were specified with -i/--identity");
  }
  if (needs_passphrase) return UnlockWithPassphrase(header, options);
  if (options.identity_files.empty()) {
    return InvalidArgument(
        "the file is not passphrase-encrypted, identities are required: it has stanzas of type " +
        age::DescribeStanzas(header) + "; give the identity file with -i");
  }
  COFFER_ASSIGN_OR_RETURN(
      const age::Identities identities,
      LoadIdentities(options.identity_files, options.passphrase_source, options.max_work_factor));
  return age::UnwrapFileKey(header, identities);
}

Status WriteOutput(ByteSource& plaintext, const DecryptOptions& options,
                   const TransferOptions& transfer) {
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(options.output.path.value_or("-"),
                             {.in_place = options.output.in_place, .sync = options.output.sync}));
  if (options.output.path || !os::StandardOutputIsTerminal()) {
    COFFER_TRY(Transfer(plaintext, *output, transfer));
  } else {
    TerminalTextSink text(*output);
    COFFER_TRY(Transfer(plaintext, text, transfer));
    COFFER_TRY(text.Finish());
  }
  return output->Commit();
}

}  // namespace

Status RunDecrypt(const DecryptOptions& options) {
  COFFER_TRY(CheckOptions(options));
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::Input> input, os::OpenInput(options.input));
  COFFER_TRY(CheckOutputIsNotInput(options.output, options.input, {options.identity_files},
                                   options.passphrase_source));

  const bool from_terminal = options.input == "-" && os::StandardInputIsTerminal();
  TerminalInput pasted(*input);
  ByteSource& source = from_terminal ? static_cast<ByteSource&>(pasted) : *input;
  BufferedReader outer(source);
  age::ArmorReader armor(outer);
  BufferedReader inner(armor);
  COFFER_ASSIGN_OR_RETURN(const bool armored, age::StartsWithArmor(outer));
  BufferedReader& reader = armored ? inner : outer;

  COFFER_ASSIGN_OR_RETURN(const age::Header header, age::ReadHeader(reader));
  COFFER_ASSIGN_OR_RETURN(const age::FileKey file_key, Unlock(header, options));
  const os::MemoryLock lock(file_key.Expose());
  COFFER_ASSIGN_OR_RETURN(age::Decryptor decryptor, age::Decryptor::BeginPayload(file_key, reader));
  // Close enough for a progress line: the sizes differ by the header and the tags.
  const TransferOptions transfer = {.total_size = armored ? std::nullopt : input->size(),
                                    .quiet = options.quiet};
  if (!options.verify) return WriteOutput(decryptor, options, transfer);
  NullSink nowhere;
  return Transfer(decryptor, nowhere, transfer);
}

}  // namespace coffer::cli
