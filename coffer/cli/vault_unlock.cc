// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/vault_unlock.h"

#include <memory>
#include <utility>

#include "coffer/base/ct.h"
#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/passphrase.h"
#include "coffer/cli/vault_secrets.h"
#include "coffer/os/environment.h"
#include "coffer/os/file_system.h"
#include "coffer/os/input.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {
namespace {

// Each one costs two hashes to try, and whoever holds the storage can put more there.
constexpr size_t kMaxKeyFiles = 64;

// A file of a later version may be longer.
constexpr size_t kMaxKeyFileSize = 64 << 10;

Result<KeyFileSource> ParseSource(std::string name, std::optional<std::string> key, Bytes bytes) {
  Result<vault::KeyFile> file = vault::KeyFile::Parse(bytes);
  if (!file.ok()) return std::move(file).error().WithContext("key file " + Quote(name));
  return KeyFileSource{std::move(name), std::move(key), std::move(bytes), *std::move(file)};
}

Result<std::vector<KeyFileSource>> ReadNamedKeyFile(const std::string& path) {
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer content, os::ReadSecretFile(path, kMaxKeyFileSize));
  const ByteSpan bytes = content.Expose();
  COFFER_ASSIGN_OR_RETURN(KeyFileSource source,
                          ParseSource(path, std::nullopt, Bytes(bytes.begin(), bytes.end())));
  std::vector<KeyFileSource> sources;
  sources.push_back(std::move(source));
  return sources;
}

Result<std::vector<KeyFileSource>> ReadStoredKeyFiles(store::Store& store,
                                                      const vault::VaultId& vault) {
  COFFER_ASSIGN_OR_RETURN(const auto listed, store.List("keys"));
  std::vector<KeyFileSource> sources;
  std::optional<Error> first_problem;
  for (const store::ObjectInfo& info : listed) {
    if (info.kind != store::EntryKind::kObject || !info.key.ends_with(".key")) continue;
    if (sources.size() == kMaxKeyFiles) {
      PrintWarning("more than " + std::to_string(kMaxKeyFiles) +
                   " key files in the vault: trying the first ones; --key names another");
      break;
    }
    Result<KeyFileSource> source = [&]() -> Result<KeyFileSource> {
      COFFER_ASSIGN_OR_RETURN(Bytes bytes, store::ReadObject(store, info.key, kMaxKeyFileSize));
      return ParseSource(info.key, info.key, std::move(bytes));
    }();
    if (source.ok()) {
      // Those of an init that was interrupted are of a vault that never was.
      if (source->file.vault_id() == vault) sources.push_back(*std::move(source));
      continue;
    }
    PrintWarning(source.error().message());
    if (!first_problem) first_problem = std::move(source).error();
  }
  if (!sources.empty()) return sources;
  if (first_problem) return *std::move(first_problem);
  return Error(ErrorCode::kWrongPassphrase, "no key file in the vault; name one with --key");
}

// Empty if there is none.
std::string DataHome() {
  if (auto home = os::GetEnvironment("XDG_DATA_HOME"); home && home->starts_with('/')) return *home;
  const auto home = os::GetEnvironment("HOME");
  return home && !home->empty() ? os::JoinPath(*home, ".local/share") : std::string();
}

}  // namespace

Result<std::string> VaultPath(const VaultTarget& target) {
  if (target.vault) {
    if (target.vault->empty()) {
      return UsageError("--vault can't be empty");
    }
    return *target.vault;
  }
  if (const auto named = os::GetEnvironment("COFFER_VAULT"); named && !named->empty()) {
    return *named;
  }
  const std::string data_home = DataHome();
  if (data_home.empty()) {
    return UsageError("no vault named: give --vault DIR or set COFFER_VAULT (HOME is not set)");
  }
  return os::JoinPath(data_home, "coffer/default");
}

std::optional<std::string> KeyFilePath(const VaultTarget& target) {
  if (target.key) return target.key;
  std::optional<std::string> named = os::GetEnvironment("COFFER_KEY");
  if (named && named->empty()) named.reset();
  return named;
}

Result<std::vector<KeyFileSource>> ReadKeyFiles(const VaultTarget& target, store::Store& store) {
  // Before any question: whether this is a vault at all, and which.
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, vault::ReadVaultFile(store));
  COFFER_ASSIGN_OR_RETURN(const vault::VaultFile vault_file, vault::ParseVaultFile(bytes));
  const std::optional<std::string> path = KeyFilePath(target);
  if (!path) return ReadStoredKeyFiles(store, vault_file.id);
  COFFER_ASSIGN_OR_RETURN(std::vector<KeyFileSource> sources, ReadNamedKeyFile(*path));
  if (sources.front().file.vault_id() == vault_file.id) return sources;
  return Error(ErrorCode::kWrongPassphrase,
               "key file " + Quote(sources.front().name) + " is of another vault");
}

Result<Unlocked> TryUnlock(std::vector<KeyFileSource>& sources, const SecretBuffer& secret) {
  const auto try_all = [&](const SecretBuffer& candidate) -> Result<Unlocked> {
    for (KeyFileSource& source : sources) {
      Result<vault::UnlockedKeyFile> opened = source.file.Unlock(candidate);
      if (opened.ok()) {
        return Unlocked{std::move(opened->seed), opened->slot, std::move(source)};
      }
      if (opened.error().code() != ErrorCode::kWrongPassphrase) return std::move(opened).error();
    }
    return WrongPassphrase(secret);
  };
  Result<Unlocked> unlocked = try_all(secret);
  if (unlocked.ok() || unlocked.error().code() != ErrorCode::kWrongPassphrase) return unlocked;
  const std::optional<SecretBuffer> code = AsRecoveryCode(secret);
  if (!code || ct::Equal(code->Expose(), secret.Expose())) return unlocked;
  return try_all(*code);
}

Result<Unlocked> Unlock(const VaultTarget& target, store::Store& store) {
  const PassphraseSourceOptions source = WithEnvironment(target.passphrase_source);
  COFFER_TRY(CheckPassphraseSource(source));
  COFFER_ASSIGN_OR_RETURN(std::vector<KeyFileSource> sources, ReadKeyFiles(target, store));
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer secret, ExistingPassphrase(source, ""));
  return TryUnlock(sources, secret);
}

}  // namespace coffer::cli
