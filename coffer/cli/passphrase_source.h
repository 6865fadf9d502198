// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace coffer::cli {

// Where passphrases come from when nobody is there to be asked; at most one is set.
struct PassphraseSourceOptions {
  std::optional<std::string> file;  // "-" is standard input
  std::optional<int> descriptor;
  std::optional<std::string> command;

  [[nodiscard]] bool any() const { return file || descriptor || command; }
};

}  // namespace coffer::cli
