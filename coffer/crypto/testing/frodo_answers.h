// SPDX-License-Identifier: Apache-2.0
// The answer files of FrodoKEM's implementations, as liboqs writes them, and their hashes. For
// tests declared with coffer_vector_test, corpus frodokem.
#pragma once

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "coffer/base/bytes.h"
#include "coffer/base/hex.h"
#include "coffer/base/testing/corpus.h"
#include "coffer/crypto/testing/nist_drbg.h"

namespace coffer::crypto::testing {

inline std::string ReadCorpusText(std::string_view name) {
  std::ifstream file(coffer::testing::CorpusPath(name));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string UpperCaseHex(ByteSpan bytes) {
  std::string text = hex::Encode(bytes);
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'f' ? c - ('a' - 'A') : c);
  });
  return text;
}

// The answer file's text of `count` vectors, as liboqs writes it.
template <class Kem>
std::string FrodoAnswers(int count) {
  std::array<uint8_t, NistDrbg::kSeedSize> seed;
  std::iota(seed.begin(), seed.end(), uint8_t{0});
  NistDrbg seeds(seed);
  std::string text;
  for (int i = 0; i < count; ++i) {
    seeds.Fill(seed);
    NistDrbg random(seed);
    const auto key = Kem::GenerateKey(random);
    const auto sent = Kem::Encapsulate(key->PublicKeyOf(), random);
    if (i != 0) text += '\n';
    text += "count = " + std::to_string(i) + "\nseed = " + UpperCaseHex(seed);
    text += "\npk = " + UpperCaseHex(key->PublicKeyOf().bytes());
    text += "\nsk = " + UpperCaseHex(key->ExposeExpanded());
    text += "\nct = " + UpperCaseHex(sent->ciphertext);
    text += "\nss = " + UpperCaseHex(sent->shared_secret.Expose()) + "\n";
  }
  return text;
}

inline std::string Sha256InHex(std::string_view text) {
  std::array<uint8_t, 32> digest{};
  size_t size = 0;
  EXPECT_EQ(
      EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(), digest.data(), &size), 1);
  EXPECT_EQ(size, digest.size());
  return hex::Encode(digest);
}

// The value of `member` in the object of `set`, from a file that is laid out as liboqs's kats.json.
inline std::string FrodoAnswerHash(std::string_view set, std::string_view member) {
  const std::string text = ReadCorpusText("frodokem/kat-sha256.json");
  const size_t object = text.find("\"" + std::string(set) + "\": {");
  if (object == std::string::npos) return "";
  const std::string key = "\"" + std::string(member) + "\": \"";
  const size_t value = text.find(key, object);
  return value == std::string::npos ? "" : text.substr(value + key.size(), 64);
}

}  // namespace coffer::crypto::testing
