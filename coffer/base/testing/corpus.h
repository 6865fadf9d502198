// SPDX-License-Identifier: Apache-2.0
// Where tests find the files of a corpus of test vectors (the rule is in cmake/vectors.cmake). For
// tests declared with coffer_vector_test only.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string_view>

#ifndef COFFER_VECTORS_DIR
#define COFFER_VECTORS_DIR ""  // only the environment knows
#endif

namespace coffer::testing {

// The path of `name`, e.g. "wycheproof/x25519_test.json" or "cctv-age". It need not exist; reading
// it then fails, and so must the test.
inline std::filesystem::path CorpusPath(std::string_view name) {
  const char* directory = std::getenv("COFFER_VECTORS");
  if (directory == nullptr || *directory == '\0') directory = COFFER_VECTORS_DIR;
  return std::filesystem::path(directory) / name;
}

}  // namespace coffer::testing
