// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/vault_help.h"

#include <algorithm>
#include <array>

namespace coffer::cli {
namespace {

struct Help {
  std::string_view command;
  std::string_view text;
};

constexpr std::string_view kEnd = R"(
The passphrase is asked for on the terminal, unless an option or one of
COFFER_PASSPHRASE_FILE and COFFER_PASSPHRASE_COMMAND says where it is.
Exit status: 0 done, 1 failed, 2 usage, 3 done in part (each item is named),
4 wrong passphrase or no key, 5 damage or forgery found.)";

constexpr auto kHelp = std::to_array<Help>({
    {"init", R"(
Makes the directory, a key file in it that the passphrase opens, and shows a
recovery code, which opens it too: write it down, for it is asked back. With
--key the key file is kept elsewhere, and the vault is of no use without it.

  coffer init --vault /mnt/nas/vault
  coffer init --key owner.key --recovery-file recovery.txt)"},
    {"add", R"(
A name in the vault is PATH without a leading / or ./ ; ".." needs --to. What is
unchanged since this machine last added it is not read again, and no data is
stored twice. When add succeeds, all of it is on stable storage; what is stopped
half-way goes on from where it was.

A pattern without a slash leaves out what has that name at any depth: *.o, .cache/
(a slash at the end is for directories only). One with a slash in front or within
is a whole name in the vault, where ** stands for any number of directories.

  coffer add photos papers
  coffer add /srv/data --to data --exclude '*.tmp' --one-file-system
  pg_dump db | coffer add --stdin-name backup/db.sql)"},
    {"list", R"(
A name with several versions, which machines added without knowing of each other,
is marked; get takes NAME@WRITER:SEQ. Control characters are escaped; -0 and
--json have names as they are.

  coffer list -l photos
  coffer list --at 2026-01-31)"},
    {"get", R"(
Without -o names are restored below the current directory. Nothing that is there
is replaced without --overwrite, no link below the destination is followed, and
no data is written before it is verified. What cannot be reproduced here, such as
an owner, is named.

  coffer get papers/contract.pdf -o /tmp
  coffer get photos -o restored --at 2026-01-31
  coffer get notes.txt -o - | less)"},
    {"rm", R"(
Removes names; the data stays, and with it what history, --at and get of an
earlier time give. A NAME that the vault does not have removes nothing at all.

  coffer rm -n photos/2019
  coffer rm photos/2019)"},
    {"mv", R"(
Directories move with all that is below them. Nothing is stored again.

  coffer mv photos pictures)"},
    {"history", R"(
  coffer history
  coffer history papers/contract.pdf)"},
    {"pin", R"(
  coffer history
  coffer pin 1f09ab)"},
    {"check", R"(
Reads every object and compares it with its name; with the key it also finds what
is missing, forged or out of sequence, and names the files that are hit.
--read-data decrypts and compares every file's content besides. A damaged segment
can be stored again: delete it, and add the files that it hits.

  coffer check
  coffer check --no-key --vault /media/stick/vault
  coffer check --read-data --percent 10)"},
    {"passwd", R"(
Changes the passphrase that was given; the recovery code stays valid. Copies of
the old key file still open with the old passphrase.

  coffer passwd
  coffer passwd --new-recovery)"},
    {"recover", R"(
Asks for the recovery code, and then for a new passphrase. The code stays valid.)"},
    {"key add", R"(
Another key file of the same vault, for another person or machine: whoever opens
it can do all that you can.)"},
    {"key list", ""},
    {"key export", R"(
A copy of the key file opens the vault with its passphrase even if the vault loses
its own. With --identity what is written needs no passphrase: with it and
age-plugin-coffer, age opens every object of the vault.)"},
    {"status", ""},
});

}  // namespace

std::string VaultHelp(std::string_view command) {
  const auto* const found = std::ranges::find(kHelp, command, &Help::command);
  if (found == kHelp.end()) return {};
  std::string text(found->text.empty() ? found->text : found->text.substr(1));
  if (!text.empty()) text += '\n';
  return text + std::string(kEnd);
}

}  // namespace coffer::cli
