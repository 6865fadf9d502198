// SPDX-License-Identifier: Apache-2.0
// Recipients, identities, key files and whole files.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "coffer/age/armor.h"
#include "coffer/age/decrypt.h"
#include "coffer/age/encrypt.h"
#include "coffer/age/key_files.h"
#include "coffer/age/scrypt.h"
#include "coffer/age/testing/test_random.h"
#include "coffer/age/x25519.h"
#include "coffer/base/testing/memory_io.h"

namespace coffer::age {
namespace {

using coffer::testing::MemorySink;
using coffer::testing::MemorySource;
using coffer::testing::ReadAll;

constexpr int kFastLog2N = 4;

Recipients Single(std::unique_ptr<Recipient> recipient) {
  Recipients recipients;
  recipients.push_back(std::move(recipient));
  return recipients;
}

std::unique_ptr<Recipient> Passphrase(std::string_view text) {
  return std::make_unique<ScryptRecipient>(SecretBuffer::CopyOf(text), kFastLog2N);
}

Bytes Encrypt(const Recipients& recipients, std::string_view plaintext) {
  testing::TestRandom random;
  MemorySink sink;
  auto encryptor = Encryptor::Begin(NewFileKey(random), recipients, random, sink).value();
  EXPECT_TRUE(encryptor.Write(AsBytes(plaintext)).ok());
  EXPECT_TRUE(encryptor.Close().ok());
  return sink.bytes();
}

Result<std::string> Decrypt(const Bytes& file, const Identities& identities) {
  MemorySource source(file);
  BufferedReader reader(source);
  COFFER_ASSIGN_OR_RETURN(Decryptor decryptor, Decryptor::Begin(reader, identities));
  auto outcome = ReadAll(decryptor);
  if (!outcome.status.ok()) return std::move(outcome.status).error();
  return std::string(AsText(outcome.bytes));
}

Identities Single(std::unique_ptr<Identity> identity) {
  Identities identities;
  identities.push_back(std::move(identity));
  return identities;
}

std::unique_ptr<X25519Identity> NewIdentity(testing::TestRandom& random) {
  return std::make_unique<X25519Identity>(X25519Identity::Generate(random).value());
}

std::unique_ptr<Identity> PassphraseIdentity(std::string text, int* calls = nullptr) {
  return std::make_unique<ScryptIdentity>([text, calls]() -> Result<SecretBuffer> {
    if (calls != nullptr) ++*calls;
    return SecretBuffer::CopyOf(text);
  });
}

TEST(X25519Recipient, TextRoundTrips) {
  testing::TestRandom random;
  const auto identity = NewIdentity(random);
  const SecretBuffer secret = identity->ToString();
  EXPECT_EQ(secret.size(), 74u);
  EXPECT_EQ(X25519Identity::Parse(secret.ExposeText()).value().ToString().ExposeText(),
            secret.ExposeText());
  const std::string text = identity->recipient().ToString();
  EXPECT_EQ(text.size(), 62u);
  EXPECT_EQ(X25519Recipient::Parse(text).value().ToString(), text);
}

TEST(X25519Recipient, RefusesTheWrongCaseTypeAndLength) {
  testing::TestRandom random;
  const auto identity = NewIdentity(random);
  std::string recipient = identity->recipient().ToString();
  std::string secret(identity->ToString().ExposeText());
  for (char& c : recipient) c = static_cast<char>(std::toupper(c));
  for (char& c : secret) c = static_cast<char>(std::tolower(c));
  EXPECT_FALSE(X25519Recipient::Parse(recipient).ok());
  EXPECT_FALSE(X25519Identity::Parse(secret).ok());
  EXPECT_FALSE(X25519Identity::Parse(identity->recipient().ToString()).ok());
  EXPECT_FALSE(X25519Recipient::Parse(identity->ToString().ExposeText()).ok());
  EXPECT_FALSE(X25519Recipient::Parse("age1lggyhqrw2nlhcxprm67z43rta5q6mw0jr4kg3k").ok());
}

TEST(X25519Recipient, LowOrderPointIsRefusedWhenEncrypting) {
  testing::TestRandom random;
  const Recipients recipients = Single(std::make_unique<X25519Recipient>(crypto::X25519Point{}));
  EXPECT_FALSE(MakeHeader(NewFileKey(random), recipients, random).ok());
}

TEST(Labels, PassphraseStandsAlone) {
  testing::TestRandom random;
  Recipients mixed = Single(Passphrase("a"));
  mixed.push_back(std::make_unique<X25519Recipient>(NewIdentity(random)->recipient()));
  const auto header = MakeHeader(NewFileKey(random), mixed, random);
  ASSERT_FALSE(header.ok());
  EXPECT_TRUE(header.error().message().starts_with("incompatible recipients"));
  Recipients twice = Single(Passphrase("a"));
  twice.push_back(Passphrase("a"));
  EXPECT_FALSE(MakeHeader(NewFileKey(random), twice, random).ok());
  EXPECT_FALSE(MakeHeader(NewFileKey(random), {}, random).ok());
}

class PostQuantumDouble final : public Recipient {
 public:
  Result<WrappedFileKey> Wrap(const FileKey&, os::Random&) const override {
    return WrappedFileKey{{{"pq", {}, {}}}, {std::string(kPostQuantumLabel)}};
  }
  [[nodiscard]] std::string ToString() const override { return {}; }
};

TEST(Labels, PostQuantumIsNotMixedWithClassic) {
  testing::TestRandom random;
  Recipients mixed = Single(std::make_unique<PostQuantumDouble>());
  EXPECT_TRUE(MakeHeader(NewFileKey(random), mixed, random).ok());
  mixed.push_back(std::make_unique<X25519Recipient>(NewIdentity(random)->recipient()));
  const auto header = MakeHeader(NewFileKey(random), mixed, random);
  ASSERT_FALSE(header.ok());
  EXPECT_TRUE(header.error().message().starts_with(
      "incompatible recipients: can't mix post-quantum and classic recipients"));
}

TEST(Decrypt, SaysWhichStanzasThereAre) {
  testing::TestRandom random;
  Recipients recipients;
  for (int i = 0; i < 2; ++i) {
    recipients.push_back(std::make_unique<X25519Recipient>(NewIdentity(random)->recipient()));
  }
  const Bytes file = Encrypt(recipients, "x");
  const auto one = Decrypt(file, Single(NewIdentity(random)));
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().code(), ErrorCode::kNoMatch);
  EXPECT_EQ(one.error().message(),
            "identity did not match any of the recipients: the file has stanzas of type 2 X25519");
}

TEST(Decrypt, DescriptionOfStanzasIsBounded) {
  Header header;
  for (int i = 0; i < 1000; ++i) {
    header.stanzas.push_back({"type" + std::to_string(i) + std::string(1000, 'x'), {}, {}});
  }
  EXPECT_LT(DescribeStanzas(header).size(), 600u);
}

TEST(Scrypt, PassphraseIsAskedForOnlyWhenNeeded) {
  testing::TestRandom random;
  const auto identity = NewIdentity(random);
  const Bytes file =
      Encrypt(Single(std::make_unique<X25519Recipient>(identity->recipient())), "hello");
  int calls = 0;
  Identities identities = Single(PassphraseIdentity("p", &calls));
  identities.push_back(std::make_unique<X25519Identity>(
      X25519Identity::Parse(identity->ToString().ExposeText()).value()));
  EXPECT_EQ(Decrypt(file, identities).value(), "hello");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(Decrypt(Encrypt(Single(Passphrase("p")), "x"), identities).value(), "x");
  EXPECT_EQ(calls, 1);
}

TEST(Scrypt, WrongPassphraseIsNoMatch) {
  const auto result =
      Decrypt(Encrypt(Single(Passphrase("a")), "x"), Single(PassphraseIdentity("b")));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kNoMatch);
}

