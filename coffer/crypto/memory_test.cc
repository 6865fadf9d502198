// SPDX-License-Identifier: Apache-2.0
// What the primitives do with the library's memory: how often they ask for it, that they hand no
// secret back in it, and that they fail in order when it is refused. A program of its own, since
// the library takes other allocation functions only before its first allocation.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>

#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include "coffer/base/testing/hex.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/crypto/hkdf.h"
#include "coffer/crypto/hmac.h"
#include "coffer/crypto/scrypt.h"
#include "coffer/crypto/sha2.h"
#include "coffer/crypto/x25519.h"

namespace {

size_t allocation_count = 0;      // by the library and by new
size_t live_count = 0;            // blocks that the library holds
size_t fail_in = 0;               // the library's nth allocation from here on fails; 0: none does
bool failed = false;              // whether one did
coffer::ByteSpan watched_secret;  // no freed memory may have 8 bytes of it in a row
size_t spilled_count = 0;         // freed blocks that did

// In front of each block stands its size, so that all of it can be searched when it is freed.
constexpr size_t kHeaderSize = 16;

void* AllocateBlock(size_t size, const char* /*file*/, int /*line*/) {
  ++allocation_count;
  if (fail_in != 0 && --fail_in == 0) {
    failed = true;
    return nullptr;
  }
  auto* block = static_cast<uint8_t*>(std::malloc(size + kHeaderSize));
  if (block == nullptr) return nullptr;
  ++live_count;
  std::memcpy(block, &size, sizeof(size));
  return block + kHeaderSize;
}

size_t BlockSize(const void* block) {
  size_t size;
  std::memcpy(&size, static_cast<const uint8_t*>(block) - kHeaderSize, sizeof(size));
  return size;
}

void FreeBlock(void* block, const char* /*file*/, int /*line*/) {
  if (block == nullptr) return;
  const auto* bytes = static_cast<const uint8_t*>(block);
  constexpr size_t kWindow = 8;
  for (size_t i = 0; i + kWindow <= watched_secret.size(); ++i) {
    if (memmem(bytes, BlockSize(block), watched_secret.data() + i, kWindow) == nullptr) continue;
    ++spilled_count;
    break;
  }
  --live_count;
  std::free(static_cast<uint8_t*>(block) - kHeaderSize);
}

void* ReallocateBlock(void* block, size_t size, const char* file, int line) {
  if (block == nullptr) return AllocateBlock(size, file, line);
  void* moved = AllocateBlock(size, file, line);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(size, BlockSize(block)));
  FreeBlock(block, file, line);
  return moved;
}

const int installed = CRYPTO_set_mem_functions(AllocateBlock, ReallocateBlock, FreeBlock);

}  // namespace

