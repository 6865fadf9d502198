// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/key_store.h"

#include <memory>
#include <utility>
#include <vector>

#include "coffer/vault/key_file.h"

namespace coffer::vault {
namespace {

// A name without the digits and the ending, e.g. "owner" of "keys/owner-0123456789abcdef.key".
std::string_view NameOfKey(std::string_view key) {
  std::string_view name = key.substr(key.rfind('/') + 1);
  constexpr size_t kTail = 1 + 16 + 4;
  return name.size() > kTail ? name.substr(0, name.size() - kTail) : name;
}

}  // namespace

Result<std::string> PublishKeyFile(store::Store& store, std::string_view name, ByteSpan file) {
  COFFER_ASSIGN_OR_RETURN(const std::string file_name, KeyFileName(name, file));
  std::string key = "keys/" + file_name;
  COFFER_TRY(store.Prepare({}));
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<store::Upload> upload,
                          store::MakeObject(store, key, file));
  std::vector<std::unique_ptr<store::Upload>> uploads;
  uploads.push_back(std::move(upload));
  COFFER_TRY(store.Publish(std::move(uploads)));
  return key;
}

Status ReplaceKeyFile(store::Store& store, const std::string& old_key, ByteSpan file,
                      const SecretBuffer& secret) {
  COFFER_ASSIGN_OR_RETURN(const std::string key, PublishKeyFile(store, NameOfKey(old_key), file));
  COFFER_ASSIGN_OR_RETURN(const Bytes stored, store::ReadObject(store, key, 2 * kKeyFileSize));
  COFFER_TRY(ProveKeyFile(stored, secret));
  Status removed = store.Remove(old_key);
  // Somebody else changed a passphrase at the same time: both new files open.
  if (!removed.ok() && removed.error().code() == ErrorCode::kNotFound) return OkStatus();
  return removed;
}

Status ProveKeyFile(ByteSpan file, const SecretBuffer& secret) {
  COFFER_ASSIGN_OR_RETURN(const KeyFile parsed, KeyFile::Parse(file));
  Result<UnlockedKeyFile> opened = parsed.Unlock(secret);
  if (opened.ok()) return OkStatus();
  return std::move(opened).error().WithContext("the new key file does not open; the old one stays");
}

}  // namespace coffer::vault
