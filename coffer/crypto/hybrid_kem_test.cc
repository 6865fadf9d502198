// SPDX-License-Identifier: Apache-2.0
// The hybrid KEMs and HPKE's single-shot calls: the values of the X-Wing draft, and failures.
#include "coffer/crypto/hybrid_kem.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/crypto/hpke.h"
#include "coffer/crypto/sha3.h"
#include "coffer/crypto/xwing.h"

namespace coffer::crypto {
namespace {

// Bytes that nobody could not predict: SHAKE128 of nothing.
class FixedRandom : public os::Random {
 public:
  void Fill(MutableByteSpan out) override { shake_.Squeeze(out); }

 private:
  Shake128 shake_;
};

template <class Group>
HybridDecapsulationKey<Group> MakeKey(os::Random& random) {
  HybridSeed seed;
  random.Fill(seed.ExposeMutable());
  auto key = HybridDecapsulationKey<Group>::FromSeed(seed);
  EXPECT_TRUE(key.ok());
  return *std::move(key);
}

// The draft's three examples take their seeds one after the other from SHAKE128 of nothing.
TEST(XWingTest, ExamplesOfTheDraft) {
  const char* const expected[] = {
      "d2df0522128f09dd8e2c92b1e905c793d8f57a54c3da25861f10bf4ca613e384",
      "f2e86241c64d60f6649fbc6c5b7d17180b780a3f34355e64a85749949c45f150",
      "953f7f4e8c5b5049bdc771d1dffada0dd961477d1a2ae0988baa7ea6898d893f",
  };
  FixedRandom random;
  for (const char* secret : expected) {
    const XWingDecapsulationKey key = MakeKey<X25519Group>(random);
    const auto made = key.encapsulation_key().Encapsulate(random);
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(hex::Encode(made->shared.Expose()), secret);
    const auto shared = key.Decapsulate(made->ciphertext);
    ASSERT_TRUE(shared.ok());
    EXPECT_EQ(hex::Encode(shared->Expose()), secret);
  }
}

template <class Group>
void ExpectEveryPartCounts() {
  FixedRandom random;
  const auto key = MakeKey<Group>(random);
  const auto made = key.encapsulation_key().Encapsulate(random);
  ASSERT_TRUE(made.ok());
  for (size_t at : {size_t{0}, kMlKemCiphertextSize - 1, made->ciphertext.size() - 1}) {
    auto changed = made->ciphertext;
    changed[at] ^= 1;
    const auto shared = key.Decapsulate(changed);
    // A changed coordinate leaves P-256; a changed u-coordinate is another point.
    if (!shared.ok()) continue;
    EXPECT_FALSE(std::ranges::equal(shared->Expose(), made->shared.Expose())) << at;
  }
  const auto other = MakeKey<Group>(random).Decapsulate(made->ciphertext);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(std::ranges::equal(other->Expose(), made->shared.Expose()));
}

TEST(HybridKemTest, EveryPartCounts) {
  ExpectEveryPartCounts<X25519Group>();
  ExpectEveryPartCounts<P256Group>();
}

template <class Key>
void ExpectBothKeysAreChecked(const Bytes& bytes) {
  ASSERT_TRUE(Key::Parse(bytes).ok());
  EXPECT_FALSE(Key::Parse(ByteSpan(bytes).first(bytes.size() - 1)).ok());
  EXPECT_FALSE(Key::Parse(Bytes(bytes.size() + 1)).ok());
  Bytes not_reduced = bytes;
  not_reduced[0] = 0xff;
  not_reduced[1] = 0xff;
  const auto key = Key::Parse(not_reduced);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().code(), ErrorCode::kInvalidArgument);
}

TEST(HybridKemTest, ParseChecksBothKeys) {
  FixedRandom random;
  const auto xwing = MakeKey<X25519Group>(random).encapsulation_key().bytes();
  ExpectBothKeysAreChecked<XWingEncapsulationKey>(Bytes(xwing.begin(), xwing.end()));
  const auto p256 = MakeKey<P256Group>(random).encapsulation_key().bytes();
  Bytes bytes(p256.begin(), p256.end());
  ExpectBothKeysAreChecked<MlKemP256EncapsulationKey>(bytes);
  bytes.back() ^= 1;  // not on the curve
  EXPECT_FALSE(MlKemP256EncapsulationKey::Parse(bytes).ok());
}

TEST(XWingTest, PointsOfLowOrderAreRefusedOnBothSides) {
  FixedRandom random;
  const XWingDecapsulationKey key = MakeKey<X25519Group>(random);
  auto made = key.encapsulation_key().Encapsulate(random);
  ASSERT_TRUE(made.ok());
  std::fill(made->ciphertext.end() - 32, made->ciphertext.end(), uint8_t{0});
  const auto shared = key.Decapsulate(made->ciphertext);
  ASSERT_FALSE(shared.ok());
  EXPECT_EQ(shared.error().code(), ErrorCode::kInvalidArgument);

  auto bytes = key.encapsulation_key().bytes();
  std::fill(bytes.end() - 32, bytes.end(), uint8_t{0});
  bytes[bytes.size() - 32] = 1;
  const auto public_key = XWingEncapsulationKey::Parse(bytes);
  ASSERT_TRUE(public_key.ok());
  const auto refused = public_key->Encapsulate(random);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
}

// The first candidates of a seed that are not scalars are passed over, and a seed of none fails.
TEST(HybridKemTest, P256ScalarsAreTheFirstGoodCandidate) {
  std::array<uint8_t, P256Group::kScalarSeedSize> seed;
  seed.fill(0xff);
  EXPECT_FALSE(P256Group::MakeScalar(seed).ok());
  std::fill_n(seed.begin(), 32, uint8_t{0});
  EXPECT_FALSE(P256Group::MakeScalar(seed).ok());
  std::fill_n(seed.begin() + 64, 64, uint8_t{7});
  seed.back() = 8;
  const auto scalar = P256Group::MakeScalar(seed);
  ASSERT_TRUE(scalar.ok());
  EXPECT_TRUE(std::ranges::equal(scalar->Expose(), Bytes(32, 7)));
}

struct KemKeys {
  HpkeKem kem;
  Bytes public_key;
  Bytes private_key;
};

std::vector<KemKeys> MakeHpkeKeys() {
  std::vector<KemKeys> keys;
  const Bytes seed(32, 5);
  const auto secret = HybridSeed::CopyOf(ByteSpan(seed).first<32>());
  const auto xwing = XWingDecapsulationKey::FromSeed(secret)->encapsulation_key().bytes();
  keys.push_back({HpkeKem::kXWing, Bytes(xwing.begin(), xwing.end()), seed});
  const auto hybrid = MlKemP256DecapsulationKey::FromSeed(secret)->encapsulation_key().bytes();
  keys.push_back({HpkeKem::kMlKem768P256, Bytes(hybrid.begin(), hybrid.end()), seed});
  const auto point = P256Public(P256Scalar::CopyOf(ByteSpan(seed).first<32>()));
  const auto uncompressed = point->uncompressed();
  const auto compressed = point->compressed();
  keys.push_back({HpkeKem::kDhkemP256, Bytes(uncompressed.begin(), uncompressed.end()), seed});
  keys.push_back({HpkeKem::kDhkemP256, Bytes(compressed.begin(), compressed.end()), seed});
  return keys;
}

TEST(HpkeTest, SingleShotThereAndBack) {
  FixedRandom random;
  for (const KemKeys& keys : MakeHpkeKeys()) {
    SCOPED_TRACE(static_cast<int>(keys.kem));
    const ByteSpan info = AsBytes("info");
    const ByteSpan aad = AsBytes("aad");
    const auto sealed =
        HpkeSeal(keys.kem, keys.public_key, info, aad, AsBytes("sixteen bytes 16"), random);
    ASSERT_TRUE(sealed.ok());
    EXPECT_EQ(sealed->ciphertext.size(), 32U);
    const auto open = [&](ByteSpan enc, ByteSpan some_info, ByteSpan some_aad,
                          ByteSpan ciphertext) {
      return HpkeOpen(keys.kem, keys.private_key, enc, some_info, some_aad, ciphertext);
    };
    const auto opened = open(sealed->enc, info, aad, sealed->ciphertext);
    ASSERT_TRUE(opened.ok() && opened->has_value());
    EXPECT_EQ((*opened)->ExposeText(), "sixteen bytes 16");

    // Something else does not open; what cannot be right is an error.
    EXPECT_FALSE(open(sealed->enc, AsBytes("inf"), aad, sealed->ciphertext)->has_value());
    EXPECT_FALSE(open(sealed->enc, info, {}, sealed->ciphertext)->has_value());
    Bytes changed = sealed->ciphertext;
    changed[0] ^= 1;
    EXPECT_FALSE(open(sealed->enc, info, aad, changed)->has_value());
    EXPECT_FALSE(open(ByteSpan(sealed->enc).subspan(1), info, aad, changed).ok());
    EXPECT_FALSE(open(sealed->enc, info, aad, ByteSpan(changed).first(15)).ok());
    EXPECT_FALSE(HpkeOpen(keys.kem, Bytes(31), sealed->enc, info, aad, changed).ok());
    EXPECT_FALSE(HpkeSeal(keys.kem, Bytes(7), info, aad, {}, random).ok());
  }
}

// The KEM's identifier is in every label, so that one secret gives other keys under another.
TEST(HpkeTest, TheSuiteSeparatesKeys) {
  const Bytes shared(32, 9);
  Bytes first(32);
  Bytes second(32);
  std::array<uint8_t, 12> nonce;
  ASSERT_TRUE(HpkeKeySchedule({.kem = 0xff01}, shared, {}, first, nonce).ok());
  ASSERT_TRUE(HpkeKeySchedule({.kem = 0x647a}, shared, {}, second, nonce).ok());
  EXPECT_NE(first, second);
}

// A message that does not open leaves the count where it was.
TEST(HpkeTest, FailedOpensDoNotCount) {
  const Bytes shared(32, 9);
  auto sender = HpkeContext::Create(0xff01, shared, {});
  auto recipient = HpkeContext::Create(0xff01, shared, {});
  ASSERT_TRUE(sender.ok() && recipient.ok());
  Bytes first(20);
  Bytes second(20);
  Bytes plaintext(4);
  ASSERT_TRUE(sender->Seal({}, Bytes(4, 1), first).ok());
  ASSERT_TRUE(sender->Seal({}, Bytes(4, 2), second).ok());
  EXPECT_FALSE(*recipient->Open({}, second, plaintext));
  EXPECT_TRUE(*recipient->Open({}, first, plaintext));
  EXPECT_TRUE(*recipient->Open({}, second, plaintext));
  EXPECT_EQ(plaintext, Bytes(4, 2));
}

}  // namespace
}  // namespace coffer::crypto
