// SPDX-License-Identifier: Apache-2.0
// The coffer and hybrid recipients: the vector of docs/format/recipient.md, what is refused, and
// age's own sample strings by way of the CCTV vectors (cctv_test.cc).
#include "coffer/age/coffer_recipient.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "coffer/age/decrypt.h"
#include "coffer/age/encrypt.h"
#include "coffer/age/hybrid.h"
#include "coffer/age/key_files.h"
#include "coffer/age/testing/test_random.h"
#include "coffer/age/x25519.h"
#include "coffer/base/base64.h"
#include "coffer/base/bech32.h"
#include "coffer/base/hex.h"
#include "coffer/crypto/sha2.h"

namespace coffer::age {
namespace {

using base64::Padding;

FileKey VectorFileKey() {
  return FileKey::CopyOf(AsBytes("YELLOW SUBMARINE").first<FileKey::kSize>());
}

Bytes VectorSeed() {
  Bytes seed(32);
  for (size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<uint8_t>(i);
  return seed;
}

CofferIdentity VectorIdentity() {
  const SecretBuffer text = bech32::EncodeUpperCase("age-plugin-coffer-", VectorSeed());
  return CofferIdentity::Parse(text.ExposeText()).value();
}

std::string Digest(ByteSpan bytes) { return hex::Encode(crypto::Sha256(bytes).value()); }

Stanza Wrap(const Recipient& recipient) {
  testing::TestRandom random;
  WrappedFileKey wrapped = recipient.Wrap(VectorFileKey(), random).value();
  EXPECT_EQ(wrapped.labels, Labels{std::string(kPostQuantumLabel)});
  EXPECT_EQ(wrapped.stanzas.size(), 1u);
  return std::move(wrapped.stanzas.front());
}

Result<std::optional<FileKey>> Unwrap(Identity& identity, const Stanza& stanza) {
  return identity.Unwrap(std::span(&stanza, 1));
}

// Checks that a stanza is refused as malformed.
void ExpectHeaderFailure(Identity& identity, const Stanza& stanza) {
  const auto result = Unwrap(identity, stanza);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), ErrorCode::kHeader);
}

void ExpectNoMatch(Identity& identity, const Stanza& stanza) {
  const auto result = Unwrap(identity, stanza);
  ASSERT_TRUE(result.ok()) << result.error().message();
  EXPECT_FALSE(result->has_value());
}

TEST(CofferRecipient, PublishedVector) {
  CofferIdentity identity = VectorIdentity();
  EXPECT_EQ(identity.ToString().ExposeText(),
            "AGE-PLUGIN-COFFER-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0S2KKHYX");
  const auto recipient = identity.ToRecipient().value();
  const std::string text = recipient->ToString();
  EXPECT_EQ(text.size(), 26974u);
  EXPECT_EQ(text.substr(0, 40), "age1coffer1af7gr4wn4qtlaeu30h6muw2d4rpvf");
  EXPECT_EQ(Digest(AsBytes(text)),
            "c0f0071c16881edaf911d473cd8db5f9821e4a607551da2ee85b9f18a41decbc");
  const Stanza stanza = Wrap(*recipient);
  EXPECT_EQ(stanza.type, "coffer-frodo976-xwing");
  ASSERT_EQ(stanza.arguments.size(), 1u);
  EXPECT_EQ(stanza.arguments[0].size(), 22550u);
  EXPECT_EQ(Digest(base64::Decode(stanza.arguments[0], Padding::kNone).value()),
            "0707e608c4fb1b45d119a425b46ab320c4c1f6d6f4deaa29a6e11b263115da99");
  EXPECT_EQ(hex::Encode(stanza.body),
            "62c7d2229d942b636f3148c2686c66a6df1aaf7fbe5738acec1dd78e72ae5de0");
  const auto file_key = Unwrap(identity, stanza).value();
  ASSERT_TRUE(file_key.has_value());
  EXPECT_TRUE(std::ranges::equal(file_key->Expose(), VectorFileKey().Expose()));
}

TEST(CofferRecipient, TextRoundTripsAndStandsInFiles) {
  const auto recipient = VectorIdentity().ToRecipient().value();
  const std::string text = recipient->ToString();
  EXPECT_EQ(ParseRecipient(text).value()->ToString(), text);
  EXPECT_EQ(ParseRecipientsFile("# comment\n" + text + "\n").value().size(), 1u);
  std::string identity(VectorIdentity().ToString().ExposeText());
  EXPECT_EQ(ParseIdentityFile(identity).value()[0]->ToRecipient().value()->ToString(), text);
  std::ranges::transform(identity, identity.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  EXPECT_FALSE(CofferIdentity::Parse(identity).ok());
  EXPECT_FALSE(CofferRecipient::Parse(text.substr(0, text.size() - 1)).ok());
}

TEST(CofferRecipient, RefusesAnMlKemKeyThatIsNotReduced) {
  const Bytes good = [] {
    const auto key = bech32::Decode(VectorIdentity().ToRecipient().value()->ToString()).value();
    return Bytes(key.data.Expose().begin(), key.data.Expose().end());
  }();
  Bytes bad = good;
  // The first coefficient of the ML-KEM key, 12 bits, all ones.
  bad[15632] = 0xff;
  bad[15633] |= 0x0f;
  EXPECT_TRUE(crypto::CofferEncapsulationKey::Parse(good).ok());
  EXPECT_FALSE(crypto::CofferEncapsulationKey::Parse(bad).ok());
  EXPECT_FALSE(crypto::CofferEncapsulationKey::Parse(ByteSpan(good).first(good.size() - 1)).ok());
}

TEST(CofferRecipient, MalformedStanzasAreHeaderFailures) {
  CofferIdentity identity = VectorIdentity();
  const Stanza good = Wrap(*identity.ToRecipient().value());
  const auto refused = [&](auto change) {
    Stanza stanza = good;
    change(stanza);
    ExpectHeaderFailure(identity, stanza);
  };
  refused([](Stanza& s) { s.arguments.clear(); });
  refused([](Stanza& s) { s.arguments.push_back("x"); });
  refused([](Stanza& s) { s.arguments[0].pop_back(); });
  refused([](Stanza& s) { s.arguments[0] += "AA"; });
  refused([](Stanza& s) { s.arguments[0].back() = 'B'; });  // not canonical
  refused([](Stanza& s) { s.body.pop_back(); });
  refused([](Stanza& s) { s.body.push_back(0); });
  refused([](Stanza& s) {  // an X25519 share of zeros
    Bytes enc = base64::Decode(s.arguments[0], Padding::kNone).value();
    std::ranges::fill(MutableByteSpan(enc).last(32), uint8_t{0});
    s.arguments[0] = base64::Encode(enc, Padding::kNone);
  });
}

TEST(CofferRecipient, ChangedPartsDoNotMatch) {
  CofferIdentity identity = VectorIdentity();
  const Stanza good = Wrap(*identity.ToRecipient().value());
  const Bytes enc = base64::Decode(good.arguments[0], Padding::kNone).value();
  // In c1, c2 and salt of FrodoKEM, in the ML-KEM ciphertext, in the X25519 share.
  for (size_t place : {size_t{0}, size_t{15616}, size_t{15743}, size_t{15744}, size_t{15791},
                       size_t{15792}, size_t{16879}, size_t{16880}}) {
    Bytes changed = enc;
    changed[place] ^= 1;
    Stanza stanza = good;
    stanza.arguments[0] = base64::Encode(changed, Padding::kNone);
    ExpectNoMatch(identity, stanza);
  }
  Stanza stanza = good;
  stanza.body[31] ^= 0x80;
  ExpectNoMatch(identity, stanza);
  stanza = good;
  stanza.type = "Coffer-frodo976-xwing";
  ExpectNoMatch(identity, stanza);
  testing::TestRandom random;
  CofferIdentity other = CofferIdentity::Generate(random).value();
  ExpectNoMatch(other, good);
}

TEST(HybridRecipient, TextRoundTrips) {
  testing::TestRandom random;
  const HybridIdentity identity = HybridIdentity::Generate(random).value();
  const SecretBuffer secret = identity.ToString();
  EXPECT_EQ(secret.size(), 77u);
  const std::string text = identity.ToRecipient().value()->ToString();
  EXPECT_EQ(text.size(), 1959u);
  EXPECT_EQ(ParseRecipient(text).value()->ToString(), text);
  EXPECT_EQ(ParseIdentity(secret.ExposeText()).value()->ToRecipient().value()->ToString(), text);
}

TEST(Labels, CofferAndHybridGoTogetherButNotWithX25519) {
  testing::TestRandom random;
  Recipients recipients;
  recipients.push_back(VectorIdentity().ToRecipient().value());
  recipients.push_back(HybridIdentity::Generate(random).value().ToRecipient().value());
  EXPECT_TRUE(MakeHeader(VectorFileKey(), recipients, random).ok());
  recipients.push_back(X25519Identity::Generate(random).value().ToRecipient().value());
  EXPECT_FALSE(MakeHeader(VectorFileKey(), recipients, random).ok());
}

}  // namespace
}  // namespace coffer::age
