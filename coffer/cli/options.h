// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, as plain data.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coffer/age/scrypt.h"

namespace coffer::cli {

// Where passphrases come from when nobody is there to be asked; at most one is set.
struct PassphraseSourceOptions {
  std::optional<std::string> file;  // "-" is standard input
  std::optional<int> descriptor;
  std::optional<std::string> command;

  [[nodiscard]] bool any() const { return file || descriptor || command; }
};

struct OutputTarget {
  std::optional<std::string> path;  // absent, "" and "-" are standard output
  bool in_place = false;
  bool sync = false;

  // Standard output was asked for by name, terminal or not.
  [[nodiscard]] bool forced_to_stdout() const { return path && (*path == "-" || path->empty()); }
  [[nodiscard]] bool to_stdout() const { return !path || forced_to_stdout(); }
};

struct EncryptOptions {
  std::vector<std::string> recipients;
  std::vector<std::string> recipients_files;
  std::vector<std::string> identity_files;
  bool passphrase = false;
  PassphraseSourceOptions passphrase_source;
  bool armor = false;
  OutputTarget output;
  std::string input = "-";
  bool quiet = false;
};

struct DecryptOptions {
  std::vector<std::string> identity_files;
  PassphraseSourceOptions passphrase_source;
  int max_work_factor = age::kDefaultMaxScryptLog2N;
  bool verify = false;
  OutputTarget output;
  std::string input = "-";
  bool quiet = false;
};

struct KeygenOptions {
  std::string type;
  std::optional<std::string> output;
  bool to_public = false;  // read identities from `input` and print their recipients
  std::string input = "-";
  bool quiet = false;
};

struct InspectOptions {
  bool json = false;
  std::string input = "-";
};

// The command line was answered in full (help, version) or was wrong; the process ends with
// `exit_code`.
struct ParseEnd {
  int exit_code = 0;
};

using Options =
    std::variant<EncryptOptions, DecryptOptions, KeygenOptions, InspectOptions, ParseEnd>;

// Prints help and version to standard output, errors to standard error.
Options ParseCommandLine(int argc, const char* const* argv);

}  // namespace coffer::cli
