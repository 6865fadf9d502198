// SPDX-License-Identifier: Apache-2.0
// The grammar of the command line. CLI11 is heavy: this is the only file that includes it.
#include "coffer/cli/options.h"

#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

// An option that takes one value each time, and every time.
void AddRepeatable(CLI::App& command, const std::string& names, std::vector<std::string>& values,
                   const std::string& value_name, const std::string& help) {
  command.add_option(names, values, help)
      ->type_name(value_name)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

template <class T>
CLI::Option* AddSingle(CLI::App& command, const std::string& names, T& value,
                       const std::string& value_name, const std::string& help) {
  return command.add_option(names, value, help)
      ->type_name(value_name)
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

void AddPassphraseSource(CLI::App& command, PassphraseSourceOptions& options) {
  AddSingle(command, "--passphrase-file", options.file, "FILE",
            "Take the passphrase from FILE, \"-\" for standard input; a final line end is not part "
            "of it");
  AddSingle(command, "--passphrase-fd", options.descriptor, "N",
            "Take the passphrase from file descriptor N")
      ->check(NumberBetween(0, std::numeric_limits<int>::max()));
  AddSingle(command, "--passphrase-command", options.command, "CMD",
            "Take the passphrase from what CMD writes, run by /bin/sh");
}

void AddOutput(CLI::App& command, OutputTarget& output) {
  AddSingle(command, "-o,--output", output.path, "OUTPUT",
            "Write to the file OUTPUT, which appears when it is complete (default: standard "
            "output)");
  command.add_flag("--in-place-output", output.in_place,
                   "Overwrite an existing OUTPUT as it is, for files with several names or in "
                   "directories that cannot be written; a failure leaves it damaged");
  command.add_flag("--sync", output.sync,
                   "Return only when OUTPUT and its name are on stable storage");
}

void AddInput(CLI::App& command, std::string& input) {
  AddSingle(command, "INPUT", input, "", "The file to read (default: standard input)");
}

void AddQuiet(CLI::App& command, bool& quiet) {
  command.add_flag("-q,--quiet", quiet, "Show no progress");
}

void AddEncrypt(CLI::App& app, EncryptOptions& options) {
  CLI::App& command =
      *app.add_subcommand("encrypt", "Encrypt a file to recipients or a passphrase");
  AddRepeatable(command, "-r,--recipient", options.recipients, "RECIPIENT",
                "Encrypt to RECIPIENT; can be repeated");
  AddRepeatable(command, "-R,--recipients-file", options.recipients_files, "PATH",
                "Encrypt to the recipients listed in PATH, \"-\" for standard input; can be "
                "repeated");
  AddRepeatable(command, "-i,--identity", options.identity_files, "PATH",
                "Encrypt to the public side of the identities in PATH; can be repeated");
  command.add_flag("-p,--passphrase", options.passphrase, "Encrypt with a passphrase");
  AddPassphraseSource(command, options.passphrase_source);
  command.add_flag("-a,--armor", options.armor, "Write text (PEM) instead of binary");
  AddOutput(command, options.output);
  AddQuiet(command, options.quiet);
  AddInput(command, options.input);
}

void AddDecrypt(CLI::App& app, DecryptOptions& options) {
  CLI::App& command = *app.add_subcommand("decrypt", "Decrypt a file");
  AddRepeatable(command, "-i,--identity", options.identity_files, "PATH",
                "Use the identities in PATH, \"-\" for standard input; can be repeated");
  AddPassphraseSource(command, options.passphrase_source);
  AddSingle(command, "--max-work-factor", options.max_work_factor, "N",
            "Accept passphrases with scrypt work factors up to N; 22 takes 4 GiB of memory, each "
            "step doubles it")
      ->check(NumberBetween(1, age::kMaxScryptLog2N))
      ->capture_default_str();
  command.add_flag("--verify", options.verify, "Check everything and write nothing");
  AddOutput(command, options.output);
  AddQuiet(command, options.quiet);
  AddInput(command, options.input);
}

void AddKeygen(CLI::App& app, KeygenOptions& options) {
  CLI::App& command = *app.add_subcommand("keygen", "Make a key pair, or show public keys");
  AddSingle(
      command, "--type", options.type, "TYPE",
      "The type of key to make: coffer (default; FrodoKEM-976, ML-KEM-768 and X25519), pq (age's "
      "ML-KEM-768 and X25519) or x25519");
  AddSingle(
      command, "-o,--output", options.output, "OUTPUT",
      "Write the identity to the new file OUTPUT, readable by its owner only, and its recipient "
      "to OUTPUT.pub (default: the identity to standard output)");
  command.add_flag("-y", options.to_public,
                   "Read the identities in INPUT and write their recipients");
  AddQuiet(command, options.quiet);
  AddInput(command, options.input);
}

void AddInspect(CLI::App& app, InspectOptions& options) {
  CLI::App& command =
      *app.add_subcommand("inspect", "Say what is known about a file without its key");
  command.add_flag("--json", options.json, "Write JSON");
  AddInput(command, options.input);
}

// CLI11's message as one of ours: what a terminal would obey is escaped, and it starts small.
std::string AsOurs(std::string_view text) {
  const std::string quoted = Quote(text);
  std::string ours = quoted.substr(1, quoted.size() - 2);
  if (!ours.empty() && ours[0] >= 'A' && ours[0] <= 'Z') ours[0] += 'a' - 'A';
  return ours;
}

// What is wrong, in one line: CLI11's words where they serve, ours where they do not.
std::string Describe(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unexpected = app.remaining(true);
  const bool has_command = !app.get_subcommands().empty();
  if (unexpected.empty()) {
    return has_command ? AsOurs(error.what()) : "no command given";
  }
  const bool after_dashes = unexpected.front() == "--" && unexpected.size() > 1;
  const std::string& first = unexpected[after_dashes ? 1 : 0];
  // A key that was put where it does not belong is not to end up in a log.
  if (first.starts_with("AGE-")) return "unexpected argument, an identity";
  if (first.starts_with('-') && !after_dashes) return "unknown option " + Quote(first);
  return (has_command ? "too many INPUT arguments: " : "unknown command ") + Quote(first);
}

ParseEnd ReportUsage(const std::string& what) {
  PrintError(what);
  PrintHint("coffer --help and coffer COMMAND --help say what there is");
  return {static_cast<int>(ExitCode::kUsage)};
}

// Help and version.
ParseEnd PrintAnswer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  app.exit(error, text, text);
  const Status written = os::StandardOutput().Write(AsBytes(text.str()));
  const ExitCode exit_code = written.ok() ? ExitCode::kOk : ReportFailure(written.error());
  return {static_cast<int>(exit_code)};
}

}  // namespace

Options ParseCommandLine(int argc, const char* const* argv) {
  EncryptOptions encrypt;
  DecryptOptions decrypt;
  KeygenOptions keygen;
  InspectOptions inspect;
  CLI::App app("coffer encrypts files in the age format (age-encryption.org/v1).", "coffer");
  app.set_version_flag("--version", "coffer " COFFER_VERSION);
  app.require_subcommand(1);
  AddEncrypt(app, encrypt);
  AddDecrypt(app, decrypt);
  AddKeygen(app, keygen);
  AddInspect(app, inspect);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return ReportUsage(Describe(app, error));
    return PrintAnswer(app, error);
  }
  if (app.got_subcommand("encrypt")) return encrypt;
  if (app.got_subcommand("decrypt")) return decrypt;
  if (app.got_subcommand("keygen")) return keygen;
  return inspect;
}

}  // namespace coffer::cli