// What would cost 8 GiB is refused before the passphrase is asked for, with the way to allow it.
TEST(Scrypt, WorkFactorOverTheLimit) {
  int calls = 0;
  const Stanza stanza{"scrypt", {std::string(22, 'A'), "23"}, Bytes(32)};
  const auto result = PassphraseIdentity("a", &calls)->Unwrap(std::span(&stanza, 1));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kHeader);
  EXPECT_TRUE(result.error().message().ends_with("allow it with --max-work-factor 23"));
  EXPECT_EQ(calls, 0);
}

TEST(KeyFiles, LineEndsCommentsAndLongLines) {
  testing::TestRandom random;
  const std::string recipient = NewIdentity(random)->recipient().ToString();
  const std::string secret(NewIdentity(random)->ToString().ExposeText());
  for (const std::string& text :
       {recipient, recipient + "\n", recipient + "\r\n", "# comment\r\n\r\n" + recipient + "\r\n",
        "#" + std::string(70000, 'x') + "\n" + recipient}) {
    EXPECT_EQ(ParseRecipientsFile(text).value().size(), 1u);
  }
  EXPECT_EQ(ParseRecipientsFile(recipient + "\n" + recipient).value().size(), 2u);
  EXPECT_EQ(ParseIdentityFile("# a\r\n" + secret + "\r\n\r\n" + secret).value().size(), 2u);
}

std::string RecipientsError(const std::string& text) {
  const auto recipients = ParseRecipientsFile(text);
  return recipients.ok() ? "parsed" : recipients.error().message();
}

std::string IdentityError(const std::string& text) {
  const auto identities = ParseIdentityFile(text);
  return identities.ok() ? "parsed" : identities.error().message();
}

