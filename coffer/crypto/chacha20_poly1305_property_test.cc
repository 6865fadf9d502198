// SPDX-License-Identifier: Apache-2.0
// Properties of Seal and Open over random sizes. A failure prints the seed that repeats it.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "coffer/base/secret.h"
#include "coffer/crypto/chacha20_poly1305.h"

namespace coffer::crypto {
namespace {

constexpr size_t kTagSize = ChaCha20Poly1305::kTagSize;

Bytes RandomBytes(size_t size) {
  return *rc::gen::container<Bytes>(size, rc::gen::arbitrary<uint8_t>());
}

struct Message {
  Bytes key, nonce, additional_data, plaintext, ciphertext;

  Message()
      : key(RandomBytes(ChaCha20Poly1305::kKeySize)),
        nonce(RandomBytes(ChaCha20Poly1305::kNonceSize)),
        additional_data(RandomBytes(*rc::gen::inRange<size_t>(0, 100))),
        plaintext(RandomBytes(*rc::gen::inRange<size_t>(0, 2000))),
        ciphertext(plaintext.size() + kTagSize) {
    ChaCha20Poly1305 aead = Aead();
    RC_ASSERT(aead.Seal(Nonce(), additional_data, plaintext, ciphertext).ok());
  }

  [[nodiscard]] ChaCha20Poly1305 Aead() const {
    return ChaCha20Poly1305::Create(ByteSpan(key).first<ChaCha20Poly1305::kKeySize>()).value();
  }
  [[nodiscard]] ChaCha20Poly1305::Nonce Nonce() const {
    return ByteSpan(nonce).first<ChaCha20Poly1305::kNonceSize>();
  }
};

RC_GTEST_PROP(ChaCha20Poly1305Property, OpenGivesBackWhatWasSealed, ()) {
  const Message message;
  Bytes opened(message.plaintext.size());
  const Result<bool> ok =
      message.Aead().Open(message.Nonce(), message.additional_data, message.ciphertext, opened);
  RC_ASSERT(ok.ok());
  RC_ASSERT(*ok);
  RC_ASSERT(opened == message.plaintext);
}

// Flips one bit of `bytes`, which is what `message` is made of, and expects Open to refuse it.
void ExpectFlipRefused(const Message& message, Bytes& bytes) {
  const size_t bit = *rc::gen::inRange<size_t>(0, bytes.size() * 8);
  bytes[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  Bytes opened(message.plaintext.size(), 0xff);
  const Result<bool> ok =
      message.Aead().Open(message.Nonce(), message.additional_data, message.ciphertext, opened);
  RC_ASSERT(ok.ok());
  RC_ASSERT(!*ok);
  RC_ASSERT(std::ranges::all_of(opened, [](uint8_t byte) { return byte == 0; }));
}

RC_GTEST_PROP(ChaCha20Poly1305Property, AFlippedBitOfTheCiphertextOrTagIsRefused, ()) {
  Message message;
  ExpectFlipRefused(message, message.ciphertext);
}

RC_GTEST_PROP(ChaCha20Poly1305Property, AFlippedBitOfTheNonceIsRefused, ()) {
  Message message;
  ExpectFlipRefused(message, message.nonce);
}

RC_GTEST_PROP(ChaCha20Poly1305Property, AFlippedBitOfTheKeyIsRefused, ()) {
  Message message;
  ExpectFlipRefused(message, message.key);
}

RC_GTEST_PROP(ChaCha20Poly1305Property, AFlippedBitOfTheAdditionalDataIsRefused, ()) {
  Message message;
  RC_PRE(!message.additional_data.empty());
  ExpectFlipRefused(message, message.additional_data);
}

// Every bit of a short message, without chance.
TEST(ChaCha20Poly1305Exhaustive, NoBitOfAShortMessageMayBeFlipped) {
  const Bytes key(ChaCha20Poly1305::kKeySize, 7);
  const Bytes nonce(ChaCha20Poly1305::kNonceSize, 9);
  const Bytes plaintext(65, 0xa5);
  ChaCha20Poly1305 aead =
      ChaCha20Poly1305::Create(ByteSpan(key).first<ChaCha20Poly1305::kKeySize>()).value();
  const auto nonce_span = ByteSpan(nonce).first<ChaCha20Poly1305::kNonceSize>();
  Bytes ciphertext(plaintext.size() + kTagSize);
  ASSERT_TRUE(aead.Seal(nonce_span, {}, plaintext, ciphertext).ok());
  Bytes opened(plaintext.size());
  for (size_t bit = 0; bit < ciphertext.size() * 8; ++bit) {
    ciphertext[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(*aead.Open(nonce_span, {}, ciphertext, opened)) << bit;
    ciphertext[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_TRUE(*aead.Open(nonce_span, {}, ciphertext, opened));
}

}  // namespace
}  // namespace coffer::crypto
