// SPDX-License-Identifier: Apache-2.0
// FrodoKEM against the answers of other implementations: Botan's vectors, and the hashes of
// liboqs's answer files (which are those of the reference implementation).
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/frodo_kem.h"
#include "coffer/crypto/sha3.h"
#include "coffer/crypto/testing/frodo_answers.h"
#include "coffer/crypto/testing/frodo_sets.h"
#include "coffer/crypto/testing/nist_drbg.h"

namespace coffer::crypto {
namespace {

using testing::NistDrbg;

struct Vector {
  Bytes seed;           // of the generator
  Bytes shared_secret;  // in full
  Bytes public_key;     // the first 16 bytes of SHAKE256 of it, as the others
  Bytes private_key;
  Bytes ciphertext;
};

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c);
  });
  return text;
}

// The vectors of the section "[set]": lines "Name = HEX"; CT is the last of each vector.
std::vector<Vector> ReadVectors(std::string_view set) {
  std::istringstream lines(testing::ReadCorpusText("frodokem/frodokem_kat.vec"));
  std::vector<Vector> vectors;
  Vector vector;
  bool in_section = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) in_section = line == "[" + std::string(set) + "]";
    const size_t equals = line.find(" = ");
    if (!in_section || equals == std::string::npos) continue;
    const std::string name = line.substr(0, equals);
    const Bytes value = coffer::testing::FromHex(LowerCase(line.substr(equals + 3)));
    if (name == "Seed") vector.seed = value;
    if (name == "SS") vector.shared_secret = value;
    if (name == "PK") vector.public_key = value;
    if (name == "SK") vector.private_key = value;
    if (name != "CT") continue;
    vector.ciphertext = value;
    vectors.push_back(vector);
  }
  return vectors;
}

Bytes ShortHash(ByteSpan bytes) {
  Shake256 shake;
  shake.Absorb(bytes);
  Bytes hash(16);
  shake.Squeeze(hash);
  return hash;
}

template <class Array>
Bytes Copy(const Array& secret) {
  const auto bytes = secret.Expose();
  return {bytes.begin(), bytes.end()};
}

template <class Kem>
class FrodoKatTest : public ::testing::Test {};
TYPED_TEST_SUITE(FrodoKatTest, testing::AllFrodoKems, testing::FrodoSetName);

TYPED_TEST(FrodoKatTest, AgreesWithBotan) {
  const std::vector<Vector> vectors = ReadVectors(TypeParam::Parameters::kName);
  ASSERT_EQ(vectors.size(), 25U);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(hex::Encode(vector.seed));
    ASSERT_EQ(vector.seed.size(), NistDrbg::kSeedSize);
    NistDrbg random(ByteSpan(vector.seed).first<NistDrbg::kSeedSize>());
    const auto key = TypeParam::GenerateKey(random);
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(ShortHash(key->PublicKeyOf().bytes()), vector.public_key);
    EXPECT_EQ(ShortHash(key->ExposeExpanded()), vector.private_key);
    const auto sent = TypeParam::Encapsulate(key->PublicKeyOf(), random);
    ASSERT_TRUE(sent.ok());
    EXPECT_EQ(ShortHash(sent->ciphertext), vector.ciphertext);
    EXPECT_EQ(Copy(sent->shared_secret), vector.shared_secret);
    const auto received = TypeParam::Decapsulate(*key, sent->ciphertext);
    ASSERT_TRUE(received.ok());
    EXPECT_EQ(Copy(*received), vector.shared_secret);
  }
}

TYPED_TEST(FrodoKatTest, FirstAnswerHashesAsInLiboqs) {
  EXPECT_EQ(testing::Sha256InHex(testing::FrodoAnswers<TypeParam>(1)),
            testing::FrodoAnswerHash(TypeParam::Parameters::kName, "single"));
}

}  // namespace
}  // namespace coffer::crypto