TEST(KeyFiles, BadLinesAreNamedByNumberOnly) {
  testing::TestRandom random;
  const std::string recipient = NewIdentity(random)->recipient().ToString();
  const std::string secret(NewIdentity(random)->ToString().ExposeText());
  EXPECT_EQ(RecipientsError(""), "no recipients found");
  EXPECT_EQ(RecipientsError("# only\n"), "no recipients found");
  EXPECT_EQ(RecipientsError(recipient + "\n" + secret + "\n"),
            "line 2: apparent identity instead of a recipient");
  EXPECT_EQ(IdentityError(""), "no secret keys found");
  EXPECT_EQ(IdentityError(secret + "\n\n" + recipient),
            "line 3: apparent recipient instead of an identity");
  for (const std::string& bad : {recipient + " ", " " + recipient, recipient + "x", secret + " ",
                                 std::string("hunter2"), "\xef\xbb\xbf" + recipient}) {
    for (const std::string& message :
         {RecipientsError(recipient + "\n" + bad), IdentityError(secret + "\n" + bad)}) {
      EXPECT_TRUE(message.starts_with("line 2: ")) << message;
      EXPECT_EQ(message.find("hunter2"), std::string::npos);
      EXPECT_EQ(message.find(secret.substr(20, 10)), std::string::npos);
    }
  }
}

TEST(KeyFiles, GarbageBehindManyCommentsIsNoticed) {
  testing::TestRandom random;
  const std::string recipient = NewIdentity(random)->recipient().ToString();
  EXPECT_EQ(RecipientsError(recipient + "\n" + std::string(kMaxKeyFileSize, '#') + "\ngarbage"),
            "the file is larger than 16 MiB");
}

Bytes Armor(const Bytes& binary) {
  MemorySink sink;
  ArmorWriter writer(sink);
  EXPECT_TRUE(writer.Write(binary).ok());
  EXPECT_TRUE(writer.Close().ok());
  return sink.bytes();
}

std::unique_ptr<Identity> Encrypted(const Bytes& file, int* calls) {
  EXPECT_TRUE(IsEncryptedIdentityFile(AsText(file)));
  return MakeEncryptedIdentity(
      "key file", SecretBuffer::CopyOf(file),
      [calls]() -> Result<SecretBuffer> {
        ++*calls;
        return SecretBuffer::CopyOf("secret");
      },
      kDefaultMaxScryptLog2N);
}

TEST(EncryptedIdentity, OpensOnceBinaryAndArmored) {
  testing::TestRandom random;
  const auto identity = NewIdentity(random);
  const Bytes file =
      Encrypt(Single(std::make_unique<X25519Recipient>(identity->recipient())), "hello");
  const Bytes keys =
      Encrypt(Single(Passphrase("secret")), std::string(identity->ToString().ExposeText()) + "\n");
  for (const Bytes& encrypted : {keys, Armor(keys)}) {
    int calls = 0;
    const Identities identities = Single(Encrypted(encrypted, &calls));
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(Decrypt(file, identities).value(), "hello");
    EXPECT_EQ(Decrypt(file, identities).value(), "hello");
    EXPECT_EQ(calls, 1);
  }
}

TEST(EncryptedIdentity, EncryptsToItsIdentities) {
  testing::TestRandom random;
  const auto first = NewIdentity(random);
  const auto second = NewIdentity(random);
  const Bytes keys = Encrypt(Single(Passphrase("secret")),
                             std::string(first->ToString().ExposeText()) + "\n" +
                                 std::string(second->ToString().ExposeText()) + "\n");
  int calls = 0;
  const Recipients recipients = Encrypted(keys, &calls)->ToRecipients().value();
  ASSERT_EQ(recipients.size(), 2u);
  EXPECT_EQ(recipients[1]->ToString(), second->recipient().ToString());
  EXPECT_EQ(calls, 1);
}

TEST(KeyFiles, KnowsWhatMustNotBeShown) {
  for (std::string_view text : {"AGE-SECRET-KEY-1ABC", " age-secret-key-1abc", "x AGE-PLUGIN-Y-1",
                                "AGE-SECRET-KEY-PQ-1", "Age-Plugin-Coffer-1q"}) {
    EXPECT_TRUE(LooksLikeIdentity(text)) << text;
  }
  for (std::string_view text : {"", "age1abc", "AGE-", "ssh-ed25519 AAAA", "age-secret"}) {
    EXPECT_FALSE(LooksLikeIdentity(text)) << text;
  }
}

TEST(EncryptedIdentity, FailuresAreOfTheIdentityFile) {
  testing::TestRandom random;
  const auto identity = NewIdentity(random);
  const Recipients recipients = Single(std::make_unique<X25519Recipient>(identity->recipient()));
  const Bytes file = Encrypt(recipients, "hello");
  int calls = 0;
  const auto message = [&](const Bytes& encrypted) {
    const auto result = Decrypt(file, Single(Encrypted(encrypted, &calls)));
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
    return result.error().message();
  };
  EXPECT_EQ(message(Encrypt(Single(Passphrase("other")), "x")), "key file: incorrect passphrase");
  EXPECT_EQ(message(Encrypt(recipients, "x")),
            "key file: it is encrypted, but not with a passphrase");
  EXPECT_EQ(message(Encrypt(Single(Passphrase("secret")), "garbage")),
            "key file: line 1: unknown identity type; an identity starts with "
            "\"AGE-SECRET-KEY-1\"");
}

}  // namespace
}  // namespace coffer::age
