// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/internal/grammar.h"

#include <charconv>
#include <limits>
#include <string>

#include <CLI/CLI.hpp>

namespace coffer::cli {
namespace {

template <class T>
CLI::Option* AddLast(CLI::App& command, const OptionText& text, T& value) {
  return command.add_option(text.names, value, text.help)
      ->type_name(text.value_name)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

// A whole number in decimal. CLI11's own check takes other bases, and its words are for
// programmers.
CLI::Validator NumberBetween(int least, int most) {
  const auto check = [least, most](std::string& text) -> std::string {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, value);
    const bool good = parsed.ec == std::errc() && parsed.ptr == end;
    if (!good || value < least || value > most) {
      return text + " is not a number from " + std::to_string(least) + " to " +
             std::to_string(most);
    }
    text = std::to_string(value);  // without the zeros in front that CLI11 would take for octal
    return {};
  };
  return CLI::Validator(check, "");
}

}  // namespace

void AddRepeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                   const std::string& value_name, const std::string& help) {
  command.add_option(names, values, help)
      ->type_name(value_name)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void AddSingle(CLI::App& command, const OptionText& text, std::string& value) {
  AddLast(command, text, value);
}

void AddSingle(CLI::App& command, const OptionText& text, std::optional<std::string>& value) {
  AddLast(command, text, value);
}

void AddNumber(CLI::App& command, const OptionText& text, int least, int most, int& value) {
  AddLast(command, text, value)->check(NumberBetween(least, most))->capture_default_str();
}

void AddNumber(CLI::App& command, const OptionText& text, int least, int most,
               std::optional<int>& value) {
  AddLast(command, text, value)->check(NumberBetween(least, most));
}

void AddPassphraseSource(CLI::App& command, const std::string& prefix,
                         PassphraseSourceOptions& options) {
  const std::string what = prefix.empty() ? "the passphrase" : "the new passphrase";
  const std::string start = "--" + prefix + "passphrase-";
  AddSingle(command,
            {.names = start + "file",
             .value_name = "FILE",
             .help = "Take " + what +
                     " from FILE, \"-\" for standard input; a final line end is not part of it"},
            options.file);
  AddNumber(command,
            {.names = start + "fd",
             .value_name = "N",
             .help = "Take " + what + " from file descriptor N"},
            0, std::numeric_limits<int>::max(), options.descriptor);
  AddSingle(command,
            {.names = start + "command",
             .value_name = "CMD",
             .help = "Take " + what + " from what CMD writes, run by /bin/sh"},
            options.command);
}

void AddQuiet(CLI::App& command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet, "Show no progress");
}

}  // namespace coffer::cli
