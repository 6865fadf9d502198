// SPDX-License-Identifier: Apache-2.0
// The grammar of the command line.
#include "coffer/cli/options.h"

#include <optional>
#include <sstream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/internal/grammar.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

void AddOutput(CLI::App& command, OutputTarget& output) {
  AddSingle(command,
            {.names = "-o,--output",
             .value_name = "OUTPUT",
             .help = "Write to the file OUTPUT, which appears when it is complete (default: "
                     "standard output)"},
            output.path);
  command.add_flag("--in-place-output", output.in_place,
                   "Overwrite an existing OUTPUT as it is, for files with several names or in "
                   "directories that cannot be written; a failure leaves it damaged");
  command.add_flag("--sync", output.sync,
                   "Return only when OUTPUT and its name are on stable storage");
}

void AddInput(CLI::App& command, std::string& input) {
  AddSingle(
      command,
      {.names = "INPUT", .value_name = "", .help = "The file to read (default: standard input)"},
      input);
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
  AddPassphraseSource(command, "", options.passphrase_source);
  command.add_flag("-a,--armor", options.armor, "Write text (PEM) instead of binary");
  AddOutput(command, options.output);
  AddQuiet(command, options.quiet);
  AddInput(command, options.input);
}

void AddDecrypt(CLI::App& app, DecryptOptions& options) {
  CLI::App& command = *app.add_subcommand("decrypt", "Decrypt a file");
  AddRepeatable(command, "-i,--identity", options.identity_files, "PATH",
                "Use the identities in PATH, \"-\" for standard input; can be repeated");
  AddPassphraseSource(command, "", options.passphrase_source);
  AddNumber(command,
            {.names = "--max-work-factor",
             .value_name = "N",
             .help = "Accept passphrases with scrypt work factors up to N; 22 takes 4 GiB of "
                     "memory, each step doubles it"},
            1, age::kMaxScryptLog2N, options.max_work_factor);
  command.add_flag("--verify", options.verify, "Check everything and write nothing");
  AddOutput(command, options.output);
  AddQuiet(command, options.quiet);
  AddInput(command, options.input);
}

void AddKeygen(CLI::App& app, KeygenOptions& options) {
  CLI::App& command = *app.add_subcommand("keygen", "Make a key pair, or show public keys");
  AddSingle(command,
            {.names = "--type",
             .value_name = "TYPE",
             .help = "The type of key to make: coffer (default; FrodoKEM-976, ML-KEM-768 and "
                     "X25519), pq (age's ML-KEM-768 and X25519) or x25519"},
            options.type);
  AddSingle(command,
            {.names = "-o,--output",
             .value_name = "OUTPUT",
             .help = "Write the identity to the new file OUTPUT, readable by its owner only, and "
                     "its recipient to OUTPUT.pub (default: the identity to standard output)"},
            options.output);
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
  return (has_command ? "too many arguments: " : "unknown command ") + Quote(first);
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
  VaultCommandOptions vault;
  CLI::App app(
      "coffer encrypts files in the age format (age-encryption.org/v1), and keeps files in vaults.",
      "coffer");
  app.set_version_flag("--version", "coffer " COFFER_VERSION);
  app.require_subcommand(1);
  AddEncrypt(app, encrypt);
  AddDecrypt(app, decrypt);
  AddKeygen(app, keygen);
  AddInspect(app, inspect);
  AddVaultCommands(app, vault);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return ReportUsage(Describe(app, error));
    return PrintAnswer(app, error);
  }
  if (app.got_subcommand("encrypt")) return encrypt;
  if (app.got_subcommand("decrypt")) return decrypt;
  if (app.got_subcommand("keygen")) return keygen;
  if (std::optional<Options> given = VaultCommandGiven(app, vault)) return *std::move(given);
  return inspect;
}

}  // namespace coffer::cli
