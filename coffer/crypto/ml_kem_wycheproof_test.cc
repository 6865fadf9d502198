// SPDX-License-Identifier: Apache-2.0
// ML-KEM-768 against the four files of Project Wycheproof. Each test counts its cases and the two
// verdicts, so that none is left out unseen.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "coffer/base/testing/corpus.h"
#include "coffer/crypto/ml_kem.h"
#include "coffer/crypto/testing/wycheproof.h"

namespace coffer::crypto {
namespace {

using testing::Verdict;
using testing::WycheproofCase;
using testing::WycheproofFile;
using testing::WycheproofGroup;

struct Expected {
  size_t valid;
  size_t invalid;
};

template <class Test>
void ForEachCase(std::string_view name, std::string_view type, const Expected& expected,
                 Test test) {
  const WycheproofFile file = testing::LoadWycheproof(
      coffer::testing::CorpusPath("wycheproof/mlkem_768_" + std::string(name) + "test.json"));
  size_t valid = 0;
  size_t invalid = 0;
  for (const WycheproofGroup& group : file.groups) {
    ASSERT_EQ(group.type, type);
    ASSERT_EQ(group.fields.Text("parameterSet"), "ML-KEM-768");
    for (const WycheproofCase& one : group.cases) {
      SCOPED_TRACE(::testing::Message() << "tcId " << one.id << ": " << one.comment);
      ASSERT_NE(one.verdict, Verdict::kAcceptable);
      ++(one.verdict == Verdict::kValid ? valid : invalid);
      test(one);
    }
  }
  EXPECT_EQ(valid, expected.valid);
  EXPECT_EQ(invalid, expected.invalid);
  EXPECT_EQ(valid + invalid, file.number_of_tests);
}

Bytes ToBytes(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

// Sizes are in the types here; a case with a wrong one is refused where bytes become that type.
template <class Secret>
Result<Secret> ParseSecret(ByteSpan bytes) {
  if (bytes.size() != Secret::kSize) return Error(ErrorCode::kInvalidArgument, "size");
  return Secret::CopyOf(bytes.template first<Secret::kSize>());
}

Result<MlKemCiphertext> ParseCiphertext(ByteSpan bytes) {
  if (bytes.size() != kMlKemCiphertextSize) return Error(ErrorCode::kInvalidArgument, "size");
  MlKemCiphertext ciphertext;
  std::ranges::copy(bytes, ciphertext.begin());
  return ciphertext;
}

Result<Bytes> KeyGenAndDecapsulate(const WycheproofCase& test) {
  COFFER_ASSIGN_OR_RETURN(const MlKemSeed seed, ParseSecret<MlKemSeed>(test.fields.Hex("seed")));
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(seed);
  if (test.fields.Has("ek")) {
    EXPECT_EQ(ToBytes(key.encapsulation_key().bytes()), test.fields.Hex("ek"));
  }
  COFFER_ASSIGN_OR_RETURN(const MlKemCiphertext c, ParseCiphertext(test.fields.Hex("c")));
  return ToBytes(key.Decapsulate(c).Expose());
}

TEST(MlKemWycheproofTest, Decapsulation) {
  ForEachCase("", "MLKEMTest", {.valid = 153, .invalid = 40}, [](const WycheproofCase& test) {
    const Result<Bytes> secret = KeyGenAndDecapsulate(test);
    ASSERT_EQ(secret.ok(), test.verdict == Verdict::kValid);
    if (secret.ok()) {
      EXPECT_EQ(*secret, test.fields.Hex("K"));
    }
  });
}

Result<MlKemEncapsulation> Encapsulate(const WycheproofCase& test) {
  COFFER_ASSIGN_OR_RETURN(const MlKemEncapsulationKey key,
                          MlKemEncapsulationKey::Parse(test.fields.Hex("ek")));
  COFFER_ASSIGN_OR_RETURN(const MlKemMessage m, ParseSecret<MlKemMessage>(test.fields.Hex("m")));
  return key.EncapsulateWith(m);
}

TEST(MlKemWycheproofTest, Encapsulation) {
  ForEachCase("encaps_", "MLKEMEncapsTest", {.valid = 133, .invalid = 132},
              [](const WycheproofCase& test) {
                const Result<MlKemEncapsulation> made = Encapsulate(test);
                ASSERT_EQ(made.ok(), test.verdict == Verdict::kValid);
                if (!made.ok()) return;
                EXPECT_EQ(ToBytes(made->ciphertext), test.fields.Hex("c"));
                EXPECT_EQ(ToBytes(made->shared.Expose()), test.fields.Hex("K"));
              });
}

TEST(MlKemWycheproofTest, KeyGeneration) {
  ForEachCase("keygen_seed_", "MLKEMKeyGen", {.valid = 100, .invalid = 0},
              [](const WycheproofCase& test) {
                const Result<MlKemSeed> seed = ParseSecret<MlKemSeed>(test.fields.Hex("seed"));
                ASSERT_TRUE(seed.ok());
                const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(*seed);
                EXPECT_EQ(ToBytes(key.encapsulation_key().bytes()), test.fields.Hex("ek"));
                EXPECT_EQ(ToBytes(key.ExposeExpanded()), test.fields.Hex("dk"));
              });
}

Result<Bytes> DecapsulateExpanded(const WycheproofCase& test) {
  COFFER_ASSIGN_OR_RETURN(const MlKemDecapsulationKey key,
                          MlKemDecapsulationKey::FromExpanded(test.fields.Hex("dk")));
  COFFER_ASSIGN_OR_RETURN(const MlKemCiphertext c, ParseCiphertext(test.fields.Hex("c")));
  return ToBytes(key.Decapsulate(c).Expose());
}

TEST(MlKemWycheproofTest, ExpandedKeys) {
  ForEachCase("semi_expanded_decaps_", "MLKEMDecapsValidationTest", {.valid = 3, .invalid = 6},
              [](const WycheproofCase& test) {
                const Result<Bytes> secret = DecapsulateExpanded(test);
                ASSERT_EQ(secret.ok(), test.verdict == Verdict::kValid);
                if (secret.ok()) {
                  EXPECT_EQ(*secret, test.fields.Hex("K"));
                }
              });
}

}  // namespace
}  // namespace coffer::crypto
