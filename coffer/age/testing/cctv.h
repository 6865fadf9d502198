// SPDX-License-Identifier: Apache-2.0
// The CCTV age test vectors (C2SP CCTV, directory age/testdata): their text format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coffer/base/bytes.h"

namespace coffer::age::testing {

struct CctvVector {
  std::string name;
  std::string expect;                       // "success" or a class of failure
  std::optional<std::string> payload_hash;  // hex SHA-256 of everything that is released
  std::string file_key;                     // hex
  std::vector<std::string> identities;
  std::optional<std::string> passphrase;
  bool armored = false;
  Bytes file;
};

// All vectors of the corpus, in the order of their names. Ends the process with a message if one
// cannot be read or has a key that is not known: then the corpus has changed and so must the test.
std::vector<CctvVector> LoadCctvVectors();

}  // namespace coffer::age::testing
