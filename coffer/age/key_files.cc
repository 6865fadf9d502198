// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/key_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <utility>

#include "coffer/age/coffer_recipient.h"
#include "coffer/age/hybrid.h"
#include "coffer/age/x25519.h"

namespace coffer::age {
namespace {

// Lines in which somebody put the other half of a key, or a key of another system.
Status CheckNotIdentity(std::string_view line) {
  if (LooksLikeIdentity(line)) return InvalidArgument("apparent identity instead of a recipient");
  return OkStatus();
}

using LineParser = std::function<Status(std::string_view line)>;

// Calls `parse` for each line that means something, and names the line where it fails.
Status ForEachLine(std::string_view text, const LineParser& parse) {
  if (text.size() > kMaxKeyFileSize) {
    return Error(ErrorCode::kTooLarge, "the file is larger than 16 MiB");
  }
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    Status status =
        line.starts_with("\xef\xbb\xbf") || line.starts_with("\xff\xfe")
            ? InvalidArgument(
                  "the file starts with a byte order mark; save it as plain text without one")
            : parse(line);
    if (!status.ok())
      return std::move(status).error().WithContext("line " + std::to_string(number));
  }
  return OkStatus();
}

}  // namespace

bool LooksLikeIdentity(std::string_view text) {
  constexpr std::array<std::string_view, 2> kMarks = {"AGE-SECRET-KEY-", "AGE-PLUGIN-"};
  const auto same = [](char a, char b) {
    return a == (b >= 'a' && b <= 'z' ? static_cast<char>(b - 'a' + 'A') : b);
  };
  return std::ranges::any_of(kMarks, [&](std::string_view mark) {
    return std::search(text.begin(), text.end(), mark.begin(), mark.end(),
                       [&](char a, char b) { return same(b, a); }) != text.end();
  });
}

Result<std::unique_ptr<Recipient>> ParseRecipient(std::string_view text) {
  COFFER_TRY(CheckNotIdentity(text));
  if (text.starts_with("age1pq1")) {
    COFFER_ASSIGN_OR_RETURN(HybridRecipient recipient, HybridRecipient::Parse(text));
    return std::unique_ptr<Recipient>(std::make_unique<HybridRecipient>(recipient));
  }
  if (text.starts_with("age1coffer1")) {
    COFFER_ASSIGN_OR_RETURN(CofferRecipient recipient, CofferRecipient::Parse(text));
    return std::unique_ptr<Recipient>(std::make_unique<CofferRecipient>(std::move(recipient)));
  }
  if (text.starts_with("age1") && text.find('1', 4) == std::string_view::npos) {
    COFFER_ASSIGN_OR_RETURN(X25519Recipient recipient, X25519Recipient::Parse(text));
    return std::unique_ptr<Recipient>(std::make_unique<X25519Recipient>(recipient));
  }
  if (text.starts_with("ssh-")) return InvalidArgument("SSH keys are not supported as recipients");
  if (text.starts_with("github:")) {
    return InvalidArgument(
        "GitHub user names are not supported as recipients; fetch the keys to a file");
  }
  if (text.starts_with("age1")) return InvalidArgument("unsupported recipient type after \"age1\"");
  return InvalidArgument("unknown recipient type; a recipient starts with \"age1\"");
}

Result<Recipients> ParseRecipientsFile(std::string_view text) {
  Recipients recipients;
  COFFER_TRY(ForEachLine(text, [&](std::string_view line) -> Status {
    COFFER_ASSIGN_OR_RETURN(auto recipient, ParseRecipient(line));
    recipients.push_back(std::move(recipient));
    return OkStatus();
  }));
  if (recipients.empty()) return InvalidArgument("no recipients found");
  return recipients;
}

Result<std::unique_ptr<Identity>> ParseIdentity(std::string_view text) {
  if (text.starts_with("AGE-SECRET-KEY-1")) {
    COFFER_ASSIGN_OR_RETURN(X25519Identity identity, X25519Identity::Parse(text));
    return std::unique_ptr<Identity>(std::make_unique<X25519Identity>(std::move(identity)));
  }
  if (text.starts_with("AGE-SECRET-KEY-PQ-1")) {
    COFFER_ASSIGN_OR_RETURN(HybridIdentity identity, HybridIdentity::Parse(text));
    return std::unique_ptr<Identity>(std::make_unique<HybridIdentity>(std::move(identity)));
  }
  if (text.starts_with("AGE-PLUGIN-COFFER-1")) {
    COFFER_ASSIGN_OR_RETURN(CofferIdentity identity, CofferIdentity::Parse(text));
    return std::unique_ptr<Identity>(std::make_unique<CofferIdentity>(std::move(identity)));
  }
  if (text.starts_with("age1")) return InvalidArgument("apparent recipient instead of an identity");
  if (text.starts_with("AGE-SECRET-KEY-") || text.starts_with("AGE-PLUGIN-")) {
    return InvalidArgument("unsupported identity type");
  }
  if (text.starts_with("-----BEGIN"))
    return InvalidArgument("SSH keys are not supported as identities");
  return InvalidArgument("unknown identity type; an identity starts with \"AGE-SECRET-KEY-1\"");
}

Result<Identities> ParseIdentityFile(std::string_view text) {
  Identities identities;
  COFFER_TRY(ForEachLine(text, [&](std::string_view line) -> Status {
    COFFER_ASSIGN_OR_RETURN(auto identity, ParseIdentity(line));
    identities.push_back(std::move(identity));
    return OkStatus();
  }));
  if (identities.empty()) return InvalidArgument("no secret keys found");
  return identities;
}

}  // namespace coffer::age
