// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>

#include "coffer/age/coffer_recipient.h"
#include "coffer/age/hybrid.h"
#include "coffer/age/key_files.h"
#include "coffer/age/x25519.h"
#include "coffer/base/quote.h"
#include "coffer/cli/commands.h"
#include "coffer/cli/console.h"
#include "coffer/cli/key_loading.h"
#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/input.h"
#include "coffer/os/output_file.h"
#include "coffer/os/random.h"
#include "coffer/os/terminal.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kDefaultType = "coffer";

// The file for the key, empty if it goes to standard output.
std::string KeyPath(const KeygenOptions& options) {
  const std::string path = options.output.value_or("");
  return path == "-" ? std::string() : path;
}

Status CheckOptions(const KeygenOptions& options) {
  if (options.to_public) {
    if (options.type.empty()) return OkStatus();
    return InvalidArgument("-y can't be combined with --type: it takes the keys that are there");
  }
  if (options.input != "-") return InvalidArgument("an INPUT is only for -y");
  return OkStatus();
}

struct KeyPair {
  SecretBuffer identity;
  std::string recipient;
  std::string_view description;
};

Result<KeyPair> GenerateKeyPair(std::string_view type) {
  os::Random& random = os::SystemRandom();
  const auto pair = [](const auto& identity, std::string_view description) -> Result<KeyPair> {
    COFFER_ASSIGN_OR_RETURN(const auto recipient, identity.ToRecipient());
    return KeyPair{identity.ToString(), recipient->ToString(), description};
  };
  if (type == "x25519") {
    COFFER_ASSIGN_OR_RETURN(const auto identity, age::X25519Identity::Generate(random));
    return pair(identity, "X25519");
  }
  if (type == "pq") {
    COFFER_ASSIGN_OR_RETURN(const auto identity, age::HybridIdentity::Generate(random));
    return pair(identity, "post-quantum hybrid of age: ML-KEM-768 and X25519");
  }
  if (type == "coffer") {
    COFFER_ASSIGN_OR_RETURN(const auto identity, age::CofferIdentity::Generate(random));
    return pair(identity, "conservative hybrid: FrodoKEM-976, ML-KEM-768 and X25519");
  }
  return InvalidArgument("unknown type " + Quote(type) + "; there are coffer, pq and x25519");
}

// A recipient of this length is no use in a line that somebody reads or copies by hand.
constexpr size_t kMaxReadableRecipient = 100;

// Whether standard output is a file that others may read: no place for a secret key.
Result<bool> StandardOutputIsWorldReadable() {
  COFFER_ASSIGN_OR_RETURN(const auto file, os::RealFileSystem().OpenDescriptor(1));
  COFFER_ASSIGN_OR_RETURN(const os::FileStat stat, file->Stat());
  return stat.kind == os::FileKind::kRegular && (stat.mode & 0004) != 0;
}

// `path`.pub: a recipients file. Never overwrites one.
std::string PublicPath(const std::string& path) { return path + ".pub"; }

// Seen before the costly part, and again without a race when the file gets its name.
Status CheckPathIsFree(const std::string& path) {
  const Result<os::FileStat> stat = os::RealFileSystem().StatNoFollow(path);
  if (!stat.ok() && stat.error().code() == ErrorCode::kNotFound) return OkStatus();
  if (!stat.ok()) return stat.error();
  return Error(ErrorCode::kAlreadyExists, "cannot create " + Quote(path) + ": File exists");
}

Status WritePublicFile(const std::string& path, const KeyPair& pair, const std::string& created) {
  const std::string text = "# created: " + created + "\n# " + std::string(pair.description) + "\n" +
                           pair.recipient + "\n";
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(path, {.kind = os::OutputKind::kNewFile, .sync = true}));
  COFFER_TRY(output->Write(AsBytes(text)));
  return output->Commit();
}

