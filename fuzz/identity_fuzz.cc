// SPDX-License-Identifier: Apache-2.0
// Identity and recipient files: what parses has, for each identity, a recipient whose text parses
// and encodes to itself; no message holds anything as long as a part of a key.
#include <string>

#include "coffer/age/key_files.h"
#include "coffer/base/check.h"

namespace {

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

// Messages are made of our words, which are short. Looking for pieces of the file in them would
// only teach the fuzzer to write our words into files.
void CheckRepeatsNothing(const std::string& message) {
  constexpr size_t kLongestWord = 15;
  COFFER_CHECK(message.size() < 200);
  size_t word_size = 0;
  for (char c : message) {
    COFFER_CHECK(IsPrintable(c));
    const bool in_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    word_size = in_word ? word_size + 1 : 0;
    COFFER_CHECK(word_size <= kLongestWord);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = coffer::AsText(coffer::ByteSpan(data, size));
  const auto identities = coffer::age::ParseIdentityFile(text);
  if (identities.ok()) {
    COFFER_CHECK(!identities->empty());
    for (const auto& identity : *identities) {
      const auto recipient = identity->ToRecipient();
      COFFER_CHECK(recipient.ok());
      const std::string line = (*recipient)->ToString();
      const auto parsed = coffer::age::ParseRecipient(line);
      COFFER_CHECK(parsed.ok() && (*parsed)->ToString() == line);
    }
  } else {
    CheckRepeatsNothing(identities.error().message());
  }
  const auto recipients = coffer::age::ParseRecipientsFile(text);
  if (recipients.ok()) {
    for (const auto& recipient : *recipients) {
      const auto parsed = coffer::age::ParseRecipient(recipient->ToString());
      COFFER_CHECK(parsed.ok() && (*parsed)->ToString() == recipient->ToString());
    }
  } else {
    CheckRepeatsNothing(recipients.error().message());
  }
  static_cast<void>(coffer::age::IsEncryptedIdentityFile(text));
  return 0;
}
