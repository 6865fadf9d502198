// SPDX-License-Identifier: Apache-2.0
// The classical primitives against Project Wycheproof. Each test counts what it did with every
// case, so that none is left out unseen.
#include "coffer/crypto/testing/wycheproof.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "coffer/base/ct.h"
#include "coffer/base/testing/corpus.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/crypto/hkdf.h"
#include "coffer/crypto/hmac.h"
#include "coffer/crypto/x25519.h"

namespace coffer::crypto {
namespace {

using testing::LoadWycheproof;
using testing::Verdict;
using testing::WycheproofCase;
using testing::WycheproofFields;
using testing::WycheproofFile;
using testing::WycheproofGroup;

WycheproofFile Load(std::string_view name) {
  return LoadWycheproof(
      coffer::testing::CorpusPath("wycheproof/" + std::string(name) + "_test.json"));
}

// Runs `test` on every case, and fails unless there are as many as the file says of itself and all
// groups are of `type`.
template <class Test>
void ForEachCase(const WycheproofFile& file, std::string_view type, Test test) {
  size_t count = 0;
  for (const WycheproofGroup& group : file.groups) {
    ASSERT_EQ(group.type, type);
    for (const WycheproofCase& one : group.cases) {
      SCOPED_TRACE(::testing::Message() << "tcId " << one.id << ": " << one.comment);
      test(group.fields, one);
      ++count;
    }
  }
  EXPECT_EQ(count, file.number_of_tests);
}

// The file has none of these for an algorithm whose every outcome is fixed.
void ExpectDecided(const WycheproofCase& test) { ASSERT_NE(test.verdict, Verdict::kAcceptable); }

void CheckAead(const WycheproofCase& test) {
  const Bytes key = test.fields.Hex("key"), nonce = test.fields.Hex("iv");
  const Bytes additional_data = test.fields.Hex("aad"), plaintext = test.fields.Hex("msg");
  const Bytes tag = test.fields.Hex("tag");
  Bytes ciphertext = test.fields.Hex("ct");
  ASSERT_EQ(key.size(), ChaCha20Poly1305::kKeySize);
  ASSERT_EQ(tag.size(), ChaCha20Poly1305::kTagSize);
  ASSERT_EQ(ciphertext.size(), plaintext.size());
  Append(ciphertext, tag);

  Result<ChaCha20Poly1305> aead =
      ChaCha20Poly1305::Create(ByteSpan(key).first<ChaCha20Poly1305::kKeySize>());
  ASSERT_TRUE(aead.ok());
  const auto nonce_span = ByteSpan(nonce).first<ChaCha20Poly1305::kNonceSize>();
  Bytes opened(plaintext.size(), 0xff);
  const Result<bool> ok = aead->Open(nonce_span, additional_data, ciphertext, opened);
  ASSERT_TRUE(ok.ok());
  Bytes sealed(ciphertext.size());
  ASSERT_TRUE(aead->Seal(nonce_span, additional_data, plaintext, sealed).ok());
  if (test.verdict == Verdict::kValid) {
    EXPECT_TRUE(*ok);
    EXPECT_EQ(opened, plaintext);
    EXPECT_EQ(sealed, ciphertext);
  } else {
    EXPECT_FALSE(*ok);
    EXPECT_EQ(opened, Bytes(plaintext.size()));
    EXPECT_NE(sealed, ciphertext);
  }
}

TEST(Wycheproof, ChaCha20Poly1305) {
  size_t checked = 0, impossible = 0;
  const WycheproofFile file = Load("chacha20_poly1305");
  ForEachCase(file, "AeadTest", [&](const WycheproofFields& group, const WycheproofCase& test) {
    ExpectDecided(test);
    ASSERT_EQ(group.Number("keySize"), 256);
    ASSERT_EQ(group.Number("tagSize"), 128);
    if (group.Number("ivSize") != 96) {
      // Our nonces are spans of 12 bytes: such a call does not compile.
      EXPECT_EQ(test.verdict, Verdict::kInvalid);
      EXPECT_TRUE(test.HasFlag("InvalidNonceSize"));
      ++impossible;
      return;
    }
    CheckAead(test);
    ++checked;
  });
  EXPECT_EQ(checked + impossible, file.number_of_tests);
  EXPECT_GT(checked, 0U);
  EXPECT_GT(impossible, 0U);
}

TEST(Wycheproof, X25519) {
  size_t agreed = 0, zero = 0;
  const WycheproofFile file = Load("x25519");
  ForEachCase(file, "XdhComp", [&](const WycheproofFields& group, const WycheproofCase& test) {
    ASSERT_EQ(group.Text("curve"), "curve25519");
    ASSERT_NE(test.verdict, Verdict::kInvalid);
    const Bytes scalar = test.fields.Hex("private"), bytes = test.fields.Hex("public");
    ASSERT_EQ(scalar.size(), kX25519Size);
    ASSERT_EQ(bytes.size(), kX25519Size);
    X25519Point point;
    std::ranges::copy(bytes, point.begin());
    const Result<X25519Shared> shared =
        X25519(X25519Scalar::CopyOf(ByteSpan(scalar).first<kX25519Size>()), point);
    // What is acceptable either gives zero, which RFC 7748 lets us refuse, or is a point
    // on the twist or not reduced, which it wants computed.
    if (test.HasFlag("ZeroSharedSecret")) {
      ASSERT_FALSE(shared.ok());
      EXPECT_EQ(shared.error().code(), ErrorCode::kInvalidArgument);
      EXPECT_TRUE(ct::IsAllZero(test.fields.Hex("shared")));
      ++zero;
    } else {
      ASSERT_TRUE(shared.ok());
      EXPECT_TRUE(std::ranges::equal(shared->Expose(), test.fields.Hex("shared")));
      ++agreed;
    }
  });
  EXPECT_EQ(agreed + zero, file.number_of_tests);
  EXPECT_GT(agreed, 0U);
  EXPECT_GT(zero, 0U);
}

TEST(Wycheproof, HkdfSha256) {
  size_t derived = 0, refused = 0;
  const WycheproofFile file = Load("hkdf_sha256");
  ForEachCase(file, "HkdfTest", [&](const WycheproofFields& group, const WycheproofCase& test) {
    ExpectDecided(test);
    const Bytes ikm = test.fields.Hex("ikm"), salt = test.fields.Hex("salt");
    const Bytes info = test.fields.Hex("info");
    ASSERT_EQ(group.Number("keySize"), static_cast<int64_t>(ikm.size() * 8));
    Bytes okm(static_cast<size_t>(test.fields.Number("size")));
    const Status status = HkdfSha256({ikm, salt, info}, okm);
    if (test.verdict == Verdict::kValid) {
      ASSERT_TRUE(status.ok());
      EXPECT_EQ(okm, test.fields.Hex("okm"));
      ++derived;
    } else {
      EXPECT_TRUE(test.HasFlag("SizeTooLarge"));
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code(), ErrorCode::kInvalidArgument);
      ++refused;
    }
  });
  EXPECT_EQ(derived + refused, file.number_of_tests);
  EXPECT_GT(derived, 0U);
  EXPECT_GT(refused, 0U);
}

TEST(Wycheproof, HmacSha256) {
  size_t right = 0, wrong = 0;
  const WycheproofFile file = Load("hmac_sha256");
  ForEachCase(file, "MacTest", [&](const WycheproofFields& group, const WycheproofCase& test) {
    ExpectDecided(test);
    const Bytes key = test.fields.Hex("key"), tag = test.fields.Hex("tag");
    ASSERT_EQ(group.Number("keySize"), static_cast<int64_t>(key.size() * 8));
    ASSERT_EQ(group.Number("tagSize"), static_cast<int64_t>(tag.size() * 8));
    ASSERT_LE(tag.size(), HmacSha256::kSize);
    Result<HmacSha256> hmac = HmacSha256::Create(key);
    ASSERT_TRUE(hmac.ok());
    ASSERT_TRUE(hmac->Update(test.fields.Hex("msg")).ok());
    std::array<uint8_t, HmacSha256::kSize> mac;
    ASSERT_TRUE(hmac->Finish(mac).ok());
    const bool same = ct::Equal(ByteSpan(mac).first(tag.size()), tag);
    EXPECT_EQ(same, test.verdict == Verdict::kValid);
    ++(same ? right : wrong);
  });
  EXPECT_EQ(right + wrong, file.number_of_tests);
  EXPECT_GT(right, 0U);
  EXPECT_GT(wrong, 0U);
}

}  // namespace
}  // namespace coffer::crypto
