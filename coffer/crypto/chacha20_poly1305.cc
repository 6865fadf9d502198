// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/chacha20_poly1305.h"

#include <algorithm>
#include <utility>

#include <openssl/err.h>

#include "coffer/base/secret.h"
#include "coffer/crypto/internal/openssl.h"

namespace coffer::crypto {
namespace {

constexpr std::string_view kName = "ChaCha20-Poly1305";

// The block counter has 32 bits and block 0 makes the Poly1305 key (RFC 8439 section 2.8).
constexpr uint64_t kMaxMessageSize = uint64_t{64} * ((uint64_t{1} << 32) - 1);

// The library takes sizes as int. A piece is whole blocks, which keeps the next one on its fast
// path.
constexpr size_t kPieceSize = size_t{1} << 30;

enum class Direction { kOpen = 0, kSeal = 1 };

EVP_CIPHER_CTX* Context(void* context) {
  COFFER_CHECK(context != nullptr);  // moved from
  return static_cast<EVP_CIPHER_CTX*>(context);
}

bool SizesFit(ByteSpan plaintext, ByteSpan ciphertext) {
  return ciphertext.size() >= ChaCha20Poly1305::kTagSize &&
         ciphertext.size() - ChaCha20Poly1305::kTagSize == plaintext.size();
}

bool SameStartOrDisjoint(ByteSpan a, ByteSpan b) {
  const auto a_start = reinterpret_cast<uintptr_t>(a.data());
  const auto b_start = reinterpret_cast<uintptr_t>(b.data());
  return a_start == b_start || a_start + a.size() <= b_start || b_start + b.size() <= a_start;
}

// Passes `in` through the context; as additional data if `out` is null.
bool Update(EVP_CIPHER_CTX* context, ByteSpan in, uint8_t* out) {
  while (!in.empty()) {
    const size_t size = std::min(in.size(), kPieceSize);
    int written = 0;
    if (EVP_CipherUpdate(context, out, &written, in.data(), static_cast<int>(size)) != 1) {
      return false;
    }
    if (out != nullptr) out += size;
    in = in.subspan(size);
  }
  return true;
}

// Starts a message and does everything but its tag.
bool Crypt(EVP_CIPHER_CTX* context, Direction direction, ChaCha20Poly1305::Nonce nonce,
           ByteSpan additional_data, ByteSpan in, uint8_t* out) {
  // No cipher and no key: the key schedule in the context stays.
  return EVP_CipherInit_ex2(context, nullptr, nullptr, nonce.data(), static_cast<int>(direction),
                            nullptr) == 1 &&
         Update(context, additional_data, nullptr) && Update(context, in, out);
}

// Whether the library accepts the end of the message. No output: the cipher keeps nothing back.
bool Finish(EVP_CIPHER_CTX* context) {
  uint8_t none = 0;
  int written = 0;
  return EVP_CipherFinal_ex(context, &none, &written) == 1;
}

}  // namespace

Result<ChaCha20Poly1305> ChaCha20Poly1305::Create(Key key) {
  COFFER_ASSIGN_OR_RETURN(const EVP_CIPHER* const cipher, internal::FetchChaCha20Poly1305());
  internal::Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free> context(EVP_CIPHER_CTX_new());
  if (context == nullptr || EVP_CipherInit_ex2(context.get(), cipher, key.data(), nullptr,
                                               static_cast<int>(Direction::kSeal), nullptr) != 1) {
    return internal::LibraryError(kName);
  }
  return ChaCha20Poly1305(context.release());
}

ChaCha20Poly1305::ChaCha20Poly1305(ChaCha20Poly1305&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)) {}

ChaCha20Poly1305& ChaCha20Poly1305::operator=(ChaCha20Poly1305&& other) noexcept {
  if (this == &other) return *this;
  EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(context_));
  context_ = std::exchange(other.context_, nullptr);
  return *this;
}

// The library wipes the key as it frees the context.
ChaCha20Poly1305::~ChaCha20Poly1305() {
  EVP_CIPHER_CTX_free(static_cast<EVP_CIPHER_CTX*>(context_));
}

Status ChaCha20Poly1305::Seal(Nonce nonce, ByteSpan additional_data, ByteSpan plaintext,
                              MutableByteSpan ciphertext) {
  EVP_CIPHER_CTX* const context = Context(context_);
  COFFER_CHECK(SizesFit(plaintext, ciphertext));
  COFFER_CHECK(SameStartOrDisjoint(plaintext, ciphertext));
  if (plaintext.size() > kMaxMessageSize) {
    return Error(ErrorCode::kTooLarge, "a message for ChaCha20-Poly1305 is over 256 GiB");
  }
  if (!Crypt(context, Direction::kSeal, nonce, additional_data, plaintext, ciphertext.data()) ||
      !Finish(context) ||
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagSize,
                          ciphertext.last<kTagSize>().data()) != 1) {
    SecureWipe(ciphertext);  // when in place, some of it is still plaintext
    return internal::LibraryError(kName);
  }
  return OkStatus();
}

Result<bool> ChaCha20Poly1305::Open(Nonce nonce, ByteSpan additional_data, ByteSpan ciphertext,
                                    MutableByteSpan plaintext) {
  EVP_CIPHER_CTX* const context = Context(context_);
  COFFER_CHECK(SizesFit(plaintext, ciphertext));
  COFFER_CHECK(SameStartOrDisjoint(ciphertext, plaintext));
  if (plaintext.size() > kMaxMessageSize) {
    return Error(ErrorCode::kTooLarge, "a message for ChaCha20-Poly1305 is over 256 GiB");
  }
  // The library only reads the tag, though its parameter is not const.
  std::array<uint8_t, kTagSize> tag;
  std::ranges::copy(ciphertext.last<kTagSize>(), tag.begin());
  if (!Crypt(context, Direction::kOpen, nonce, additional_data, ciphertext.first(plaintext.size()),
             plaintext.data()) ||
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) != 1) {
    SecureWipe(plaintext);
    return internal::LibraryError(kName);
  }
  // The only thing left that can fail is the comparison of tags, in constant time.
  if (!Finish(context)) {
    SecureWipe(plaintext);
    ERR_clear_error();
    return false;
  }
  return true;
}

}  // namespace coffer::crypto
