// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/vault_secrets.h"

#include <memory>
#include <string_view>
#include <utility>

#include "coffer/base/ct.h"
#include "coffer/crypto/passphrase_code.h"
#include "coffer/os/environment.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/os/terminal.h"

namespace coffer::cli {
namespace {

Status WriteRecoveryFile(const std::string& path, const SecretBuffer& code) {
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(path, {.kind = os::OutputKind::kKeyFile, .sync = true}));
  SecretBuffer line = code.Duplicate();
  line.Append("\n");
  COFFER_TRY(output->Write(line.Expose()));
  return output->Commit();
}

// What people write down comes back with capitals, spaces and without dashes at times.
SecretBuffer Normalised(const SecretBuffer& typed) {
  SecretBuffer code;
  code.Reserve(crypto::kPassphraseCodeSize + typed.size());
  size_t digits = 0;
  for (const char c : typed.ExposeText()) {
    if (c == '-' || c == ' ' || c == '\t' || c == '\r') continue;
    if (digits > 0 && digits % 4 == 0) code.Append("-");
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    code.PushBack(static_cast<uint8_t>(lower));
    ++digits;
  }
  return code;
}

Status ShowAndAskBack(os::Terminal& terminal, const SecretBuffer& code) {
  SecretBuffer text = SecretBuffer::CopyOf(
      "\nThe recovery code opens the vault without the passphrase. Keep it on paper, apart from\n"
      "this machine:\n\n    ");
  text.Append(code.Expose());
  text.Append("\n\n");
  COFFER_TRY(terminal.Show(text.ExposeText()));
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const SecretBuffer typed,
                            terminal.ReadLine("Type the recovery code to go on:"));
    if (ct::Equal(Normalised(typed).Expose(), code.Expose())) return OkStatus();
    COFFER_TRY(terminal.Show("That is not the code. Try again, or stop with Ctrl-C.\n"));
  }
}

}  // namespace

PassphraseSourceOptions WithEnvironment(PassphraseSourceOptions options) {
  if (options.any()) return options;
  options.file = os::GetEnvironment("COFFER_PASSPHRASE_FILE");
  if (!options.file) options.command = os::GetEnvironment("COFFER_PASSPHRASE_COMMAND");
  return options;
}

Status CheckRecoveryOptions(const RecoveryOptions& options) {
  if (options.none && options.file) {
    return UsageError("give only one of --no-recovery and --recovery-file");
  }
  if (options.none || options.file) return OkStatus();
  if (os::Terminal::Open().ok()) return OkStatus();
  return UsageError(
      "no terminal to show a recovery code on; give --recovery-file FILE or "
      "--no-recovery");
}

Result<std::optional<SecretBuffer>> NewRecoveryCode(const RecoveryOptions& options) {
  if (options.none) return std::optional<SecretBuffer>();
  COFFER_ASSIGN_OR_RETURN(SecretBuffer code, crypto::GeneratePassphraseCode(os::SystemRandom()));
  if (options.file) {
    COFFER_TRY(WriteRecoveryFile(*options.file, code));
  } else {
    COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::Terminal> terminal, os::Terminal::Open());
    COFFER_TRY(ShowAndAskBack(*terminal, code));
  }
  return std::optional<SecretBuffer>(std::move(code));
}

std::optional<SecretBuffer> AsRecoveryCode(const SecretBuffer& typed) {
  SecretBuffer code = Normalised(typed);
  const auto check = crypto::CheckPassphraseCode(code.ExposeText());
  if (!check.ok() || *check != crypto::PassphraseCodeCheck::kGood) return std::nullopt;
  return code;
}

Error WrongPassphrase(const SecretBuffer& secret) {
  const auto check = crypto::CheckPassphraseCode(secret.ExposeText());
  const bool mistyped = check.ok() && *check == crypto::PassphraseCodeCheck::kWrongChecksum;
  return Error(ErrorCode::kWrongPassphrase,
               mistyped ? "wrong recovery code or passphrase: it looks like a generated one, but "
                          "its checksum is wrong; check for a typing error"
                        : "wrong passphrase or recovery code");
}

}  // namespace coffer::cli