// Not inlined, since GCC otherwise sees free() meet operator new.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocation_count;
  void* block = std::malloc(std::max<size_t>(size, 1));
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace coffer::crypto {
namespace {

using coffer::testing::Pattern;

const std::array<uint8_t, 32> kSecret = [] {
  std::array<uint8_t, 32> secret;
  for (size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<uint8_t>(0xc5 * i + 0x3b);
  return secret;
}();
constexpr std::array<uint8_t, 12> kNonce{};

ChaCha20Poly1305 MakeAead() { return ChaCha20Poly1305::Create(kSecret).value(); }

TEST(LibraryMemory, ItsAllocationsAreSeen) {
  ASSERT_EQ(installed, 1);
  const size_t before = allocation_count;
  const ChaCha20Poly1305 aead = MakeAead();
  EXPECT_GT(allocation_count, before);
}

TEST(LibraryMemory, AThousandChunksCostNoAllocation) {
  constexpr size_t kChunkSize = 65536;
  ChaCha20Poly1305 aead = MakeAead();
  Bytes chunk(kChunkSize + ChaCha20Poly1305::kTagSize);
  const MutableByteSpan text = MutableByteSpan(chunk).first(kChunkSize);
  std::array<uint8_t, 12> nonce{};
  bool good = true;
  const size_t before = allocation_count;
  for (uint8_t i = 0; i < 250; ++i) {
    nonce[0] = i;
    for (uint8_t j = 0; j < 4; ++j) {
      nonce[1] = j;
      good = good && aead.Seal(nonce, nonce, text, chunk).ok();
      const Result<bool> opened = aead.Open(nonce, nonce, chunk, text);
      good = good && opened.ok() && *opened;
    }
  }
  EXPECT_EQ(allocation_count, before);
  EXPECT_TRUE(good);
}

TEST(LibraryMemory, RefusedMessagesCostNoAllocationEither) {
  ChaCha20Poly1305 aead = MakeAead();
  Bytes chunk(1016), out(1000);
  (void)aead.Open(kNonce, {}, chunk, out);
  const size_t before = allocation_count;
  for (int i = 0; i < 100; ++i) {
    const Result<bool> opened = aead.Open(kNonce, {}, chunk, out);
    if (!opened.ok() || *opened) ADD_FAILURE();
  }
  EXPECT_EQ(allocation_count, before);
}

// Everything that takes a secret, with it as key, message, scalar and passphrase.
struct Primitive {
  const char* name;
  std::function<Status()> run;
};

Status UseAead() {
  COFFER_ASSIGN_OR_RETURN(ChaCha20Poly1305 aead, ChaCha20Poly1305::Create(kSecret));
  Bytes sealed = Pattern(100);
  COFFER_TRY(aead.Seal(kNonce, {}, MutableByteSpan(sealed).first(84), sealed));
  COFFER_ASSIGN_OR_RETURN(const bool opened,
                          aead.Open(kNonce, {}, sealed, MutableByteSpan(sealed).first(84)));
  COFFER_CHECK(opened);
  COFFER_ASSIGN_OR_RETURN(aead, ChaCha20Poly1305::Create(kSecret));
  return OkStatus();
}

Status UseHash(Sha2 which, size_t digest_size, bool finish) {
  COFFER_ASSIGN_OR_RETURN(Sha2Hasher hasher, Sha2Hasher::Create(which));
  COFFER_TRY(hasher.Update(kSecret));
  Bytes digest(digest_size);
  if (finish) COFFER_TRY(hasher.Finish(digest));
  COFFER_ASSIGN_OR_RETURN(hasher, Sha2Hasher::Create(which));
  return OkStatus();
}

Status UseHashOnce() {
  COFFER_TRY(Sha256(kSecret));
  COFFER_TRY(Sha512(kSecret));
  return OkStatus();
}

Status UseHmac() {
  COFFER_ASSIGN_OR_RETURN(HmacSha256 hmac, HmacSha256::Create(kSecret));
  COFFER_TRY(hmac.Update(kSecret));
  std::array<uint8_t, 32> mac;
  COFFER_TRY(hmac.Finish(mac));
  return hmac.Update(kSecret);
}

Status UseHkdf() {
  Bytes out(100);
  return HkdfSha256({kSecret, kSecret, kSecret}, out);
}

Status UseX25519() {
  const X25519Scalar scalar = X25519Scalar::CopyOf(kSecret);
  COFFER_ASSIGN_OR_RETURN(const X25519Point point, X25519Public(scalar));
  COFFER_TRY(X25519(scalar, point));
  return OkStatus();
}

Status UseScrypt() {
  Bytes out(32);
  return Scrypt(kSecret, AsBytes("salt"), {.log2_n = 4}, out);
}

class PrimitiveMemory : public ::testing::TestWithParam<Primitive> {};

TEST_P(PrimitiveMemory, AllIsGivenBack) {
  ASSERT_TRUE(GetParam().run().ok());  // what the library keeps for ever
  const size_t before = live_count;
  ASSERT_TRUE(GetParam().run().ok());
  EXPECT_EQ(live_count, before);
}

TEST_P(PrimitiveMemory, FreedMemoryHasNoSecret) {
  spilled_count = 0;
  watched_secret = kSecret;
  const Status status = GetParam().run();
  watched_secret = {};
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(spilled_count, 0U);
}

// Refuses the first allocation, then the second, and so on until one run needs no more. Each
// failure is an error of the right class, leaves no library error behind, and spills no secret.
TEST_P(PrimitiveMemory, EachAllocationMayBeRefused) {
  ASSERT_TRUE(GetParam().run().ok());  // algorithms are fetched once, for all that follows
  size_t failure_count = 0;
  for (size_t nth = 1;; ++nth) {
    ASSERT_LT(nth, 1000U);
    fail_in = nth;
    failed = false;
    watched_secret = kSecret;
    spilled_count = 0;
    const Status status = GetParam().run();
    fail_in = 0;
    watched_secret = {};
    EXPECT_EQ(spilled_count, 0U);
    EXPECT_EQ(ERR_peek_error(), 0U);
    if (!failed) {
      EXPECT_TRUE(status.ok());
      break;
    }
    if (status.ok()) continue;  // the library has another way, or needs the block for a cache only
    ++failure_count;
    EXPECT_TRUE(status.error().code() == ErrorCode::kCrypto ||
                status.error().code() == ErrorCode::kTooLarge)
        << nth << ": " << status.error().message();
  }
  EXPECT_GT(failure_count, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, PrimitiveMemory,
    ::testing::Values(
        Primitive{"ChaCha20Poly1305", UseAead},
        Primitive{"Sha256", [] { return UseHash(Sha2::kSha256, 32, true); }},
        Primitive{"Sha256Unfinished", [] { return UseHash(Sha2::kSha256, 32, false); }},
        Primitive{"Sha512", [] { return UseHash(Sha2::kSha512, 64, true); }},
        Primitive{"Sha512Unfinished", [] { return UseHash(Sha2::kSha512, 64, false); }},
        Primitive{"Sha2Once", UseHashOnce}, Primitive{"HmacSha256", UseHmac},
        Primitive{"HkdfSha256", UseHkdf}, Primitive{"X25519", UseX25519},
        Primitive{"Scrypt", UseScrypt}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace coffer::crypto
