// SPDX-License-Identifier: Apache-2.0
// Short ways for tests to put objects into a store and to look at them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coffer/base/result.h"
#include "coffer/store/store.h"

namespace coffer::store {

// An upload of `content` that is finished under `key`.
Result<std::unique_ptr<Upload>> MakeUpload(Store& store, const std::string& key,
                                           std::string_view content);
// Publishes objects in one call.
Status PutObjects(Store& store,
                  const std::vector<std::pair<std::string, std::string>>& keys_and_contents);
Status PutObject(Store& store, const std::string& key, std::string_view content);

// The whole of an object.
Result<std::string> ReadObject(Store& store, std::string_view key);

// The keys of the objects below a prefix; ends the process if they cannot be listed.
std::vector<std::string> ObjectKeys(Store& store, std::string_view prefix = "");

}  // namespace coffer::store
