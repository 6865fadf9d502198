// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/plugin_server.h"

#include <string>

#include <gtest/gtest.h>

#include "coffer/age/coffer_recipient.h"
#include "coffer/age/testing/test_random.h"
#include "coffer/base/testing/memory_io.h"

namespace coffer::age {
namespace {

using coffer::testing::MemorySink;
using coffer::testing::MemorySource;

const std::string kFileKey = "YELLOW SUBMARINE";
const std::string kFileKeyLine = "WUVMTE9XIFNVQk1BUklORQ\n";

struct Outcome {
  Status status;
  std::vector<Stanza> sent;
};

Outcome Serve(std::string_view state_machine, const std::string& said) {
  MemorySource source(said, 5);
  MemorySink sink;
  testing::TestRandom random;
  Outcome outcome{ServePlugin(state_machine, source, sink, random), {}};
  MemorySource back(sink.bytes());
  BufferedReader reader(back);
  while (!reader.Peek(1).value().empty()) outcome.sent.push_back(ReadStanza(reader).value());
  return outcome;
}

std::vector<std::string> Types(const Outcome& outcome) {
  std::vector<std::string> types;
  for (const Stanza& stanza : outcome.sent) types.push_back(stanza.type);
  return types;
}

using Strings = std::vector<std::string>;

std::string IdentityText() {
  static const std::string text = [] {
    testing::TestRandom random;
    return std::string(CofferIdentity::Generate(random).value().ToString().ExposeText());
  }();
  return text;
}

std::string RecipientText() {
  static const std::string text =
      CofferIdentity::Parse(IdentityText()).value().ToRecipient().value()->ToString();
  return text;
}

std::string Text(const Stanza& stanza) {
  Bytes out;
  AppendStanza(out, stanza);
  return std::string(AsText(out));
}

TEST(PluginRecipient, WrapsToRecipientsAndIdentities) {
  const Outcome outcome =
      Serve("recipient-v1", "-> grease-xyz abc\nAAAA\n-> add-recipient " + RecipientText() +
                                "\n\n-> add-identity " + IdentityText() + "\n\n-> wrap-file-key\n" +
                                kFileKeyLine +
                                "-> extension-labels\n\n-> done\n\n-> ok\n\n-> ok\n\n-> ok\n\n");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().message();
  ASSERT_EQ(Types(outcome), (Strings{"labels", "recipient-stanza", "recipient-stanza", "done"}));
  EXPECT_EQ(outcome.sent[0].arguments, Strings{"postquantum"});
  for (size_t i = 1; i <= 2; ++i) {
    const Stanza& told = outcome.sent[i];
    ASSERT_EQ(told.arguments.size(), 3u);
    EXPECT_EQ(told.arguments[0], "0");
    const Stanza stanza{told.arguments[1], {told.arguments[2]}, told.body};
    CofferIdentity identity = CofferIdentity::Parse(IdentityText()).value();
    const auto file_key = identity.Unwrap(std::span(&stanza, 1)).value();
    ASSERT_TRUE(file_key.has_value());
    EXPECT_EQ(AsText(file_key->Expose()), kFileKey);
  }
}

TEST(PluginRecipient, WarnsClientsWithoutLabelsAndTakesAnyAnswer) {
  for (const std::string& answer : std::vector<std::string>{"ok", "unsupported", "fail"}) {
    const Outcome outcome =
        Serve("recipient-v1", "-> add-recipient " + RecipientText() + "\n\n-> wrap-file-key\n" +
                                  kFileKeyLine + "-> done\n\n-> " + answer + "\n\n-> ok\n\n");
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(Types(outcome), (Strings{"msg", "recipient-stanza", "done"}));
  }
}

TEST(PluginRecipient, NamesBadKeysAndSendsNoStanza) {
  const Outcome outcome =
      Serve("recipient-v1",
            "-> add-recipient " + RecipientText() + "\n\n-> add-recipient age1coffer1x\n\n" +
                "-> add-identity AGE-PLUGIN-COFFER-1X\n\n-> wrap-file-key\n" + kFileKeyLine +
                "-> wrap-file-key\nAAAA\n" + "-> done\n\n-> ok\n\n-> ok\n\n-> ok\n\n");
  EXPECT_TRUE(outcome.status.ok());
  ASSERT_EQ(Types(outcome), (Strings{"error", "error", "error", "done"}));
  EXPECT_EQ(outcome.sent[0].arguments, (Strings{"recipient", "1"}));
  EXPECT_EQ(outcome.sent[1].arguments, (Strings{"identity", "0"}));
  EXPECT_EQ(outcome.sent[2].arguments, Strings{"internal"});
}

TEST(PluginIdentity, UnwrapsEachFile) {
  testing::TestRandom random;
  const FileKey file_key = FileKey::CopyOf(AsBytes(kFileKey).first<FileKey::kSize>());
  const Stanza stanza = CofferIdentity::Parse(IdentityText())
                            .value()
                            .ToRecipient()
                            .value()
                            ->Wrap(file_key, random)
                            .value()
                            .stanzas[0];
  const auto received = [](const std::string& file, const Stanza& s) {
    Strings arguments = {file, s.type};
    arguments.insert(arguments.end(), s.arguments.begin(), s.arguments.end());
    return Text({"recipient-stanza", arguments, s.body});
  };
  const std::string identity = "-> add-identity " + IdentityText() + "\n\n";
  const Stanza other{"X25519", {"abc"}, {}};
  const Outcome two = Serve("identity-v1", identity + received("0", other) + received("0", stanza) +
                                               received("1", other) + received("2", stanza) +
                                               "-> done\n\n-> ok\n\n-> ok\n\n");
  ASSERT_TRUE(two.status.ok());
  ASSERT_EQ(Types(two), (Strings{"file-key", "file-key", "done"}));
  EXPECT_EQ(two.sent[0].arguments, Strings{"0"});
  EXPECT_EQ(two.sent[1].arguments, Strings{"2"});
  EXPECT_EQ(AsText(two.sent[0].body), kFileKey);

  Stanza malformed = stanza;
  malformed.body.pop_back();
  const Outcome bad = Serve("identity-v1", identity + received("7", other) +
                                               received("7", malformed) + "-> done\n\n-> ok\n\n");
  ASSERT_EQ(Types(bad), (Strings{"error", "done"}));
  EXPECT_EQ(bad.sent[0].arguments, (Strings{"stanza", "7", "1"}));

  const Outcome none = Serve("identity-v1", identity + received("0", other) + "-> done\n\n");
  EXPECT_EQ(Types(none), Strings{"done"});
}

TEST(PluginIdentity, RefusesIndicesThatAreNone) {
  for (const std::string& index :
       std::vector<std::string>{"-1", "00", "01", "x", "99999999999999999999"}) {
    const Outcome outcome =
        Serve("identity-v1", "-> add-identity " + IdentityText() + "\n\n-> recipient-stanza " +
                                 index + " X25519 abc\n\n-> done\n\n-> ok\n\n");
    ASSERT_EQ(Types(outcome), (Strings{"error", "done"}));
    EXPECT_EQ(outcome.sent[0].arguments, Strings{"internal"});
  }
}

TEST(Plugin, RefusesKeysWithoutAnArgument) {
  const Outcome recipient = Serve("recipient-v1", "-> add-recipient\n\n-> wrap-file-key\n" +
                                                      kFileKeyLine + "-> done\n\n-> ok\n\n");
  EXPECT_EQ(Types(recipient), (Strings{"error", "done"}));
  const Outcome identity = Serve("identity-v1", "-> add-identity\n\n-> done\n\n-> ok\n\n");
  EXPECT_EQ(Types(identity), (Strings{"error", "done"}));
}

TEST(PluginIdentity, NamesBadIdentities) {
  const Outcome outcome =
      Serve("identity-v1", "-> add-identity AGE-PLUGIN-COFFER-1X\n\n-> done\n\n-> ok\n\n");
  ASSERT_EQ(Types(outcome), (Strings{"error", "done"}));
  EXPECT_EQ(outcome.sent[0].arguments, (Strings{"identity", "0"}));
}

TEST(Plugin, BrokenConversationsEnd) {
  for (const std::string& said :
       std::vector<std::string>{"", "-> add-recipient", "garbage\n", "-> done\n"}) {
    EXPECT_FALSE(Serve("recipient-v1", said).status.ok()) << said;
    EXPECT_FALSE(Serve("identity-v1", said).status.ok()) << said;
  }
  EXPECT_FALSE(Serve("recipient-v2", "-> done\n\n").status.ok());
}

}  // namespace
}  // namespace coffer::age
