// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coffer/age/coffer_recipient.h"
#include "coffer/age/encrypt.h"
#include "coffer/base/ct.h"
#include "coffer/base/quote.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/passphrase.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_secrets.h"
#include "coffer/cli/vault_unlock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kOwnerName = "owner";

// One encapsulation and decapsulation: a machine that computes wrongly shows it now, and not when
// somebody needs the data.
Status ProveKeyPair(const crypto::CofferSeed& seed) {
  age::CofferIdentity identity(seed.Duplicate());
  COFFER_ASSIGN_OR_RETURN(const auto recipient, identity.ToRecipient());
  const age::FileKey file_key = age::NewFileKey(os::SystemRandom());
  COFFER_ASSIGN_OR_RETURN(const age::WrappedFileKey wrapped,
                          recipient->Wrap(file_key, os::SystemRandom()));
  COFFER_ASSIGN_OR_RETURN(const std::optional<age::FileKey> unwrapped,
                          identity.Unwrap(wrapped.stanzas));
  if (unwrapped && ct::Equal(unwrapped->Expose(), file_key.Expose())) return OkStatus();
  return Error(ErrorCode::kCrypto, "the new key does not open what it encrypts; nothing was made");
}

Status WriteKeyFile(const std::string& path, ByteSpan bytes) {
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(path, {.kind = os::OutputKind::kKeyFile, .sync = true}));
  COFFER_TRY(output->Write(bytes));
  return output->Commit();
}

// What init would find out after the questions, if it can be known before.
Status CheckNoVault(store::Store& store, const std::string& path) {
  const Result<store::ObjectInfo> info = store.Stat(vault::kVaultFileKey);
  if (info.ok()) {
    return Error(ErrorCode::kAlreadyExists, Quote(path) + " has a vault already");
  }
  if (info.error().code() == ErrorCode::kNotFound) return OkStatus();
  return info.error();
}

}  // namespace

Result<ExitCode> RunInit(const InitOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::string path, VaultPath(options.target));
  const PassphraseSourceOptions source = WithEnvironment(options.target.passphrase_source);
  COFFER_TRY(CheckPassphraseSource(source));
  const RecoveryOptions recovery{options.no_recovery, options.recovery_file};
  COFFER_TRY(CheckRecoveryOptions(recovery));
  store::LocalStore store(os::RealFileSystem(), path);
  COFFER_TRY(CheckNoVault(store, path));

  COFFER_ASSIGN_OR_RETURN(const SecretBuffer passphrase, NewPassphrase(source));
  vault::VaultId id;
  os::SystemRandom().Fill(id);
  crypto::CofferSeed seed;
  os::SystemRandom().Fill(seed.ExposeMutable());
  COFFER_TRY(ProveKeyPair(seed));
  COFFER_ASSIGN_OR_RETURN(const std::optional<SecretBuffer> code, NewRecoveryCode(recovery));
  COFFER_ASSIGN_OR_RETURN(
      const vault::KeyFile key_file,
      vault::KeyFile::Create({id, seed, passphrase, code ? &*code : nullptr}, os::SystemRandom()));
  COFFER_ASSIGN_OR_RETURN(Bytes bytes, key_file.Encode());
  const std::optional<std::string> key_path = KeyFilePath(options.target);
  std::optional<std::string> name;
  if (key_path) {
    COFFER_TRY(WriteKeyFile(*key_path, bytes));
  } else {
    COFFER_ASSIGN_OR_RETURN(name, vault::KeyFileName(kOwnerName, bytes));
  }
  Status made = vault::InitVault(store, {id, seed, std::move(bytes), name}, os::SystemRandom());
  if (!made.ok() && key_path) {
    PrintNote("the key file " + Quote(*key_path) + " is of a vault that was not made");
  }
  COFFER_TRY(std::move(made));
  if (!options.target.quiet) PrintNote("the vault " + DisplayName(path) + " is ready");
  return ExitCode::kOk;
}

}  // namespace coffer::cli
