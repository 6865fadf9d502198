// SPDX-License-Identifier: Apache-2.0
#include "coffer/store/store.h"

#include <algorithm>

namespace coffer::store {
namespace {

bool IsKeyCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool IsComponent(std::string_view text) {
  return !text.empty() && text.size() <= kMaxComponentSize && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), IsKeyCharacter);
}

}  // namespace

bool IsValidKey(std::string_view key) {
  for (size_t count = 0; count < kMaxComponentCount; ++count) {
    const size_t slash = key.find('/');
    const std::string_view component = key.substr(0, slash);
    if (!IsComponent(component) || (count == 0 && component == kReservedComponent)) return false;
    if (slash == std::string_view::npos) return true;
    key.remove_prefix(slash + 1);
  }
  return false;
}

Result<Bytes> ReadObject(Store& store, std::string_view key, size_t limit) {
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<StoredObject> object, store.Open(key));
  Bytes bytes(static_cast<size_t>(std::min<uint64_t>(object->size(), limit)));
  if (bytes.empty()) return bytes;
  COFFER_ASSIGN_OR_RETURN(const size_t count, object->ReadAt(0, bytes));
  bytes.resize(count);
  return bytes;
}

Result<std::unique_ptr<Upload>> MakeObject(Store& store, std::string_view key, ByteSpan content) {
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<Upload> upload, store.Begin(content.size()));
  COFFER_TRY(upload->Write(content));
  COFFER_TRY(upload->Finish(key));
  return upload;
}

}  // namespace coffer::store
