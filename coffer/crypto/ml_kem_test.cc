// SPDX-License-Identifier: Apache-2.0
// ML-KEM-768 as a whole: published sums over many operations, what is refused, and what a changed
// ciphertext gives.
#include "coffer/crypto/ml_kem.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "coffer/base/ct.h"
#include "coffer/crypto/sha3.h"
#include "coffer/crypto/testing/ml_kem_accumulated.h"

namespace coffer::crypto {
namespace {

using testing::AccumulateMlKem;
using testing::WithExpandedKeys;

MlKemSeed PatternSeed(uint8_t start) {
  MlKemSeed seed;
  for (size_t i = 0; i < MlKemSeed::kSize; ++i) {
    seed.ExposeMutable()[i] = static_cast<uint8_t>(start + 3 * i);
  }
  return seed;
}

MlKemMessage PatternMessage(uint8_t start) {
  MlKemMessage m;
  for (size_t i = 0; i < MlKemMessage::kSize; ++i) {
    m.ExposeMutable()[i] = static_cast<uint8_t>(start + 5 * i);
  }
  return m;
}

// J(z, c), what implicit rejection gives (section 6.3).
std::array<uint8_t, 32> RejectionSecret(const MlKemDecapsulationKey& key, ByteSpan ciphertext) {
  Shake256 j;
  j.Absorb(key.ExposeExpanded().last<32>());
  j.Absorb(ciphertext);
  std::array<uint8_t, 32> secret;
  j.Squeeze(secret);
  return secret;
}

TEST(MlKemTest, HundredOperationsHaveThePublishedHash) {
  EXPECT_EQ(AccumulateMlKem(100, WithExpandedKeys::kYes),
            "8d65b902f28edc683cebee2872962fd165a4d197c9e24ec74caa4470270df0b7");
  EXPECT_EQ(AccumulateMlKem(100, WithExpandedKeys::kNo),
            "1114b1b6699ed191734fa339376afa7e285c9e6acf6ff0177d346696ce564415");
}

// More of the same; the value is ours, and another implementation's (mlkem-native).
TEST(MlKemTest, ThousandOperationsHaveTheSameHashAtEveryLevel) {
  EXPECT_EQ(AccumulateMlKem(1000, WithExpandedKeys::kYes),
            "5706194c22e3e0977b570e636de7364abce0609b341433cc4eb48062080b7c76");
}

TEST(MlKemTest, GenerateAndEncapsulateDrawFromTheGivenSource) {
  // Says what it was asked for, and gives a byte that changes with each call.
  class CountingRandom : public os::Random {
   public:
    void Fill(MutableByteSpan out) override {
      ++calls;
      asked = out.size();
      for (uint8_t& byte : out) byte = static_cast<uint8_t>(calls);
    }
    int calls = 0;
    size_t asked = 0;
  };
  CountingRandom random;
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::Generate(random);
  EXPECT_EQ(random.asked, 64U);
  const MlKemEncapsulation made = key.encapsulation_key().Encapsulate(random);
  EXPECT_EQ(random.asked, 32U);
  EXPECT_EQ(random.calls, 2);

  MlKemSeed seed;
  std::ranges::fill(seed.ExposeMutable(), uint8_t{1});
  MlKemMessage m;
  std::ranges::fill(m.ExposeMutable(), uint8_t{2});
  const MlKemDecapsulationKey expected = MlKemDecapsulationKey::FromSeed(seed);
  EXPECT_TRUE(std::ranges::equal(key.ExposeExpanded(), expected.ExposeExpanded()));
  EXPECT_EQ(made.ciphertext, expected.encapsulation_key().EncapsulateWith(m).ciphertext);
}

// The comparison must see a difference in any bit, and the answer must be J of the changed
// ciphertext, not of another.
TEST(MlKemTest, EveryBitOfTheCiphertextCounts) {
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(PatternSeed(1));
  const MlKemEncapsulation made = key.encapsulation_key().EncapsulateWith(PatternMessage(2));
  ASSERT_TRUE(ct::Equal(key.Decapsulate(made.ciphertext).Expose(), made.shared.Expose()));
  MlKemCiphertext changed = made.ciphertext;
  for (size_t bit = 0; bit < 8 * changed.size(); ++bit) {
    changed[bit / 8] = static_cast<uint8_t>(changed[bit / 8] ^ (1U << (bit % 8)));
    const MlKemShared shared = key.Decapsulate(changed);
    ASSERT_TRUE(std::ranges::equal(shared.Expose(), RejectionSecret(key, changed)))
        << "bit " << bit;
    changed[bit / 8] = made.ciphertext[bit / 8];
  }
}

TEST(MlKemTest, AnotherKeyRejectsImplicitly) {
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(PatternSeed(1));
  const MlKemDecapsulationKey other = MlKemDecapsulationKey::FromSeed(PatternSeed(2));
  const MlKemEncapsulation made = key.encapsulation_key().EncapsulateWith(PatternMessage(3));
  EXPECT_TRUE(std::ranges::equal(other.Decapsulate(made.ciphertext).Expose(),
                                 RejectionSecret(other, made.ciphertext)));
}

TEST(MlKemTest, ParseTakesOneSizeOnly) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{1183}, size_t{1185}, size_t{2400}}) {
    const Result<MlKemEncapsulationKey> key = MlKemEncapsulationKey::Parse(Bytes(size));
    ASSERT_FALSE(key.ok()) << size;
    EXPECT_EQ(key.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(MlKemEncapsulationKey::Parse(Bytes(1184)).ok());
}

// Each of the 768 coefficients, with the largest value that is allowed and the smallest that is
// not.
TEST(MlKemTest, ParseChecksEveryCoefficient) {
  for (size_t i = 0; i < 768; ++i) {
    for (unsigned value : {3328U, 3329U, 4095U}) {
      Bytes bytes(1184);
      const size_t at = i / 2 * 3;
      if (i % 2 == 0) {
        bytes[at] = static_cast<uint8_t>(value);
        bytes[at + 1] = static_cast<uint8_t>(value >> 8);
      } else {
        bytes[at + 1] = static_cast<uint8_t>(value << 4);
        bytes[at + 2] = static_cast<uint8_t>(value >> 4);
      }
      ASSERT_EQ(MlKemEncapsulationKey::Parse(bytes).ok(), value < 3329)
          << "coefficient " << i << ", value " << value;
    }
  }
}

TEST(MlKemTest, ExpandedKeysAreChecked) {
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(PatternSeed(7));
  const ByteSpan expanded = key.ExposeExpanded();
  const MlKemEncapsulation made = key.encapsulation_key().EncapsulateWith(PatternMessage(3));
  {
    const Result<MlKemDecapsulationKey> again = MlKemDecapsulationKey::FromExpanded(expanded);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(ct::Equal(again->Decapsulate(made.ciphertext).Expose(), made.shared.Expose()));
  }
  EXPECT_FALSE(MlKemDecapsulationKey::FromExpanded(expanded.first(2399)).ok());
  EXPECT_FALSE(MlKemDecapsulationKey::FromExpanded(Bytes(2401)).ok());
  for (size_t at : {size_t{1152}, size_t{2335}, size_t{2336}, size_t{2367}}) {  // ek, H(ek)
    Bytes changed(expanded.begin(), expanded.end());
    changed[at] ^= 1;
    EXPECT_FALSE(MlKemDecapsulationKey::FromExpanded(changed).ok()) << at;
  }
  // A key that is not reduced, with the right hash.
  Bytes changed(expanded.begin(), expanded.end());
  changed[1152] = 0xff;
  changed[1153] = 0xff;
  const auto hash = Sha3_256::HashPublic(ByteSpan(changed).subspan(1152, 1184));
  std::ranges::copy(hash, changed.begin() + 2336);
  EXPECT_FALSE(MlKemDecapsulationKey::FromExpanded(changed).ok());
}

}  // namespace
}  // namespace coffer::crypto
