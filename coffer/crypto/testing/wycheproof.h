// SPDX-License-Identifier: Apache-2.0
// Files of Project Wycheproof as plain structs. What a file should have and does not ends the
// program, since a test that goes on without it would pass.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coffer/base/bytes.h"

namespace coffer::crypto::testing {

// Named values. Those of an object within are named "outer.inner".
class WycheproofFields {
 public:
  [[nodiscard]] bool Has(std::string_view name) const;
  [[nodiscard]] const std::string& Text(std::string_view name) const;
  [[nodiscard]] int64_t Number(std::string_view name) const;
  // A text that is hexadecimal.
  [[nodiscard]] Bytes Hex(std::string_view name) const;

  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, int64_t, std::less<>> numbers;
};

enum class Verdict { kValid, kInvalid, kAcceptable };

struct WycheproofCase {
  int64_t id;
  Verdict verdict;
  std::string comment;             // may be empty
  std::vector<std::string> flags;  // may be empty
  WycheproofFields fields;

  [[nodiscard]] bool HasFlag(std::string_view flag) const;
};

struct WycheproofGroup {
  std::string type;
  WycheproofFields fields;
  std::vector<WycheproofCase> cases;
};

struct WycheproofFile {
  std::string algorithm;
  size_t number_of_tests;  // what the file says of itself
  std::vector<WycheproofGroup> groups;
};

WycheproofFile LoadWycheproof(const std::filesystem::path& path);

}  // namespace coffer::crypto::testing
