// SPDX-License-Identifier: Apache-2.0
// Identity and recipient files: what parses has, for each identity, a recipient whose text parses
// and encodes to itself; no message repeats a line of the file.
#include <string>

#include "coffer/age/key_files.h"
#include "coffer/base/check.h"

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
    const std::string& message = identities.error().message();
    for (char c : message) COFFER_CHECK(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    COFFER_CHECK(message.size() < 200);
  }
  const auto recipients = age::ParseRecipientsFile(text);
  if (recipients.ok()) {
    for (const auto& recipient : *recipients) {
      const auto parsed = age::ParseRecipient(recipient->ToString());
      COFFER_CHECK(parsed.ok() && (*parsed)->ToString() == recipient->ToString());
    }
  } else {
    COFFER_CHECK(recipients.error().message().size() < 200);
  }
  static_cast<void>(age::IsEncryptedIdentityFile(text));
  return 0;
}
