// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/chacha20_poly1305.h"

#include <algorithm>
#include <array>
#include <utility>

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "coffer/base/hex.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/sha2.h"

namespace coffer::crypto {
namespace {

using coffer::testing::FromHex;
using coffer::testing::Pattern;

constexpr size_t kTagSize = ChaCha20Poly1305::kTagSize;

ChaCha20Poly1305::Key AsKey(ByteSpan bytes) { return bytes.first<ChaCha20Poly1305::kKeySize>(); }
ChaCha20Poly1305::Nonce AsNonce(ByteSpan bytes) {
  return bytes.first<ChaCha20Poly1305::kNonceSize>();
}

ChaCha20Poly1305 Make(ByteSpan key) {
  Result<ChaCha20Poly1305> aead = ChaCha20Poly1305::Create(AsKey(key));
  COFFER_CHECK(aead.ok());
  return std::move(aead).value();
}

Bytes Seal(ChaCha20Poly1305& aead, ByteSpan nonce, ByteSpan additional_data, ByteSpan plaintext) {
  Bytes ciphertext(plaintext.size() + kTagSize);
  const Status status = aead.Seal(AsNonce(nonce), additional_data, plaintext, ciphertext);
  COFFER_CHECK(status.ok());
  return ciphertext;
}

bool Open(ChaCha20Poly1305& aead, ByteSpan nonce, ByteSpan additional_data, ByteSpan ciphertext,
          MutableByteSpan plaintext) {
  const Result<bool> opened = aead.Open(AsNonce(nonce), additional_data, ciphertext, plaintext);
  COFFER_CHECK(opened.ok());
  return *opened;
}

bool IsZero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

const Bytes kKey = FromHex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
const Bytes kCountingNonce = FromHex("000102030405060708090a0b");

TEST(ChaCha20Poly1305, SealsTheExampleOfRfc8439Section282) {
  const Bytes nonce = FromHex("070000004041424344454647");
  const Bytes additional_data = FromHex("50515253c0c1c2c3c4c5c6c7");
  const ByteSpan plaintext = AsBytes(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
      "sunscreen would be it.");
  const Bytes expected = FromHex(
      "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92"
      "728b1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b"
      "4831d7bc3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691");
  ChaCha20Poly1305 aead = Make(kKey);
  EXPECT_EQ(Seal(aead, nonce, additional_data, plaintext), expected);
}

TEST(ChaCha20Poly1305, OpensTheExampleOfRfc8439AppendixA5) {
  const Bytes nonce = FromHex("000000000102030405060708");
  const Bytes additional_data = FromHex("f33388860000000000004e91");
  const Bytes ciphertext = FromHex(
      "64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e382d"
      "26b0bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1"
      "ff37c8559797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b"
      "5216cde7a4e99040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a0d072b04b3564eea"
      "1b422273f548271a0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a1049e617d91d36"
      "1094fa68f0ff77987130305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b02709beead9d67890cbb22392336"
      "fea1851f38");
  ChaCha20Poly1305 aead =
      Make(FromHex("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0"));
  Bytes plaintext(ciphertext.size() - kTagSize);
  ASSERT_TRUE(Open(aead, nonce, additional_data, ciphertext, plaintext));
  EXPECT_EQ(
      AsText(plaintext),
      "Internet-Drafts are draft documents valid for a maximum of six months and may be "
      "updated, replaced, or obsoleted by other documents at any time. It is inappropriate to "
      "use Internet-Drafts as reference material or to cite them other than as "
      "/\xe2\x80\x9cwork in progress./\xe2\x80\x9d");
}

struct Golden {
  size_t size;
  const char* sha256;
};

// SHA-256 of ciphertext and tag, from a transcription of RFC 8439 sections 2.1 to 2.8 in Python
// integers: key 80..9f, nonce 00..0b, plaintext Pattern(size, size).
constexpr Golden kSealed[] = {
    {0, "3ce97b71cb2f4ca38363e3b628560b992a83fd01a504ef6556952f5037fb4e1c"},
    {1, "8988086003224cc770557a99aa6b9227c061d2e5bd449378a2700ac42db9be76"},
    {63, "16d9584a7ee33735983b08fe3a340606fce1162c99d28d1be9a4275254ae563c"},
    {64, "d235077e92114ac16ca8f059bff13e334a69eba75c481228ab4c4523a1d22181"},
    {65, "8a3fc9bdcbba07d41979815afedbac6e03d22cf46221f58070227f2cbae82dd6"},
    {65535, "9a581b34905b572ed9424b9215667887d48b5a33c37108b16d2b9cab81d06764"},
    {65536, "d2164c0b26ea9a866f279768668b725897872eb908f2ab133b0e6bfc40ed06df"},
    {65537, "8b620687330cc6cdcd14c3fc22de264a62674eb5b9aeefc5ad957274423ef1f4"},
};

// The same with Pattern(size, size) as additional data and Pattern(33, 33) as plaintext.
constexpr Golden kSealedWithAdditionalData[] = {
    {0, "30f4bd3d77e8b505a77117cdabaad8c6ffbb77cae02bd58ddb0639f82545daf3"},
    {1, "a10328b3218e5ba1e67fbb4d6398d3077198a2a9cc841b04f20ed28e609c6c00"},
    {15, "b2e51bd93db257d158a5b1201a50a04f9803a27c0df6db31ddef3c1d4f9c0cf6"},
    {16, "52dd77e53241f594cc8036edbfa31cd02c1d73b3048781020388d6e2d5d3ab89"},
    {17, "466baf515f54c0951713315628f124be060e0ff8c8fac3942eab4de254aee7bc"},
    {255, "6219c340242d80f09cdc56f66eed493dfad8aeb3602d0866ae77d77e4ce77c69"},
    {65537, "41662750c290dd86a703aac0757008a971ab584401e742a119c8f8f5f5d7f4ca"},
};

std::string Sha256Hex(ByteSpan bytes) { return hex::Encode(*Sha256(bytes)); }

class ChaCha20Poly1305Sizes : public ::testing::TestWithParam<Golden> {};

TEST_P(ChaCha20Poly1305Sizes, SealsAndOpensApartAndInPlace) {
  const size_t size = GetParam().size;
  const Bytes plaintext = Pattern(size, static_cast<uint8_t>(size));
  ChaCha20Poly1305 aead = Make(kKey);

  const Bytes ciphertext = Seal(aead, kCountingNonce, {}, plaintext);
  EXPECT_EQ(Sha256Hex(ciphertext), GetParam().sha256);
  Bytes opened(size, 0xff);
  EXPECT_TRUE(Open(aead, kCountingNonce, {}, ciphertext, opened));
  EXPECT_EQ(opened, plaintext);

  Bytes buffer = plaintext;
  buffer.resize(size + kTagSize);
  const MutableByteSpan text = MutableByteSpan(buffer).first(size);
  ASSERT_TRUE(aead.Seal(AsNonce(kCountingNonce), {}, text, buffer).ok());
  EXPECT_EQ(buffer, ciphertext);
  EXPECT_TRUE(Open(aead, kCountingNonce, {}, buffer, text));
  EXPECT_TRUE(std::ranges::equal(text, plaintext));
}

TEST_P(ChaCha20Poly1305Sizes, WrongTagWipesThePlaintextApartAndInPlace) {
  const size_t size = GetParam().size;
  ChaCha20Poly1305 aead = Make(kKey);
  Bytes ciphertext = Seal(aead, kCountingNonce, {}, Pattern(size, 1));
  for (size_t bit = 0; bit < kTagSize * 8; ++bit) {
    SCOPED_TRACE(bit);
    if (size > 100 && bit % 17 != 0) continue;
    ciphertext[size + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    Bytes opened(size, 0xff);
    EXPECT_FALSE(Open(aead, kCountingNonce, {}, ciphertext, opened));
    EXPECT_TRUE(IsZero(opened));
    Bytes buffer = ciphertext;
    const MutableByteSpan text = MutableByteSpan(buffer).first(size);
    EXPECT_FALSE(Open(aead, kCountingNonce, {}, buffer, text));
    EXPECT_TRUE(IsZero(text));
    EXPECT_EQ(ERR_peek_error(), 0U);
    ciphertext[size + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  Bytes opened(size);
  EXPECT_TRUE(Open(aead, kCountingNonce, {}, ciphertext, opened));
  EXPECT_EQ(opened, Pattern(size, 1));
}

INSTANTIATE_TEST_SUITE_P(Boundaries, ChaCha20Poly1305Sizes, ::testing::ValuesIn(kSealed),
                         [](const auto& test) { return std::to_string(test.param.size); });

TEST(ChaCha20Poly1305, AuthenticatesAdditionalDataOfAnySize) {
  ChaCha20Poly1305 aead = Make(kKey);
  const Bytes plaintext = Pattern(33, 33);
  for (const Golden& golden : kSealedWithAdditionalData) {
    SCOPED_TRACE(golden.size);
    Bytes additional_data = Pattern(golden.size, static_cast<uint8_t>(golden.size));
    const Bytes ciphertext = Seal(aead, kCountingNonce, additional_data, plaintext);
    EXPECT_EQ(Sha256Hex(ciphertext), golden.sha256);
    Bytes opened(plaintext.size());
    EXPECT_TRUE(Open(aead, kCountingNonce, additional_data, ciphertext, opened));
    additional_data.push_back(0);
    EXPECT_FALSE(Open(aead, kCountingNonce, additional_data, ciphertext, opened));
    EXPECT_TRUE(IsZero(opened));
  }
}

TEST(ChaCha20Poly1305, RefusesAnotherNonceAndAnotherKey) {
  ChaCha20Poly1305 aead = Make(kKey);
  const Bytes ciphertext = Seal(aead, kCountingNonce, {}, Pattern(100));
  Bytes opened(100);
  for (size_t i = 0; i < kCountingNonce.size(); ++i) {
    Bytes nonce = kCountingNonce;
    nonce[i] ^= 1;
    EXPECT_FALSE(Open(aead, nonce, {}, ciphertext, opened)) << i;
  }
  for (size_t i = 0; i < kKey.size(); ++i) {
    Bytes key = kKey;
    key[i] ^= 1;
    ChaCha20Poly1305 other = Make(key);
    EXPECT_FALSE(Open(other, kCountingNonce, {}, ciphertext, opened)) << i;
  }
}

TEST(ChaCha20Poly1305, ObjectsAndDirectionsDoNotDisturbEachOther) {
  ChaCha20Poly1305 first = Make(kKey);
  ChaCha20Poly1305 second = Make(Pattern(32, 5));
  for (uint8_t i = 0; i < 20; ++i) {
    const Bytes nonce = Pattern(12, i);
    const Bytes plaintext = Pattern(size_t{70} * i, i);
    const Bytes a = Seal(first, nonce, {}, plaintext);
    const Bytes b = Seal(second, nonce, {}, plaintext);
    EXPECT_NE(a, b);
    Bytes opened(plaintext.size());
    EXPECT_FALSE(Open(second, nonce, {}, a, opened));
    EXPECT_TRUE(Open(second, nonce, {}, b, opened));
    EXPECT_EQ(opened, plaintext);
    EXPECT_TRUE(Open(first, nonce, {}, a, opened));
    EXPECT_EQ(opened, plaintext);
  }
}

TEST(ChaCha20Poly1305, MovesTakeTheKeyAlong) {
  ChaCha20Poly1305 first = Make(kKey);
  const Bytes expected = Seal(first, kCountingNonce, {}, Pattern(10));
  ChaCha20Poly1305 second = std::move(first);
  EXPECT_EQ(Seal(second, kCountingNonce, {}, Pattern(10)), expected);
  ChaCha20Poly1305 third = Make(Pattern(32));
  EXPECT_NE(Seal(third, kCountingNonce, {}, Pattern(10)), expected);
  third = std::move(second);
  EXPECT_EQ(Seal(third, kCountingNonce, {}, Pattern(10)), expected);
  ChaCha20Poly1305& same = third;
  third = std::move(same);
  EXPECT_EQ(Seal(third, kCountingNonce, {}, Pattern(10)), expected);
}

TEST(ChaCha20Poly1305DeathTest, MovedFromObjectsMaySealAndOpenNothing) {
  ChaCha20Poly1305 first = Make(kKey);
  const ChaCha20Poly1305 second = std::move(first);
  std::array<uint8_t, kTagSize> buffer{};
  EXPECT_DEATH((void)first.Seal(AsNonce(kCountingNonce), {}, {}, buffer), "context != nullptr");
  EXPECT_DEATH((void)first.Open(AsNonce(kCountingNonce), {}, buffer, {}), "context != nullptr");
}

TEST(ChaCha20Poly1305DeathTest, SizesThatDoNotFitAreABrokenInvariant) {
  ChaCha20Poly1305 aead = Make(kKey);
  Bytes a(100), b(100);
  const auto nonce = AsNonce(kCountingNonce);
  const MutableByteSpan out(b);
  EXPECT_DEATH((void)aead.Seal(nonce, {}, a, out), "SizesFit");
  EXPECT_DEATH((void)aead.Seal(nonce, {}, ByteSpan(a).first(83), out), "SizesFit");
  EXPECT_DEATH((void)aead.Seal(nonce, {}, {}, out.first(15)), "SizesFit");
  EXPECT_DEATH((void)aead.Open(nonce, {}, a, out.first(83)), "SizesFit");
  EXPECT_DEATH((void)aead.Open(nonce, {}, ByteSpan(a).first(15), {}), "SizesFit");
}

TEST(ChaCha20Poly1305DeathTest, PartialOverlapIsABrokenInvariant) {
  ChaCha20Poly1305 aead = Make(kKey);
  Bytes bytes(200);
  const MutableByteSpan all(bytes);
  const auto nonce = AsNonce(kCountingNonce);
  EXPECT_DEATH((void)aead.Seal(nonce, {}, all.subspan(1, 64), all.first(80)), "Disjoint");
  EXPECT_DEATH((void)aead.Seal(nonce, {}, all.first(64), all.subspan(63, 80)), "Disjoint");
  EXPECT_DEATH((void)aead.Open(nonce, {}, all.subspan(1, 80), all.first(64)), "Disjoint");
  EXPECT_DEATH((void)aead.Open(nonce, {}, all.first(80), all.subspan(79, 64)), "Disjoint");
  EXPECT_TRUE(aead.Seal(nonce, {}, all.first(64), all.subspan(64, 80)).ok());
  EXPECT_TRUE(aead.Open(nonce, {}, all.subspan(64, 80), all.first(64)).ok());
}

TEST(ChaCha20Poly1305, RefusesMessagesBeyondTheBlockCounter) {
  ChaCha20Poly1305 aead = Make(kKey);
  uint8_t byte = 0;
  // 2^38 - 64 bytes are the most (RFC 8439 section 2.8). Nothing behind these is touched.
  const size_t size = (size_t{1} << 38) - 63;
  const MutableByteSpan text(&byte, size);
  const MutableByteSpan sealed(&byte, size + kTagSize);
  const Status status = aead.Seal(AsNonce(kCountingNonce), {}, text, sealed);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kTooLarge);
  const Result<bool> opened = aead.Open(AsNonce(kCountingNonce), {}, sealed, text);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace coffer::crypto