SecretBuffer FormatIdentityFile(const KeyPair& pair, const std::string& created) {
  const bool readable = pair.recipient.size() <= kMaxReadableRecipient;
  SecretBuffer text = SecretBuffer::CopyOf(
      "# created: " + created + "\n# " +
      (readable ? "public key: " + pair.recipient
                : std::string(pair.description) + "; coffer keygen -y shows its public key") +
      "\n");
  text.Append(pair.identity.Expose());
  text.Append("\n");
  return text;
}

// What stands on standard error after a key was made.
std::string Announcement(const KeyPair& pair, const std::string& key_path) {
  const bool readable = pair.recipient.size() <= kMaxReadableRecipient;
  if (readable) return "Public key: " + pair.recipient + "\n";
  if (key_path.empty()) return "Public key: coffer keygen -y shows it\n";
  std::string text = "Public key: in " + Quote(PublicPath(key_path)) + ", for -R\n";
  if (pair.recipient.starts_with("age1coffer1")) {
    text +=
        "With age, whose recipients files take no lines this long, and age-plugin-coffer on PATH: "
        "age -r \"$(grep -v '^#' FILE)\"\n";
  }
  return text;
}

Status Generate(const KeygenOptions& options) {
  const std::string path = KeyPath(options);
  const bool to_file = !path.empty();
  if (to_file) {
    COFFER_TRY(CheckPathIsFree(path));
    COFFER_TRY(CheckPathIsFree(PublicPath(path)));
  } else {
    COFFER_ASSIGN_OR_RETURN(const bool exposed, StandardOutputIsWorldReadable());
    if (exposed) PrintWarning("writing secret key to a world-readable file");
  }
  COFFER_ASSIGN_OR_RETURN(const KeyPair pair,
                          GenerateKeyPair(options.type.empty() ? kDefaultType : options.type));
  const std::string created = os::LocalTimeText(os::WallTime(os::SystemClock()));
  COFFER_ASSIGN_OR_RETURN(
      const std::unique_ptr<os::OutputFile> output,
      os::OutputFile::Create(path, {.kind = os::OutputKind::kKeyFile, .sync = true}));
  COFFER_TRY(output->Write(FormatIdentityFile(pair, created).Expose()));
  COFFER_TRY(output->Commit());
  if (to_file) {
    Status status = WritePublicFile(PublicPath(path), pair, created);
    if (!status.ok()) {
      return std::move(status).error().WithContext(
          "the key is written, but not its public file (coffer keygen -y makes it)");
    }
  }
  if (!options.quiet && (to_file || !os::StandardOutputIsTerminal())) {
    // The key is made and stored, also if nobody can be told.
    static_cast<void>(os::StandardError().Write(AsBytes(Announcement(pair, path))));
  }
  return OkStatus();
}

Status PrintRecipients(const KeygenOptions& options) {
  OutputTarget target;
  target.path = options.output;
  COFFER_TRY(CheckOutputIsNotInput(target, options.input, {}, {}));
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer content,
                          os::ReadSecretFile(options.input, age::kMaxKeyFileSize));
  if (age::IsEncryptedIdentityFile(content.ExposeText())) {
    return InvalidArgument(
        "the identity file is encrypted; decrypt it and pipe it to coffer keygen -y");
  }
  Result<age::Identities> identities = age::ParseIdentityFile(content.ExposeText());
  if (!identities.ok()) {
    return std::move(identities).error().WithContext("identity file " + Quote(options.input));
  }
  std::string text;
  for (const auto& identity : *identities) {
    COFFER_ASSIGN_OR_RETURN(const auto recipient, identity->ToRecipient());
    text += recipient->ToString() + "\n";
  }
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::OutputFile> output,
                          os::OutputFile::Create(options.output.value_or("-"), {}));
  COFFER_TRY(output->Write(AsBytes(text)));
  return output->Commit();
}

}  // namespace

Status RunKeygen(const KeygenOptions& options) {
  COFFER_TRY(CheckOptions(options));
  return options.to_public ? PrintRecipients(options) : Generate(options);
}

}  // namespace coffer::cli
