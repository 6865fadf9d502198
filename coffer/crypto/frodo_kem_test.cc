// SPDX-License-Identifier: Apache-2.0
// FrodoKEM as a whole: sizes, errors, implicit rejection, and every implementation that may run
// here against the portable one. Answers of other projects are in frodo_kat_test.cc.
#include "coffer/crypto/frodo_kem.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/testing/frodo_agreement.h"
#include "coffer/crypto/testing/frodo_sets.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto {
namespace {

using testing::SeededRandom;

template <class Array>
Bytes Copy(const Array& secret) {
  const auto bytes = secret.Expose();
  return {bytes.begin(), bytes.end()};
}

// Counts requests, since the answers of other implementations depend on there being one.
class CountingRandom : public SeededRandom {
 public:
  using SeededRandom::SeededRandom;
  void Fill(MutableByteSpan out) override {
    sizes.push_back(out.size());
    SeededRandom::Fill(out);
  }
  std::vector<size_t> sizes;
};

template <class Kem>
class FrodoKemTest : public ::testing::Test {};
TYPED_TEST_SUITE(FrodoKemTest, testing::AllFrodoKems, testing::FrodoSetName);

// Sizes of the table in section 10 of the draft, by the last number of the name.
TYPED_TEST(FrodoKemTest, HasTheSizesOfTheDraft) {
  using P = typename TypeParam::Parameters;
  constexpr size_t kRow = P::kN == 640 ? 0 : P::kN == 976 ? 1 : 2;
  constexpr size_t kPrivate[] = {19888, 31296, 43088};
  constexpr size_t kPublic[] = {9616, 15632, 21520};
  constexpr size_t kSalted[] = {9752, 15792, 21696};
  constexpr size_t kEphemeral[] = {9720, 15744, 21632};
  constexpr size_t kShared[] = {16, 24, 32};
  EXPECT_EQ(P::kPrivateKeySize, kPrivate[kRow]);
  EXPECT_EQ(P::kPublicKeySize, kPublic[kRow]);
  EXPECT_EQ(P::kCiphertextSize, (P::kSalted ? kSalted : kEphemeral)[kRow]);
  EXPECT_EQ(P::kSharedSecretSize, kShared[kRow]);
  const std::string name(P::kName);
  EXPECT_EQ(name.starts_with("e"), !P::kSalted);
  EXPECT_NE(name.find(std::to_string(P::kN)), std::string::npos);
  EXPECT_EQ(name.ends_with("SHAKE"), P::kGenerator == FrodoGenerator::kShake128);
}

TYPED_TEST(FrodoKemTest, DrawsRandomnessInOneRequest) {
  using P = typename TypeParam::Parameters;
  CountingRandom random(1);
  const auto key = TypeParam::GenerateKey(random);
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(random.sizes, (std::vector<size_t>{P::kSeedsSize}));
  ASSERT_TRUE(TypeParam::Encapsulate(key->PublicKeyOf(), random).ok());
  EXPECT_EQ(random.sizes, (std::vector<size_t>{P::kSeedsSize, P::kCoinsSize}));
}

TYPED_TEST(FrodoKemTest, AgreesWithItselfThroughEveryForm) {
  using P = typename TypeParam::Parameters;
  SeededRandom random(2);
  typename TypeParam::Seeds seeds;
  random.Fill(seeds.ExposeMutable());
  const auto key = TypeParam::PrivateKey::FromSeeds(seeds);
  const auto again = TypeParam::PrivateKey::FromSeeds(seeds);
  const auto loaded = TypeParam::PrivateKey::Create(key->ExposeExpanded());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(Bytes(again->ExposeExpanded().begin(), again->ExposeExpanded().end()),
            Bytes(key->ExposeExpanded().begin(), key->ExposeExpanded().end()));

  // With the hash from the private key, kept, or computed on the way.
  const auto with_hash = key->PublicKeyOf();
  auto without = TypeParam::PublicKey::Create(with_hash.bytes());
  ASSERT_TRUE(without.ok());
  EXPECT_TRUE(without->hash().empty());
  typename TypeParam::Coins coins;
  random.Fill(coins.ExposeMutable());
  const auto sent = TypeParam::EncapsulateWith(with_hash, coins);
  const auto same = TypeParam::EncapsulateWith(*without, coins);
  EXPECT_EQ(sent->ciphertext, same->ciphertext);
  EXPECT_EQ(Copy(sent->shared_secret), Copy(same->shared_secret));
  without->CacheHash();
  EXPECT_EQ(Bytes(without->hash().begin(), without->hash().end()),
            Bytes(with_hash.hash().begin(), with_hash.hash().end()));

  ASSERT_EQ(sent->ciphertext.size(), P::kCiphertextSize);
  for (const auto* holder : {&*key, &*loaded}) {
    const auto received = TypeParam::Decapsulate(*holder, sent->ciphertext);
    ASSERT_TRUE(received.ok());
    EXPECT_EQ(Copy(*received), Copy(sent->shared_secret));
  }
}

TYPED_TEST(FrodoKemTest, RefusesWrongLengthsByName) {
  using P = typename TypeParam::Parameters;
  SeededRandom random(3);
  const auto key = TypeParam::GenerateKey(random);
  for (int off : {-1, 1}) {
    const auto wrong = [off](size_t size) { return Bytes(size + static_cast<size_t>(off)); };
    const auto public_key = TypeParam::PublicKey::Create(wrong(P::kPublicKeySize));
    ASSERT_FALSE(public_key.ok());
    EXPECT_EQ(public_key.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(public_key.error().message(),
              std::string(P::kName) + " public key has " +
                  std::to_string(P::kPublicKeySize + static_cast<size_t>(off)) + " bytes, not " +
                  std::to_string(P::kPublicKeySize));
    const auto private_key = TypeParam::PrivateKey::Create(wrong(P::kPrivateKeySize));
    ASSERT_FALSE(private_key.ok());
    EXPECT_EQ(private_key.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(private_key.error().message().find("private key"), std::string::npos);
    const auto received = TypeParam::Decapsulate(*key, wrong(P::kCiphertextSize));
    ASSERT_FALSE(received.ok());
    EXPECT_EQ(received.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(received.error().message().find("ciphertext"), std::string::npos);
  }
  EXPECT_FALSE(TypeParam::Decapsulate(*key, {}).ok());
}

// SHAKE(c || s), what a ciphertext that is not right decapsulates to.
template <class P>
Bytes Rejection(ByteSpan ciphertext, ByteSpan private_key) {
  Sponge sponge(P::kHash);
  sponge.Absorb(ciphertext);
  sponge.Absorb(private_key.first(P::kSecuritySize));
  Bytes secret(P::kSharedSecretSize);
  sponge.Squeeze(secret);
  return secret;
}

TYPED_TEST(FrodoKemTest, RejectsChangedCiphertextsImplicitly) {
  using P = typename TypeParam::Parameters;
  SeededRandom random(4);
  const auto key = TypeParam::GenerateKey(random);
  const auto sent = TypeParam::Encapsulate(key->PublicKeyOf(), random);
  std::vector<size_t> places = {0,
                                P::kC1Size - 1,
                                P::kC1Size,
                                P::kC1Size + P::kC2Size - 1,
                                P::kCiphertextSize - 1,
                                random.Below(P::kC1Size),
                                random.Below(P::kC1Size)};
  if (P::kSalted) places.push_back(P::kC1Size + P::kC2Size);
  for (size_t place : places) {
    for (unsigned bit : {0U, 7U, 3U}) {
      Bytes changed = sent->ciphertext;
      changed[place] = static_cast<uint8_t>(changed[place] ^ 1U << bit);
      const auto received = TypeParam::Decapsulate(*key, changed);
      ASSERT_TRUE(received.ok());
      EXPECT_EQ(Copy(*received), Rejection<P>(changed, key->ExposeExpanded()))
          << place << ", " << bit;
    }
  }
  const Bytes noise = random.Take(P::kCiphertextSize);
  EXPECT_EQ(Copy(*TypeParam::Decapsulate(*key, noise)), Rejection<P>(noise, key->ExposeExpanded()));
}

// The top bit of every element of C and of the ends of B', at once and one at a time: differences
// whose or is 0x8000 were once taken for equality elsewhere.
TYPED_TEST(FrodoKemTest, RejectsDifferencesInTopBits) {
  using P = typename TypeParam::Parameters;
  SeededRandom random(5);
  const auto key = TypeParam::GenerateKey(random);
  const auto sent = TypeParam::Encapsulate(key->PublicKeyOf(), random);
  const auto flip_top = [](Bytes& bytes, size_t offset, size_t element) {
    const size_t bit = element * P::kD;
    uint8_t& byte = bytes[offset + bit / 8];
    byte = static_cast<uint8_t>(byte ^ 0x80U >> (bit % 8));
  };
  Bytes all = sent->ciphertext;
  for (size_t element : {0U, 1U, 7U, 8U, 31U, 63U}) {
    Bytes one = sent->ciphertext;
    flip_top(one, 0, element);
    flip_top(all, P::kC1Size, element);
    EXPECT_EQ(Copy(*TypeParam::Decapsulate(*key, one)), Rejection<P>(one, key->ExposeExpanded()));
  }
  EXPECT_EQ(Copy(*TypeParam::Decapsulate(*key, all)), Rejection<P>(all, key->ExposeExpanded()));
}

TYPED_TEST(FrodoKemTest, RejectsWithTheWrongKeyImplicitly) {
  using P = typename TypeParam::Parameters;
  SeededRandom random(6);
  const auto key = TypeParam::GenerateKey(random);
  const auto other = TypeParam::GenerateKey(random);
  const auto sent = TypeParam::Encapsulate(key->PublicKeyOf(), random);
  const auto received = TypeParam::Decapsulate(*other, sent->ciphertext);
  ASSERT_TRUE(received.ok());
  EXPECT_EQ(Copy(*received), Rejection<P>(sent->ciphertext, other->ExposeExpanded()));
}

TYPED_TEST(FrodoKemTest, ImplementationsAgree) {
  testing::ExpectAgreement<typename TypeParam::Parameters>(7, 17);
}

TEST(FrodoImplementationTest, TheBestThatMayRunIsChosen) {
  const internal::FrodoImplementation* best = nullptr;
  for (const internal::FrodoImplementation* implementation : internal::FrodoImplementations()) {
    if (internal::FrodoMayRun(*implementation)) best = implementation;
  }
  EXPECT_EQ(&internal::Frodo(), best);
  EXPECT_EQ(internal::Frodo().level, os::CpuLevel());
}

}  // namespace
}  // namespace coffer::crypto
