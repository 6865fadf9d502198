// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "coffer/age/key_files.h"
#include "coffer/age/x25519.h"
#include "coffer/base/quote.h"
#include "coffer/cli/commands.h"
#include "coffer/cli/console.h"
#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/input.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/os/terminal.h"

namespace coffer::cli {
namespace {

Error Invalid(std::string message) {
  return Error(ErrorCode::kInvalidArgument, std::move(message));
}

Status CheckOptions(const KeygenOptions& options) {
  if (options.to_public) {
    if (options.type.empty()) return OkStatus();
    return Invalid("-y can't be combined with --type: it takes the keys that are there");
  }
  if (options.input != "-") return Invalid("an INPUT is only for -y");
  if (options.type.empty()) return Invalid("give the type of the key: --type x25519");
  if (options.type != "x25519") {
    return Invalid("unknown type " + Quote(options.type) + "; there is x25519");
  }
  return OkStatus();
}

// Whether standard output is a file that others may read: no place for a secret key.
Result<bool> StandardOutputIsWorldReadable() {
  COFFER_ASSIGN_OR_RETURN(const auto file, os::RealFileSystem().OpenDescriptor(1));
  COFFER_ASSIGN_OR_RETURN(const os::FileStat stat, file->Stat());
  return stat.kind == os::FileKind::kRegular && (stat.mode & 0004) != 0;
}

Status Generate(const KeygenOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const age::X25519Identity identity,
                          age::X25519Identity::Generate(os::SystemRandom()));
  const std::string recipient = identity.recipient().ToString();
  SecretBuffer text =
      SecretBuffer::CopyOf("# created: " + os::LocalTimeText(os::SystemClock().WallNanoseconds()) +
                           "\n# public key: " + recipient + "\n");
  text.Append(identity.ToString().Expose());
  text.Append("\n");

  const bool to_file = options.output && *options.output != "-" && !options.output->empty();
  if (!to_file) {
    COFFER_ASSIGN_OR_RETURN(const bool exposed, StandardOutputIsWorldReadable());
    if (exposed) PrintWarning("writing secret key to a world-readable file");
  }
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::OutputFile> output,
                          os::OutputFile::Create(options.output.value_or("-"),
                                                 {.kind = os::OutputKind::kKeyFile, .sync = true}));
  COFFER_TRY(output->Write(text.Expose()));
  COFFER_TRY(output->Commit());
  if (!options.quiet && (to_file || !os::StandardOutputIsTerminal())) {
    const std::string line = "Public key: " + recipient + "\n";
    COFFER_TRY(os::StandardError().Write(AsBytes(line)));
  }
  return OkStatus();
}

Status PrintRecipients(const KeygenOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer content,
                          os::ReadSecretFile(options.input, age::kMaxKeyFileSize));
  if (age::IsEncryptedIdentityFile(content.ExposeText())) {
    return Invalid("the identity file is encrypted; decrypt it and pipe it to coffer keygen -y");
  }
  Result<age::Identities> identities = age::ParseIdentityFile(content.ExposeText());
  if (!identities.ok()) {
    return std::move(identities).error().WithContext("identity file " + Quote(options.input));
  }
  std::string text;
  for (const auto& identity : *identities) {
    COFFER_ASSIGN_OR_RETURN(const auto recipient, identity->ToRecipient());
    text += recipient->ToString() + "\n";
  }
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::OutputFile> output,
                          os::OutputFile::Create(options.output.value_or("-"), {}));
  COFFER_TRY(output->Write(AsBytes(text)));
  return output->Commit();
}

}  // namespace

Status RunKeygen(const KeygenOptions& options) {
  COFFER_TRY(CheckOptions(options));
  return options.to_public ? PrintRecipients(options) : Generate(options);
}

}  // namespace coffer::cli
