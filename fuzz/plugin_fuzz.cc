// SPDX-License-Identifier: Apache-2.0
// The plugin's side of a conversation with whatever client: what it says is stanzas in their one
// encoding, of the commands that the state machine has, and ends with "done" exactly if the client
// kept to the protocol. With an error nothing is wrapped. The first byte chooses the state machine.
#include <algorithm>
#include <string>
#include <vector>

#include "coffer/age/coffer_recipient.h"
#include "coffer/age/plugin_server.h"
#include "coffer/base/check.h"
#include "coffer/base/testing/memory_io.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer {
namespace {

using age::Stanza;

// All stanzas of what was said; that they encode to the same bytes is checked.
std::vector<Stanza> ParseSaid(const Bytes& said) {
  testing::MemorySource source(said);
  BufferedReader reader(source);
  std::vector<Stanza> stanzas;
  Bytes encoded;
  while (encoded.size() < said.size()) {
    auto stanza = age::ReadStanza(reader);
    COFFER_CHECK(stanza.ok());
    age::AppendStanza(encoded, *stanza);
    stanzas.push_back(std::move(*stanza));
  }
  COFFER_CHECK(encoded == said);
  return stanzas;
}

void CheckError(const Stanza& error) {
  COFFER_CHECK(!error.arguments.empty());
  const std::string& about = error.arguments[0];
  const size_t count = about == "internal" ? 1 : about == "stanza" ? 3 : 2;
  COFFER_CHECK(error.arguments.size() == count);
  COFFER_CHECK(about == "internal" || about == "stanza" || about == "recipient" ||
               about == "identity");
  COFFER_CHECK(!error.body.empty());
}

void CheckWrapped(const Stanza& command) {
  COFFER_CHECK(command.arguments.size() == 3);
  COFFER_CHECK(command.arguments[1] == age::kCofferStanzaType);
  COFFER_CHECK(command.body.size() == 32);
}

void CheckSaid(const std::vector<Stanza>& said, bool is_recipient) {
  const auto count = [&](std::string_view type) {
    return std::ranges::count(said, type, &Stanza::type);
  };
  for (const Stanza& stanza : said) {
    if (stanza.type == "error") {
      CheckError(stanza);
    } else if (stanza.type == "recipient-stanza" && is_recipient) {
      CheckWrapped(stanza);
    } else if (stanza.type == "labels" && is_recipient) {
      COFFER_CHECK(stanza.arguments == std::vector<std::string>{"postquantum"});
    } else if (stanza.type == "file-key" && !is_recipient) {
      COFFER_CHECK(stanza.arguments.size() == 1 && stanza.body.size() == age::FileKey::kSize);
    } else {
      COFFER_CHECK(stanza.type == "done" || (stanza.type == "msg" && is_recipient));
    }
  }
  if (is_recipient) COFFER_CHECK(count("error") == 0 || count("recipient-stanza") == 0);
  COFFER_CHECK(count("labels") + count("msg") <= 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool is_recipient = data[0] % 2 == 0;
  testing::MemorySource source(ByteSpan(data, size).subspan(1), data[0] >= 128 ? 7 : SIZE_MAX);
  testing::MemorySink sink;
  crypto::testing::SeededRandom random(1);
  const Status status =
      age::ServePlugin(is_recipient ? "recipient-v1" : "identity-v1", source, sink, random);
  const std::vector<Stanza> said = ParseSaid(sink.bytes());
  CheckSaid(said, is_recipient);
  COFFER_CHECK(std::ranges::count(said, "done", &Stanza::type) == (status.ok() ? 1 : 0));
  if (status.ok()) {
    COFFER_CHECK(said.back().type == "done");
  } else {
    COFFER_CHECK(status.error().code() == ErrorCode::kHeader ||
                 status.error().code() == ErrorCode::kTooLarge);
  }
  return 0;
}

}  // namespace coffer
