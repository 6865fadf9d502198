// SPDX-License-Identifier: Apache-2.0
// HPKE and its KEMs against the vectors of RFC 9180 and of draft-ietf-hpke-pq.
#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coffer/base/hex.h"
#include "coffer/base/testing/corpus.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/dhkem.h"
#include "coffer/crypto/hpke.h"
#include "coffer/crypto/hybrid_kem.h"
#include "coffer/crypto/internal/labeled_kdf.h"
#include "coffer/crypto/sha3.h"

namespace coffer::crypto {
namespace {

using Json = nlohmann::json;

Json Load(const std::string& name) {
  std::ifstream stream(coffer::testing::CorpusPath("hpke/" + name));
  EXPECT_TRUE(stream.is_open()) << name;
  return Json::parse(stream);
}

Bytes Hex(const Json& object, const char* name) {
  return coffer::testing::FromHex(object.at(name).get<std::string>());
}

Bytes ToBytes(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

template <class Secret>
Secret ToSecret(const Bytes& bytes) {
  COFFER_CHECK(bytes.size() == Secret::kSize);
  return Secret::CopyOf(ByteSpan(bytes).first<Secret::kSize>());
}

template <class Array>
Array ToArray(const Bytes& bytes) {
  Array array;
  COFFER_CHECK(bytes.size() == array.size());
  std::ranges::copy(bytes, array.begin());
  return array;
}

// DeriveKeyPair of RFC 9180 section 7.1.3 for DHKEM(P-256, HKDF-SHA256).
P256Scalar DeriveScalar(ByteSpan ikm) {
  const ByteSpan suite_id = AsBytes(std::string_view("KEM\x00\x10", 5));
  const auto prk = internal::LabeledExtract(suite_id, {}, "dkp_prk", ikm);
  P256Scalar scalar;
  for (uint8_t counter = 0;; ++counter) {
    EXPECT_TRUE(internal::LabeledExpand(suite_id, prk.value(), "candidate", ByteSpan(&counter, 1),
                                        scalar.ExposeMutable())
                    .ok());
    if (IsP256Scalar(scalar)) return scalar;
  }
}

Bytes DrawInput(Shake128& source) {
  uint8_t size;
  source.Squeeze({&size, 1});
  Bytes bytes(size);
  source.Squeeze(bytes);
  return bytes;
}

// A thousand messages there and back; the first 16 bytes of SHAKE128 of all ciphertexts.
std::string AccumulateEncryptions(HpkeContext& sender, HpkeContext& recipient) {
  Shake128 source;
  Shake128 sink;
  for (int i = 0; i < 1000; ++i) {
    const Bytes aad = DrawInput(source);
    const Bytes plaintext = DrawInput(source);
    Bytes ciphertext(plaintext.size() + HpkeContext::kTagSize);
    EXPECT_TRUE(sender.Seal(aad, plaintext, ciphertext).ok());
    sink.Absorb(ciphertext);
    Bytes opened(plaintext.size());
    const Result<bool> ok = recipient.Open(aad, ciphertext, opened);
    EXPECT_TRUE(ok.ok() && *ok);
    EXPECT_EQ(opened, plaintext);
  }
  Bytes digest(16);
  sink.Squeeze(digest);
  return hex::Encode(digest);
}

TEST(HpkeVectorTest, Rfc9180DhkemP256) {
  int encapsulations = 0;
  int contexts = 0;
  for (const Json& vector : Load("rfc9180.json")) {
    if (vector.at("kem_id") != kDhkemP256Id) continue;
    ASSERT_EQ(vector.at("mode"), 0);
    const P256Scalar scalar = ToSecret<P256Scalar>(Hex(vector, "skRm"));
    EXPECT_EQ(ToBytes(DeriveScalar(Hex(vector, "ikmR")).Expose()), Hex(vector, "skRm"));
    const Result<P256Point> key = P256Point::Parse(Hex(vector, "pkRm"));
    ASSERT_TRUE(key.ok());
    const Result<P256Point> own = P256Public(scalar);
    ASSERT_TRUE(own.ok());
    EXPECT_EQ(*own, *key);

    const auto made = DhkemP256EncapsulateWith(*key, DeriveScalar(Hex(vector, "ikmE")));
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(ToBytes(made->ciphertext), Hex(vector, "enc"));
    const auto shared = DhkemP256Decapsulate(scalar, made->ciphertext);
    ASSERT_TRUE(shared.ok());
    EXPECT_EQ(ToBytes(shared->Expose()), ToBytes(made->shared.Expose()));
    ++encapsulations;

    if (vector.at("kdf_id") != kHpkeKdfHkdfSha256) continue;
    if (vector.at("aead_id") != kHpkeAeadChaCha20Poly1305) continue;
    const Bytes info = Hex(vector, "info");
    auto sender = HpkeContext::Create(kDhkemP256Id, made->shared.Expose(), info);
    auto recipient = HpkeContext::Create(kDhkemP256Id, shared->Expose(), info);
    ASSERT_TRUE(sender.ok() && recipient.ok());
    EXPECT_EQ(AccumulateEncryptions(*sender, *recipient),
              vector.at("encryptions_accumulated").get<std::string>());
    ++contexts;
  }
  EXPECT_EQ(encapsulations, 8);
  EXPECT_EQ(contexts, 1);
}

template <class Group>
void CheckHybrid(const Json& vector) {
  const auto key =
      HybridDecapsulationKey<Group>::FromSeed(ToSecret<HybridSeed>(Hex(vector, "skRm")));
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(ToBytes(key->encapsulation_key().bytes()), Hex(vector, "pkRm"));
  const auto public_key = HybridEncapsulationKey<Group>::Parse(Hex(vector, "pkRm"));
  ASSERT_TRUE(public_key.ok());
  // Some vectors carry fewer candidates for a P-256 scalar than the draft draws; the first counts.
  Bytes randomness = Hex(vector, "ikmE");
  ASSERT_GE(randomness.size(), 64U);
  ASSERT_LE(randomness.size(), HybridRandomness<Group>::kSize);
  randomness.resize(HybridRandomness<Group>::kSize);
  const auto made = public_key->EncapsulateWith(ToSecret<HybridRandomness<Group>>(randomness));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(ToBytes(made->ciphertext), Hex(vector, "enc"));
  EXPECT_EQ(ToBytes(made->shared.Expose()), Hex(vector, "shared_secret"));
  const auto shared = key->Decapsulate(ToArray<HybridCiphertext<Group>>(Hex(vector, "enc")));
  ASSERT_TRUE(shared.ok());
  EXPECT_EQ(ToBytes(shared->Expose()), Hex(vector, "shared_secret"));
}

// Returns whether the vector's key schedule is one that we have.
bool CheckKeySchedule(const Json& vector) {
  const HpkeSuite suite = {.kem = vector.at("kem_id").get<uint16_t>(),
                           .kdf = vector.at("kdf_id").get<uint16_t>(),
                           .aead = vector.at("aead_id").get<uint16_t>()};
  if (suite.kdf != kHpkeKdfHkdfSha256) return false;
  const Bytes expected_key = Hex(vector, "key");
  Bytes key(expected_key.size());
  std::array<uint8_t, 12> nonce;
  EXPECT_TRUE(
      HpkeKeySchedule(suite, Hex(vector, "shared_secret"), Hex(vector, "info"), key, nonce).ok());
  EXPECT_EQ(key, expected_key);
  EXPECT_EQ(ToBytes(nonce), Hex(vector, "base_nonce"));
  return true;
}

void CheckEncryptions(const Json& vector) {
  const auto kem = vector.at("kem_id").get<uint16_t>();
  const Bytes shared = Hex(vector, "shared_secret");
  auto sender = HpkeContext::Create(kem, shared, Hex(vector, "info"));
  auto recipient = HpkeContext::Create(kem, shared, Hex(vector, "info"));
  ASSERT_TRUE(sender.ok() && recipient.ok());
  for (const Json& message : vector.at("encryptions")) {
    const Bytes plaintext = Hex(message, "pt");
    Bytes ciphertext(plaintext.size() + HpkeContext::kTagSize);
    ASSERT_TRUE(sender->Seal(Hex(message, "aad"), plaintext, ciphertext).ok());
    EXPECT_EQ(ciphertext, Hex(message, "ct"));
    Bytes opened(plaintext.size());
    const Result<bool> ok = recipient->Open(Hex(message, "aad"), ciphertext, opened);
    ASSERT_TRUE(ok.ok() && *ok);
    EXPECT_EQ(opened, plaintext);
  }
}

TEST(HpkeVectorTest, PostQuantumKems) {
  int hybrids = 0;
  int schedules = 0;
  int contexts = 0;
  for (const Json& vector : Load("hpke-pq.json")) {
    SCOPED_TRACE(::testing::Message() << "kem " << vector.at("kem_id") << " kdf "
                                      << vector.at("kdf_id") << " aead " << vector.at("aead_id"));
    ASSERT_EQ(vector.at("mode"), 0);
    if (vector.at("kem_id") == X25519Group::kHpkeId) {
      CheckHybrid<X25519Group>(vector);
      ++hybrids;
    }
    if (vector.at("kem_id") == P256Group::kHpkeId) {
      CheckHybrid<P256Group>(vector);
      ++hybrids;
    }
    if (CheckKeySchedule(vector)) ++schedules;
    if (vector.at("kdf_id") == kHpkeKdfHkdfSha256 &&
        vector.at("aead_id") == kHpkeAeadChaCha20Poly1305) {
      ASSERT_EQ(vector.at("encryptions").size(), 10U);
      CheckEncryptions(vector);
      ++contexts;
    }
  }
  EXPECT_EQ(hybrids, 4);
  EXPECT_EQ(schedules, 4);
  EXPECT_EQ(contexts, 1);
}

// The single-shot call opens what the vectors' senders sealed first.
TEST(HpkeVectorTest, SingleShotOpensTheFirstMessage) {
  int opened = 0;
  for (const Json& vector : Load("hpke-pq.json")) {
    if (vector.at("kem_id") != X25519Group::kHpkeId) continue;
    if (vector.at("kdf_id") != kHpkeKdfHkdfSha256) continue;
    const Json& first = vector.at("encryptions").at(0);
    const auto plaintext = HpkeOpen(HpkeKem::kXWing, Hex(vector, "skRm"), Hex(vector, "enc"),
                                    Hex(vector, "info"), Hex(first, "aad"), Hex(first, "ct"));
    ASSERT_TRUE(plaintext.ok());
    ASSERT_TRUE(plaintext->has_value());
    EXPECT_EQ(ToBytes((*plaintext)->Expose()), Hex(first, "pt"));
    ++opened;
  }
  EXPECT_EQ(opened, 1);
}

}  // namespace
}  // namespace coffer::crypto
