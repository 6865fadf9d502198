// SPDX-License-Identifier: Apache-2.0
// ML-KEM-768 against the vectors of NIST's ACVP server.
#include <stdio.h>

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coffer/base/testing/corpus.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/ml_kem.h"

namespace coffer::crypto {
namespace {

using Json = nlohmann::json;

// The corpus is compressed; gzip is there wherever this is built.
Json LoadCompressed(const std::filesystem::path& path) {
  struct Close {
    void operator()(FILE* file) const { EXPECT_EQ(pclose(file), 0); }
  };
  const std::unique_ptr<FILE, Close> pipe(popen(("gzip -dc '" + path.string() + "'").c_str(), "r"));
  EXPECT_NE(pipe, nullptr);
  std::string text;
  char buffer[65536];
  for (size_t count; (count = fread(buffer, 1, sizeof(buffer), pipe.get())) != 0;) {
    text.append(buffer, count);
  }
  return Json::parse(text);
}

Bytes Hex(const Json& object, const char* name) {
  std::string text = object.at(name).get<std::string>();
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return coffer::testing::FromHex(text);
}

Bytes ToBytes(ByteSpan bytes) { return Bytes(bytes.begin(), bytes.end()); }

// Runs `test(group, case, expected)` on the ML-KEM-768 cases of a function; returns how many.
template <class Test>
int ForEachCase(const std::string& directory, const std::string& function, Test test) {
  const auto path = coffer::testing::CorpusPath("acvp/" + directory);
  const Json prompt = LoadCompressed(path / "prompt.json.gz");
  const Json expected = LoadCompressed(path / "expectedResults.json.gz");
  int count = 0;
  for (size_t g = 0; g < prompt.at("testGroups").size(); ++g) {
    const Json& group = prompt["testGroups"][g];
    const Json& results = expected.at("testGroups").at(g);
    EXPECT_EQ(group.at("tgId"), results.at("tgId"));
    if (group.at("parameterSet") != "ML-KEM-768") continue;
    if (group.value("function", "") != function) continue;
    for (size_t t = 0; t < group.at("tests").size(); ++t) {
      const Json& result = results.at("tests").at(t);
      EXPECT_EQ(group["tests"][t].at("tcId"), result.at("tcId"));
      SCOPED_TRACE(::testing::Message() << "tcId " << result.at("tcId"));
      test(group, group["tests"][t], result);
      ++count;
    }
  }
  return count;
}

TEST(MlKemAcvpTest, KeyGeneration) {
  const int count = ForEachCase(
      "ML-KEM-keyGen-FIPS203", "", [](const Json&, const Json& test, const Json& expected) {
        Bytes seed_bytes = Hex(test, "d");
        Append(seed_bytes, Hex(test, "z"));
        ASSERT_EQ(seed_bytes.size(), MlKemSeed::kSize);
        const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(
            MlKemSeed::CopyOf(ByteSpan(seed_bytes).first<MlKemSeed::kSize>()));
        EXPECT_EQ(ToBytes(key.encapsulation_key().bytes()), Hex(expected, "ek"));
        EXPECT_EQ(ToBytes(key.ExposeExpanded()), Hex(expected, "dk"));
      });
  EXPECT_EQ(count, 25);
}

TEST(MlKemAcvpTest, Encapsulation) {
  const int count = ForEachCase(
      "ML-KEM-encapDecap-FIPS203", "encapsulation",
      [](const Json&, const Json& test, const Json& expected) {
        const Result<MlKemEncapsulationKey> key = MlKemEncapsulationKey::Parse(Hex(test, "ek"));
        ASSERT_TRUE(key.ok());
        const Bytes m = Hex(test, "m");
        ASSERT_EQ(m.size(), MlKemMessage::kSize);
        const MlKemEncapsulation made =
            key->EncapsulateWith(MlKemMessage::CopyOf(ByteSpan(m).first<MlKemMessage::kSize>()));
        EXPECT_EQ(ToBytes(made.ciphertext), Hex(expected, "c"));
        EXPECT_EQ(ToBytes(made.shared.Expose()), Hex(expected, "k"));
      });
  EXPECT_EQ(count, 25);
}

TEST(MlKemAcvpTest, Decapsulation) {
  const int count =
      ForEachCase("ML-KEM-encapDecap-FIPS203", "decapsulation",
                  [](const Json& group, const Json& test, const Json& expected) {
                    const Result<MlKemDecapsulationKey> key =
                        MlKemDecapsulationKey::FromExpanded(Hex(group, "dk"));
                    ASSERT_TRUE(key.ok());
                    const Bytes c = Hex(test, "c");
                    ASSERT_EQ(c.size(), kMlKemCiphertextSize);
                    MlKemCiphertext ciphertext;
                    std::ranges::copy(c, ciphertext.begin());
                    EXPECT_EQ(ToBytes(key->Decapsulate(ciphertext).Expose()), Hex(expected, "k"));
                  });
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace coffer::crypto
