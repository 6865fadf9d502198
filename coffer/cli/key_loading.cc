// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/key_loading.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "coffer/age/key_files.h"
#include "coffer/base/quote.h"
#include "coffer/cli/console.h"
#include "coffer/cli/passphrase.h"
#include "coffer/os/file_system.h"
#include "coffer/os/input.h"

namespace coffer::cli {
namespace {

bool IsStandardInput(const std::string& path) { return path.empty() || path == "-"; }

Result<os::FileStat> StatDescriptor(int descriptor) {
  COFFER_ASSIGN_OR_RETURN(const auto file, os::RealFileSystem().OpenDescriptor(descriptor));
  return file->Stat();
}

void WarnOfDuplicates(const std::vector<std::string>& values, std::string_view what) {
  std::set<std::string_view> seen;
  std::set<std::string_view> warned;
  for (const std::string& value : values) {
    if (seen.insert(value).second || !warned.insert(value).second) continue;
    if (age::LooksLikeIdentity(value)) continue;  // refused in a moment, without being shown
    PrintWarning("duplicate " + std::string(what) + " " + Quote(value));
  }
}

template <class T>
void MoveInto(std::vector<T>& all, std::vector<T> more) {
  for (T& one : more) all.push_back(std::move(one));
}

Result<age::Identities> LoadIdentityFile(const std::string& path,
                                         const std::shared_ptr<ExistingPassphrases>& passphrases,
                                         int max_work_factor) {
  if (age::LooksLikeIdentity(path)) {
    return InvalidArgument("-i takes the name of a file with identities, not an identity");
  }
  const std::string name = "identity file " + Quote(path);
  COFFER_ASSIGN_OR_RETURN(SecretBuffer content, os::ReadSecretFile(path, age::kMaxKeyFileSize));
  if (!age::IsEncryptedIdentityFile(content.ExposeText())) {
    Result<age::Identities> identities = age::ParseIdentityFile(content.ExposeText());
    if (identities.ok()) return identities;
    return std::move(identities).error().WithContext(name);
  }
  age::Identities identities;
  identities.push_back(age::MakeEncryptedIdentity(
      name, std::move(content), [passphrases, name] { return passphrases->Get(" for " + name); },
      max_work_factor));
  return identities;
}

}  // namespace

Result<age::Recipients> LoadRecipients(const EncryptOptions& options) {
  WarnOfDuplicates(options.recipients, "recipient");
  WarnOfDuplicates(options.recipients_files, "recipients file");
  age::Recipients recipients;
  for (const std::string& text : options.recipients) {
    Result<std::unique_ptr<age::Recipient>> recipient = age::ParseRecipient(text);
    // A recipient is public, so it may be shown, unless it is the wrong half of a key.
    if (!recipient.ok()) {
      const bool secret = age::LooksLikeIdentity(text);
      return std::move(recipient).error().WithContext(secret ? std::string("-r")
                                                             : "invalid recipient " + Quote(text));
    }
    recipients.push_back(std::move(*recipient));
  }
  for (const std::string& path : options.recipients_files) {
    if (age::LooksLikeIdentity(path)) {
      return InvalidArgument("-R takes the name of a file with recipients, not an identity");
    }
    COFFER_ASSIGN_OR_RETURN(const SecretBuffer content,
                            os::ReadSecretFile(path, age::kMaxKeyFileSize));
    Result<age::Recipients> file = age::ParseRecipientsFile(content.ExposeText());
    if (!file.ok()) return std::move(file).error().WithContext("recipients file " + Quote(path));
    MoveInto(recipients, std::move(*file));
  }
  COFFER_ASSIGN_OR_RETURN(const age::Identities identities,
                          LoadIdentities(options.identity_files, options.passphrase_source,
                                         age::kDefaultMaxScryptLog2N));
  for (const auto& identity : identities) {
    COFFER_ASSIGN_OR_RETURN(age::Recipients own, identity->ToRecipients());
    MoveInto(recipients, std::move(own));
  }
  return recipients;
}

Result<age::Identities> LoadIdentities(const std::vector<std::string>& paths,
                                       const PassphraseSourceOptions& passphrase_source,
                                       int max_work_factor) {
  WarnOfDuplicates(paths, "identity file");
  const auto passphrases = std::make_shared<ExistingPassphrases>(passphrase_source);
  age::Identities identities;
  for (const std::string& path : paths) {
    COFFER_ASSIGN_OR_RETURN(age::Identities file,
                            LoadIdentityFile(path, passphrases, max_work_factor));
    MoveInto(identities, std::move(file));
  }
  return identities;
}

Status CheckOutputIsNotInput(const OutputTarget& output, const std::string& input,
                             const std::vector<std::vector<std::string>>& key_files,
                             const PassphraseSourceOptions& passphrase_source) {
  const Result<os::FileStat> written = output.path && !output.to_stdout()
                                           ? os::RealFileSystem().Stat(*output.path)
                                           : StatDescriptor(1);
  // A file that is not there yet is no input; one that cannot be looked at will be reported when it
  // is opened.
  if (!written.ok()) return OkStatus();
  const auto check = [&](const std::string& path, std::string_view what) -> Status {
    const bool is_standard = IsStandardInput(path);
    const Result<os::FileStat> read =
        is_standard ? StatDescriptor(0) : os::RealFileSystem().Stat(path);
    if (!read.ok() || !os::SameFile(*read, *written)) return OkStatus();
    return InvalidArgument(std::string(what) + " and output file are the same: " +
                           (is_standard ? "standard input" : Quote(path)));
  };
  COFFER_TRY(check(input, "input"));
  for (const auto& paths : key_files) {
    for (const std::string& path : paths) COFFER_TRY(check(path, "key"));
  }
  if (passphrase_source.file) COFFER_TRY(check(*passphrase_source.file, "passphrase"));
  return OkStatus();
}

Status CheckStandardInputUse(const std::string& input,
                             const std::vector<std::vector<std::string>>& key_files,
                             const PassphraseSourceOptions& passphrase_source) {
  size_t uses = IsStandardInput(input) ? 1 : 0;
  for (const auto& paths : key_files) {
    uses += static_cast<size_t>(std::ranges::count_if(paths, IsStandardInput));
  }
  if (passphrase_source.file && IsStandardInput(*passphrase_source.file)) ++uses;
  if (passphrase_source.descriptor == 0) ++uses;
  if (uses > 1) return InvalidArgument("standard input is used for multiple purposes");
  return OkStatus();
}

}  // namespace coffer::cli
