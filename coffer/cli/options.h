// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, as plain data.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coffer/age/scrypt.h"
#include "coffer/cli/passphrase_source.h"
#include "coffer/cli/vault_options.h"

namespace coffer::cli {

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
    std::variant<EncryptOptions, DecryptOptions, KeygenOptions, InspectOptions, InitOptions,
                 AddOptions, ListOptions, GetOptions, RemoveOptions, MoveOptions, HistoryOptions,
                 PinOptions, CheckCommandOptions, PasswdOptions, RecoverOptions, KeyAddOptions,
                 KeyListOptions, KeyExportOptions, StatusOptions, ParseEnd>;

// Prints help and version to standard output, errors to standard error.
Options ParseCommandLine(int argc, const char* const* argv);

}  // namespace coffer::cli
