// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/testing/objects.h"

namespace coffer::store {

Result<std::unique_ptr<Upload>> MakeUpload(Store& store, const std::string& key,
                                           std::string_view content) {
  return MakeObject(store, key, AsBytes(content));
}

Status PutObjects(Store& store,
                  const std::vector<std::pair<std::string, std::string>>& keys_and_contents) {
  std::vector<std::unique_ptr<Upload>> uploads;
  for (const auto& [key, content] : keys_and_contents) {
    COFFER_ASSIGN_OR_RETURN(auto upload, MakeUpload(store, key, content));
    uploads.push_back(std::move(upload));
  }
  return store.Publish(std::move(uploads));
}

Status PutObject(Store& store, const std::string& key, std::string_view content) {
  return PutObjects(store, {{key, std::string(content)}});
}

Result<std::string> ReadObject(Store& store, std::string_view key) {
  COFFER_ASSIGN_OR_RETURN(const auto object, store.Open(key));
  Bytes content(static_cast<size_t>(object->size()));
  COFFER_ASSIGN_OR_RETURN(const size_t count, object->ReadAt(0, content));
  COFFER_CHECK(count == content.size());
  return std::string(AsText(content));
}

std::vector<std::string> ObjectKeys(Store& store, std::string_view prefix) {
  const auto found = store.List(prefix);
  COFFER_CHECK(found.ok());
  std::vector<std::string> keys;
  for (const ObjectInfo& info : *found) {
    if (info.kind == EntryKind::kObject) keys.push_back(info.key);
  }
  return keys;
}

}  // namespace coffer::store
