// SPDX-License-Identifier: Apache-2.0
// The grammar of the command line. CLI11 is heavy: this is the only file that includes it.
#include "coffer/cli/options.h"

#include <iostream>

#include <CLI/CLI.hpp>

#include "coffer/cli/console.h"

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

void AddPassphraseSource(CLI::App& command, PassphraseSourceOptions& options) {
  AddSingle(command, "--passphrase-file", options.file, "FILE",
            "Take the passphrase from FILE, \"-\" for standard input; a final line end is not part "
            "of it");
  AddSingle(command, "--passphrase-fd", options.descriptor, "N",
            "Take the passphrase from file descriptor N")
      ->check(CLI::NonNegativeNumber);
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
      ->check(CLI::Range(1, age::kMaxScryptLog2N))
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

// CLI11's words for what is wrong, as one line of ours.
ParseEnd ReportUsage(const std::string& what) {
  std::string line = what;
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  PrintError(line);
  PrintHint("coffer --help and coffer COMMAND --help say what there is");
  return {static_cast<int>(ExitCode::kUsage)};
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
    if (error.get_exit_code() != 0) return ReportUsage(error.what());
    return ParseEnd{app.exit(error, std::cout, std::cerr)};
  }
  if (app.got_subcommand("encrypt")) return encrypt;
  if (app.got_subcommand("decrypt")) return decrypt;
  if (app.got_subcommand("keygen")) return keygen;
  return inspect;
}

}  // namespace coffer::cli
