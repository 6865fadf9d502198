// SPDX-License-Identifier: Apache-2.0
// Identity and recipient files: what parses has, for each identity, a recipient whose text parses
// and encodes to itself; no message repeats a line of the file.
#include <string>

#include "coffer/age/key_files.h"
#include "coffer/base/check.h"

namespace {

// Pieces of eight bytes are long enough not to be in a message by chance.
void CheckRepeatsNothing(const std::string& message, std::string_view text) {
  for (char c : message) COFFER_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  COFFER_CHECK(message.size() < 200);
  // The words of our own messages that a file may well have in it.
  if (text.find("AGE-") != std::string_view::npos || text.find("age1") != std::string_view::npos) {
    for (size_t at = 0; at + 16 <= text.size(); ++at) {
      const std::string_view piece = text.substr(at, 16);
      if (piece.find("-KEY-") != std::string_view::npos) continue;
      COFFER_CHECK(message.find(piece) == std::string::npos);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace coffer;
  const std::string_view text = AsText(ByteSpan(data, size));
  const auto identities = age::ParseIdentityFile(text);
  if (identities.ok()) {
    COFFER_CHECK(!identities->empty());
    for (const auto& identity : *identities) {
      const auto recipient = identity->ToRecipient();
      COFFER_CHECK(recipient.ok());
      const std::string line = (*recipient)->ToString();
      const auto parsed = age::ParseRecipient(line);
      COFFER_CHECK(parsed.ok() && (*parsed)->ToString() == line);
    }
  } else {
    CheckRepeatsNothing(identities.error().message(), text);
  }
  const auto recipients = age::ParseRecipientsFile(text);
  if (recipients.ok()) {
    for (const auto& recipient : *recipients) {
      const auto parsed = age::ParseRecipient(recipient->ToString());
      COFFER_CHECK(parsed.ok() && (*parsed)->ToString() == recipient->ToString());
    }
  } else {
    CheckRepeatsNothing(recipients.error().message(), text);
  }
  static_cast<void>(age::IsEncryptedIdentityFile(text));
  return 0;
}
