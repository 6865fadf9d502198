// SPDX-License-Identifier: Apache-2.0
// Pieces of the command line's grammar. CLI11 is heavy: only the sources that define the grammar
// include it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coffer/cli/options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): of CLI11
class App;
}

namespace coffer::cli {

// An option that takes one value each time, and every time.
void AddRepeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                   const std::string& value_name, const std::string& help);

// An option, or a positional argument, of which the last value counts.
struct OptionText {
  std::string names;
  std::string value_name;
  std::string help;
};
void AddSingle(CLI::App& command, const OptionText& text, std::string& value);
void AddSingle(CLI::App& command, const OptionText& text, std::optional<std::string>& value);
// A whole number in decimal.
void AddNumber(CLI::App& command, const OptionText& text, int least, int most, int& value);
void AddNumber(CLI::App& command, const OptionText& text, int least, int most,
               std::optional<int>& value);

// --PREFIXpassphrase-file, -fd and -command.
void AddPassphraseSource(CLI::App& command, const std::string& prefix,
                         PassphraseSourceOptions& options);
void AddQuiet(CLI::App& command, bool& quiet);

// The commands of the vault. What they are asked for goes to `options`, one of each, which stays
// where it is until the command line is parsed.
struct VaultCommandOptions {
  InitOptions init;
  AddOptions add;
  ListOptions list;
  GetOptions get;
  RemoveOptions remove;
  MoveOptions move;
  HistoryOptions history;
  PinOptions pin;
  CheckCommandOptions check;
  PasswdOptions passwd;
  RecoverOptions recover;
  KeyAddOptions key_add;
  KeyListOptions key_list;
  KeyExportOptions key_export;
  StatusOptions status;
};
void AddVaultCommands(CLI::App& app, VaultCommandOptions& options);
// Those of the command that was given; nothing if it was none of these.
std::optional<Options> VaultCommandGiven(const CLI::App& app, VaultCommandOptions& options);

}  // namespace coffer::cli
