// SPDX-License-Identifier: Apache-2.0
// The grammar of the vault's commands.
#include "coffer/cli/vault_options.h"

#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "coffer/cli/internal/grammar.h"
#include "coffer/cli/vault_help.h"

namespace coffer::cli {
namespace {

void AddVault(CLI::App& command, VaultTarget& target) {
  AddSingle(command,
            {.names = "--vault",
             .value_name = "DIR",
             .help = "The vault (default: $COFFER_VAULT, else coffer/default in "
                     "$XDG_DATA_HOME or ~/.local/share)"},
            target.vault);
  AddQuiet(command, target.quiet);
}

void AddTarget(CLI::App& command, VaultTarget& target) {
  AddVault(command, target);
  AddSingle(command,
            {.names = "--key",
             .value_name = "FILE",
             .help = "The key file (default: $COFFER_KEY, else those in the vault)"},
            target.key);
  AddPassphraseSource(command, "", target.passphrase_source);
}

void AddJson(CLI::App& command, bool& json) { command.add_flag("--json", json, "Write JSON"); }

void AddDryRun(CLI::App& command, bool& dry_run) {
  command.add_flag("-n,--dry-run", dry_run, "Change nothing; say what would be done");
}

void AddAt(CLI::App& command, std::optional<std::string>& at) {
  AddSingle(command,
            {.names = "--at",
             .value_name = "TIME-or-COMMIT",
             .help = "The vault as it was then: 2026-01-31, 2026-01-31T09:15:00Z, or the first "
                     "digits of a commit's id"},
            at);
}

// Positional arguments, at least one.
void AddNames(CLI::App& command, const std::string& name, std::vector<std::string>& values,
              const std::string& help) {
  command.add_option(name, values, help)->required()->type_name("");
}

void AddRequired(CLI::App& command, const std::string& name, std::string& value,
                 const std::string& help) {
  command.add_option(name, value, help)->required()->type_name("");
}

void AddInit(CLI::App& app, InitOptions& options) {
  CLI::App& command = *app.add_subcommand("init", "Make a vault");
  AddTarget(command, options.target);
  command.add_flag("--no-recovery", options.no_recovery,
                   "Make no recovery code: who forgets the passphrase has lost the vault");
  AddSingle(command,
            {.names = "--recovery-file",
             .value_name = "FILE",
             .help = "Write the recovery code to the new file FILE in place of asking for it"},
            options.recovery_file);
}

void AddAdd(CLI::App& app, AddOptions& options) {
  CLI::App& command = *app.add_subcommand("add", "Add files and directories to the vault");
  AddTarget(command, options.target);
  command.add_option("PATH", options.paths, "What to add")->type_name("");
  AddSingle(command,
            {.names = "--to",
             .value_name = "NAME",
             .help = "The name in the vault, in place of PATH; for one PATH"},
            options.to);
  AddSingle(command,
            {.names = "--stdin-name",
             .value_name = "NAME",
             .help = "Add what standard input has as the file NAME"},
            options.stdin_name);
  AddRepeatable(command, "--exclude", options.excludes, "PATTERN",
                "Leave out what matches PATTERN; can be repeated");
  AddRepeatable(command, "--exclude-from", options.exclude_files, "FILE",
                "Leave out what matches a pattern in FILE, one each line; can be repeated");
  command.add_flag("--one-file-system", options.one_file_system, "Do not enter other file systems");
  AddDryRun(command, options.dry_run);
  command.add_flag("--atomic", options.atomic,
                   "Make one commit however long it takes, not one every 4 GiB or 5 minutes");
  command.add_flag("--no-padding", options.no_padding,
                   "Do not hide exact sizes from those who hold the storage");
  command
      .add_option("--segment-size", options.segment_size,
                  "Start another object at about SIZE bytes of data, 1M to 1G (default: 16M)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 30).description(""));
  AddSingle(command, {.names = "-m,--remark", .value_name = "TEXT", .help = "A remark for history"},
            options.remark);
  AddJson(command, options.json);
}

void AddList(CLI::App& app, ListOptions& options) {
  CLI::App& command = *app.add_subcommand("list", "List what the vault has");
  command.alias("ls");
  AddTarget(command, options.target);
  AddSingle(command,
            {.names = "PREFIX",
             .value_name = "",
             .help = "Only this name and what is below it (default: everything)"},
            options.prefix);
  command.add_flag("-l,--long", options.with_details, "With mode, owner, size and time");
  AddJson(command, options.json);
  command.add_flag("-0,--null", options.null_separated,
                   "Exact names, each followed by a zero byte");
  AddAt(command, options.at);
  command.add_flag("--unverified", options.unverified,
                   "List commits that no writer of this vault made, and do no more");
}

void AddGet(CLI::App& app, GetOptions& options) {
  CLI::App& command = *app.add_subcommand("get", "Get files and directories out of the vault");
  AddTarget(command, options.target);
  AddNames(command, "NAME", options.names,
           "What to get; NAME@WRITER:SEQ is one of several versions");
  AddSingle(command,
            {.names = "-o,--output",
             .value_name = "DEST",
             .help = "Where to: into DEST if it is a directory, else as DEST; \"-\" is standard "
                     "output, for one file (default: the current directory)"},
            options.destination);
  AddAt(command, options.at);
  command.add_flag("--overwrite", options.overwrite, "Replace files that are there");
  AddJson(command, options.json);
}

void AddRemove(CLI::App& app, RemoveOptions& options) {
  CLI::App& command = *app.add_subcommand("rm", "Remove names from the vault");
  AddTarget(command, options.target);
  AddNames(command, "NAME", options.names, "What to remove, with all that is below it");
  AddDryRun(command, options.dry_run);
  AddJson(command, options.json);
}

void AddMove(CLI::App& app, MoveOptions& options) {
  CLI::App& command = *app.add_subcommand("mv", "Give something in the vault another name");
  AddTarget(command, options.target);
  AddRequired(command, "FROM", options.from, "The name it has");
  AddRequired(command, "TO", options.to, "The name it gets");
  AddDryRun(command, options.dry_run);
}

void AddHistory(CLI::App& app, HistoryOptions& options) {
  CLI::App& command = *app.add_subcommand("history", "Show commits, or the versions of a name");
  AddTarget(command, options.target);
  AddSingle(command,
            {.names = "NAME", .value_name = "", .help = "Whose versions (default: all commits)"},
            options.name);
  AddJson(command, options.json);
}

void AddPin(CLI::App& app, PinOptions& options) {
  CLI::App& command = *app.add_subcommand("pin", "Keep what a commit has, whatever is collected");
  AddTarget(command, options.target);
  AddRequired(command, "COMMIT", options.commit, "The first digits of its id");
  command.add_flag("--remove", options.remove, "No longer keep it");
}

void AddCheck(CLI::App& app, CheckCommandOptions& options) {
  CLI::App& command = *app.add_subcommand("check", "Look for damage; changes nothing");
  AddTarget(command, options.target);
  command.add_flag("--no-key", options.no_key,
                   "Only compare names with bytes, which takes no passphrase");
  command.add_flag("--read-data", options.read_data, "Read and decrypt all data too");
  AddNumber(command,
            {.names = "--percent",
             .value_name = "N",
             .help = "With --read-data: read about N percent of the segments, chosen at random"},
            1, 100, options.percent);
  AddJson(command, options.json);
}

void AddKeyCommands(CLI::App& app, VaultCommandOptions& options) {
  CLI::App& passwd = *app.add_subcommand("passwd", "Change the passphrase");
  AddTarget(passwd, options.passwd.target);
  AddPassphraseSource(passwd, "new-", options.passwd.new_passphrase_source);
  passwd.add_flag("--new-recovery", options.passwd.new_recovery,
                  "Make a new recovery code in place of a new passphrase");
  AddSingle(passwd,
            {.names = "--recovery-file",
             .value_name = "FILE",
             .help = "Write the new recovery code to the new file FILE"},
            options.passwd.recovery_file);

  CLI::App& recover = *app.add_subcommand("recover", "Set a new passphrase with the recovery code");
  AddTarget(recover, options.recover.target);
  AddPassphraseSource(recover, "new-", options.recover.new_passphrase_source);

  CLI::App& key = *app.add_subcommand("key", "Key files: add, list, export");
  key.require_subcommand(1);
  CLI::App& add = *key.add_subcommand("add", "Add a key file with a passphrase of its own");
  AddTarget(add, options.key_add.target);
  AddPassphraseSource(add, "new-", options.key_add.new_passphrase_source);
  AddRequired(add, "NAME", options.key_add.name, "Its name, e.g. that of a person or machine");
  CLI::App& list = *key.add_subcommand("list", "List the vault's key files");
  AddVault(list, options.key_list.target);
  AddJson(list, options.key_list.json);
  CLI::App& save = *key.add_subcommand("export", "Copy the key file that a passphrase opens");
  AddTarget(save, options.key_export.target);
  AddRequired(save, "OUTPUT", options.key_export.output, "The new file to write");
  save.add_flag("--identity", options.key_export.identity,
                "Write the vault's age identity, which opens everything without a passphrase");
}

void AddStatus(CLI::App& app, StatusOptions& options) {
  CLI::App& command = *app.add_subcommand("status", "Show sizes, counts, last commits, warnings");
  AddTarget(command, options.target);
  AddJson(command, options.json);
}

}  // namespace

void AddVaultCommands(CLI::App& app, VaultCommandOptions& options) {
  AddInit(app, options.init);
  AddAdd(app, options.add);
  AddList(app, options.list);
  AddGet(app, options.get);
  AddRemove(app, options.remove);
  AddMove(app, options.move);
  AddHistory(app, options.history);
  AddPin(app, options.pin);
  AddCheck(app, options.check);
  AddKeyCommands(app, options);
  AddStatus(app, options.status);
  for (CLI::App* const command : app.get_subcommands(nullptr)) {
    command->footer(VaultHelp(command->get_name()));
    for (CLI::App* const part : command->get_subcommands(nullptr)) {
      part->footer(VaultHelp(command->get_name() + " " + part->get_name()));
    }
  }
}

std::optional<Options> VaultCommandGiven(const CLI::App& app, VaultCommandOptions& options) {
  const auto given = [&app](const char* name) { return app.got_subcommand(name); };
  if (given("init")) return std::move(options.init);
  if (given("add")) return std::move(options.add);
  if (given("list")) return std::move(options.list);
  if (given("get")) return std::move(options.get);
  if (given("rm")) return std::move(options.remove);
  if (given("mv")) return std::move(options.move);
  if (given("history")) return std::move(options.history);
  if (given("pin")) return std::move(options.pin);
  if (given("check")) return std::move(options.check);
  if (given("passwd")) return std::move(options.passwd);
  if (given("recover")) return std::move(options.recover);
  if (given("status")) return std::move(options.status);
  if (!given("key")) return std::nullopt;
  const CLI::App& key = *app.get_subcommand("key");
  if (key.got_subcommand("add")) return std::move(options.key_add);
  if (key.got_subcommand("list")) return std::move(options.key_list);
  return std::move(options.key_export);
}

}  // namespace coffer::cli
