// SPDX-License-Identifier: Apache-2.0
// Many threads may be the first to use the library, and use it at once with objects of their own. A
// program of its own, so that nothing has started the library before.
#include <array>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/crypto/argon2id.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/crypto/hkdf.h"
#include "coffer/crypto/scrypt.h"
#include "coffer/crypto/sha2.h"
#include "coffer/crypto/x25519.h"

namespace coffer::crypto {
namespace {

// Each primitive once, each fed with what the one before gave.
Result<std::string> UseAll() {
  COFFER_ASSIGN_OR_RETURN(const auto digest, Sha512(AsBytes("abc")));
  std::array<uint8_t, 32> key;
  COFFER_TRY(HkdfSha256({digest, {}, {}}, key));
  const X25519Scalar scalar = X25519Scalar::CopyOf(key);
  COFFER_ASSIGN_OR_RETURN(const X25519Point point, X25519Public(scalar));
  COFFER_ASSIGN_OR_RETURN(const X25519Shared shared, X25519(scalar, point));
  COFFER_TRY(Scrypt(shared.Expose(), point, {.log2_n = 4}, key));
  COFFER_ASSIGN_OR_RETURN(ChaCha20Poly1305 aead, ChaCha20Poly1305::Create(key));
  std::array<uint8_t, 48> sealed;
  COFFER_TRY(aead.Seal(ChaCha20Poly1305::Nonce(digest.data(), 12), {}, key, sealed));
  return hex::Encode(sealed);
}

TEST(Threads, ManyMayBeFirst) {
  std::vector<std::string> outcomes(8);
  std::vector<std::thread> threads;
  threads.reserve(outcomes.size());
  for (std::string& outcome : outcomes) {
    threads.emplace_back([&outcome] {
      const Result<std::string> result = UseAll();
      outcome = result.ok() ? *result : result.error().message();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Result<std::string> alone = UseAll();
  ASSERT_TRUE(alone.ok()) << alone.error().message();
  for (const std::string& outcome : outcomes) EXPECT_EQ(outcome, *alone);
}

TEST(Threads, HashesOfABatchDoNotMeet) {
  constexpr Argon2idParameters kParameters = {.memory_kib = 64, .passes = 2, .lanes = 2};
  const std::array<uint8_t, 16> salt{};
  std::array<std::array<uint8_t, 32>, 6> tags;
  std::vector<Argon2idJob> jobs;
  jobs.reserve(tags.size());
  for (auto& tag : tags) jobs.push_back({kParameters, {AsBytes("passphrase"), salt}, tag});
  ASSERT_TRUE(Argon2idBatch(jobs).ok());
  for (const auto& tag : tags) EXPECT_EQ(tag, tags[0]);
}

}  // namespace
}  // namespace coffer::crypto
