// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coffer/base/quote.h"
#include "coffer/vault/vault.h"

namespace coffer::vault {
namespace {

constexpr size_t kReserveSize = size_t{1} << 20;
constexpr std::string_view kReserveKey = "reserve";

std::vector<std::string> Prefixes() {
  std::vector<std::string> prefixes = {"keys", "commits", "checkpoints", "condemned"};
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char high : kDigits) {
    for (const char low : kDigits) prefixes.push_back(std::string("segments/") + high + low);
  }
  return prefixes;
}

Result<bool> Exists(store::Store& store, std::string_view key) {
  const Result<store::ObjectInfo> info = store.Stat(key);
  if (info.ok()) return true;
  if (info.error().code() == ErrorCode::kNotFound) return false;
  return info.error();
}

Status CheckEmpty(store::Store& store) {
  for (const std::string_view prefix : {"commits", "checkpoints", "segments"}) {
    const auto listed = store.List(prefix);
    // A store that is not there at all has nothing.
    if (!listed.ok() && listed.error().code() == ErrorCode::kNotFound) continue;
    if (!listed.ok()) return listed.error();
    for (const store::ObjectInfo& info : *listed) {
      if (info.kind != store::EntryKind::kObject) continue;
      return Error(ErrorCode::kAlreadyExists, "there is no coffer-vault, but objects of a vault (" +
                                                  Quote(info.key) +
                                                  "): a vault that lost it is not to be made anew");
    }
  }
  return OkStatus();
}

}  // namespace

Status InitVault(store::Store& store, const NewVault& vault, os::Random& random) {
  COFFER_ASSIGN_OR_RETURN(const bool exists, Exists(store, kVaultFileKey));
  if (exists) return Error(ErrorCode::kAlreadyExists, "there is a vault already");
  COFFER_TRY(CheckEmpty(store));
  COFFER_ASSIGN_OR_RETURN(const VaultFile file, VaultFile::FromSeed(vault.seed, vault.id));
  COFFER_ASSIGN_OR_RETURN(const Bytes vault_file, EncodeVaultFile(file, vault.seed));
  COFFER_TRY(store.Prepare(Prefixes()));

  std::vector<std::unique_ptr<store::Upload>> uploads;
  if (vault.key_file_name) {
    COFFER_ASSIGN_OR_RETURN(
        std::unique_ptr<store::Upload> upload,
        store::MakeObject(store, "keys/" + *vault.key_file_name, vault.key_file));
    uploads.push_back(std::move(upload));
  }
  COFFER_ASSIGN_OR_RETURN(const bool has_reserve, Exists(store, kReserveKey));
  if (!has_reserve) {
    Bytes reserve(kReserveSize);
    random.Fill(reserve);
    COFFER_ASSIGN_OR_RETURN(std::unique_ptr<store::Upload> upload,
                            store::MakeObject(store, kReserveKey, reserve));
    uploads.push_back(std::move(upload));
  }
  COFFER_TRY(store.Publish(std::move(uploads)));

  // Only now, in a Publish of its own: never durable before what it stands for.
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<store::Upload> upload,
                          store::MakeObject(store, kVaultFileKey, vault_file));
  std::vector<std::unique_ptr<store::Upload>> last;
  last.push_back(std::move(upload));
  return store.Publish(std::move(last));
}

Result<Bytes> ReadVaultFile(store::Store& store) {
  // A version that is longer is told apart by its first bytes.
  Result<Bytes> bytes = store::ReadObject(store, kVaultFileKey, 2 * kVaultFileSize);
  if (bytes.ok() || bytes.error().code() != ErrorCode::kNotFound) return bytes;
  return Error(ErrorCode::kNotFound, "there is no vault here (coffer init makes one)");
}

}  // namespace coffer::vault
