// SPDX-License-Identifier: Apache-2.0
// Key files: passwd, recover, key add, key list, key export.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "coffer/age/coffer_recipient.h"
#include "coffer/base/check.h"
#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/entry_text.h"
#include "coffer/cli/passphrase.h"
#include "coffer/cli/vault_commands.h"
#include "coffer/cli/vault_secrets.h"
#include "coffer/cli/vault_unlock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/key_store.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {
namespace {

constexpr size_t kPassphraseSlot = 0;
constexpr size_t kRecoverySlot = 1;

struct OpenKeyFile {
  std::unique_ptr<store::LocalStore> store;
  Unlocked unlocked;
};

Result<OpenKeyFile> UnlockKeyFile(const VaultTarget& target) {
  COFFER_ASSIGN_OR_RETURN(const std::string path, VaultPath(target));
  auto store = std::make_unique<store::LocalStore>(os::RealFileSystem(), path);
  COFFER_ASSIGN_OR_RETURN(Unlocked unlocked, Unlock(target, *store));
  return OpenKeyFile{std::move(store), std::move(unlocked)};
}

vault::UnlockedKeyFile AsUnlocked(const Unlocked& unlocked) {
  return {unlocked.seed.Duplicate(), unlocked.slot};
}

Status ReplaceLocal(const std::string& path, ByteSpan bytes, const SecretBuffer& new_secret) {
  COFFER_TRY(vault::ProveKeyFile(bytes, new_secret));
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::OutputFile> output,
                          os::OutputFile::Create(path, {.sync = true}));
  COFFER_TRY(output->Write(bytes));
  return output->Commit();
}

Status ReplaceSlot(const OpenKeyFile& open, size_t slot, const SecretBuffer& new_secret) {
  const KeyFileSource& source = open.unlocked.source;
  const vault::UnlockedKeyFile unlocked = AsUnlocked(open.unlocked);
  COFFER_ASSIGN_OR_RETURN(const vault::KeyFile replaced,
                          source.file.ReplaceSlot(unlocked, slot, new_secret, os::SystemRandom()));
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, replaced.Encode());
  return source.key ? vault::ReplaceKeyFile(*open.store, *source.key, bytes, new_secret)
                    : ReplaceLocal(source.name, bytes, new_secret);
}

void WarnAboutCopies() {
  PrintNote(
      "copies of the old key file still open with the old secret: remove them, also from "
      "backups; if it is known to others, move the data to a new vault");
}

}  // namespace

Result<ExitCode> RunPasswd(const PasswdOptions& options) {
  const RecoveryOptions recovery{false, options.recovery_file};
  if (options.recovery_file && !options.new_recovery) {
    return UsageError("--recovery-file goes with --new-recovery");
  }
  COFFER_TRY(CheckPassphraseSource(WithEnvironment(options.target.passphrase_source)));
  COFFER_TRY(CheckPassphraseSource(options.new_passphrase_source));
  if (options.new_recovery) COFFER_TRY(CheckRecoveryOptions(recovery));
  COFFER_ASSIGN_OR_RETURN(const OpenKeyFile open, UnlockKeyFile(options.target));
  const size_t slot = open.unlocked.slot;
  if (options.new_recovery) {
    COFFER_ASSIGN_OR_RETURN(const std::optional<SecretBuffer> code, NewRecoveryCode(recovery));
    COFFER_CHECK(code.has_value());
    COFFER_TRY(ReplaceSlot(open, slot == kPassphraseSlot ? kRecoverySlot : kPassphraseSlot, *code));
  } else {
    COFFER_ASSIGN_OR_RETURN(const SecretBuffer passphrase,
                            NewPassphrase(options.new_passphrase_source));
    COFFER_TRY(ReplaceSlot(open, slot, passphrase));
  }
  if (!options.target.quiet) WarnAboutCopies();
  return ExitCode::kOk;
}

Result<ExitCode> RunRecover(const RecoverOptions& options) {
  COFFER_TRY(CheckPassphraseSource(options.target.passphrase_source));
  COFFER_TRY(CheckPassphraseSource(options.new_passphrase_source));
  COFFER_ASSIGN_OR_RETURN(const std::string path, VaultPath(options.target));
  auto store = std::make_unique<store::LocalStore>(os::RealFileSystem(), path);
  COFFER_ASSIGN_OR_RETURN(std::vector<KeyFileSource> sources, ReadKeyFiles(options.target, *store));
  COFFER_ASSIGN_OR_RETURN(
      const SecretBuffer code,
      ExistingPassphrase(options.target.passphrase_source, " or recovery code"));
  COFFER_ASSIGN_OR_RETURN(Unlocked unlocked, TryUnlock(sources, code));
  const OpenKeyFile open{std::move(store), std::move(unlocked)};
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer passphrase,
                          NewPassphrase(options.new_passphrase_source));
  // The code keeps working.
  const size_t other = open.unlocked.slot == kPassphraseSlot ? kRecoverySlot : kPassphraseSlot;
  COFFER_TRY(ReplaceSlot(open, other, passphrase));
  if (!options.target.quiet) WarnAboutCopies();
  return ExitCode::kOk;
}

Result<ExitCode> RunKeyAdd(const KeyAddOptions& options) {
  COFFER_TRY(CheckPassphraseSource(options.new_passphrase_source));
  COFFER_ASSIGN_OR_RETURN(const OpenKeyFile open, UnlockKeyFile(options.target));
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer passphrase,
                          NewPassphrase(options.new_passphrase_source));
  COFFER_ASSIGN_OR_RETURN(
      const vault::KeyFile added,
      vault::KeyFile::Create({open.unlocked.source.file.vault_id(), open.unlocked.seed, passphrase},
                             os::SystemRandom()));
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, added.Encode());
  COFFER_ASSIGN_OR_RETURN(const std::string key,
                          vault::PublishKeyFile(*open.store, options.name, bytes));
  if (!options.target.quiet) PrintNote("added " + key);
  return ExitCode::kOk;
}

Result<ExitCode> RunKeyList(const KeyListOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const std::string path, VaultPath(options.target));
  store::LocalStore store(os::RealFileSystem(), path);
  COFFER_ASSIGN_OR_RETURN(const Bytes vault_file, vault::ReadVaultFile(store));
  COFFER_ASSIGN_OR_RETURN(const auto listed, store.List("keys"));
  std::string text;
  for (const store::ObjectInfo& info : listed) {
    if (options.json) {
      const JsonName name = JsonNameOf("key", info.key);
      text += nlohmann::ordered_json{{name.key, name.value}}.dump() + "\n";
    } else {
      text += DisplayName(info.key) + "\n";
    }
  }
  COFFER_TRY(os::StandardOutput().Write(AsBytes(text)));
  return ExitCode::kOk;
}

Result<ExitCode> RunKeyExport(const KeyExportOptions& options) {
  COFFER_ASSIGN_OR_RETURN(const OpenKeyFile open, UnlockKeyFile(options.target));
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(options.output, {.kind = os::OutputKind::kKeyFile, .sync = true}));
  if (options.identity) {
    const age::CofferIdentity identity(open.unlocked.seed.Duplicate());
    SecretBuffer text = identity.ToString();
    text.Append("\n");
    COFFER_TRY(output->Write(text.Expose()));
  } else {
    COFFER_TRY(output->Write(open.unlocked.source.bytes));
  }
  COFFER_TRY(output->Commit());
  return ExitCode::kOk;
}

}  // namespace coffer::cli
