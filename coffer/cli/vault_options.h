// SPDX-License-Identifier: Apache-2.0
// What the commands of the vault are asked for, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coffer/cli/passphrase_source.h"

namespace coffer::cli {

// Which vault, and what opens it.
struct VaultTarget {
  std::optional<std::string> vault;  // else COFFER_VAULT, else the default vault
  std::optional<std::string> key;    // else COFFER_KEY, else the vault's own keys
  PassphraseSourceOptions passphrase_source;
  bool quiet = false;
};

struct InitOptions {
  VaultTarget target;
  bool no_recovery = false;
  std::optional<std::string> recovery_file;
};

struct AddOptions {
  VaultTarget target;
  std::vector<std::string> paths;
  std::optional<std::string> to;
  std::optional<std::string> stdin_name;
  std::vector<std::string> excludes;
  std::vector<std::string> exclude_files;
  bool one_file_system = false;
  bool dry_run = false;
  bool atomic = false;
  bool no_padding = false;
  uint64_t segment_size = uint64_t{16} << 20;
  std::optional<std::string> remark;
  bool json = false;
};

struct ListOptions {
  VaultTarget target;
  std::string prefix;
  std::optional<std::string> at;
  bool with_details = false;
  bool json = false;
  bool null_separated = false;
  bool unverified = false;
};

struct GetOptions {
  VaultTarget target;
  std::vector<std::string> names;
  std::optional<std::string> destination;
  std::optional<std::string> at;
  bool overwrite = false;
  bool json = false;
};

struct RemoveOptions {
  VaultTarget target;
  std::vector<std::string> names;
  bool dry_run = false;
  bool json = false;
};

struct MoveOptions {
  VaultTarget target;
  std::string from;
  std::string to;
  bool dry_run = false;
};

struct HistoryOptions {
  VaultTarget target;
  std::string name;  // empty: of the whole vault
  bool json = false;
};

struct PinOptions {
  VaultTarget target;
  std::string commit;
  bool remove = false;
};

struct CheckCommandOptions {
  VaultTarget target;
  bool no_key = false;
  bool read_data = false;
  int percent = 100;
  bool json = false;
};

struct PasswdOptions {
  VaultTarget target;
  PassphraseSourceOptions new_passphrase_source;
  bool new_recovery = false;  // replace the recovery code, not the passphrase
  std::optional<std::string> recovery_file;
};

struct RecoverOptions {
  VaultTarget target;  // its passphrase source gives the recovery code
  PassphraseSourceOptions new_passphrase_source;
};

struct KeyAddOptions {
  VaultTarget target;
  PassphraseSourceOptions new_passphrase_source;
  std::string name;
};

struct KeyListOptions {
  VaultTarget target;
  bool json = false;
};

struct KeyExportOptions {
  VaultTarget target;
  std::string output;
  bool identity = false;  // the age identity in place of the key file
};

struct StatusOptions {
  VaultTarget target;
  bool json = false;
};

}  // namespace coffer::cli
