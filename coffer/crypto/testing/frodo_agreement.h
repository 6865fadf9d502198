// SPDX-License-Identifier: Apache-2.0
// Whole operations of FrodoKEM on every implementation that may run here, and on the portable one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "coffer/base/bytes.h"
#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/frodo_scheme.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::crypto::testing {

template <class P>
struct FrodoOutcome {
  Bytes private_key = Bytes(P::kPrivateKeySize);
  Bytes ciphertext = Bytes(P::kCiphertextSize);
  Bytes sent = Bytes(P::kSharedSecretSize);
  Bytes received = Bytes(P::kSharedSecretSize);
  bool operator==(const FrodoOutcome&) const = default;
};

// One operation of each kind; the ciphertext is changed on its way if `flip` is one of its bits,
// and the hash of the public key is known or not.
template <class P>
FrodoOutcome<P> RunFrodo(const internal::FrodoImplementation& implementation, ByteSpan seeds,
                         ByteSpan coins, size_t flip, bool hash_known) {
  using Scheme = internal::FrodoScheme<P>;
  FrodoOutcome<P> out;
  EXPECT_TRUE(Scheme::GenerateKey(implementation, seeds.first<P::kSeedsSize>(),
                                  MutableByteSpan(out.private_key).first<P::kPrivateKeySize>())
                  .ok());
  const ByteSpan key = out.private_key;
  EXPECT_TRUE(Scheme::Encapsulate(implementation,
                                  key.subspan<P::kSecuritySize, P::kPublicKeySize>(),
                                  hash_known ? key.last(P::kSecuritySize) : ByteSpan(),
                                  coins.first<P::kCoinsSize>(),
                                  MutableByteSpan(out.ciphertext).first<P::kCiphertextSize>(),
                                  MutableByteSpan(out.sent).first<P::kSharedSecretSize>())
                  .ok());
  if (flip < 8 * P::kCiphertextSize) {
    out.ciphertext[flip / 8] = static_cast<uint8_t>(out.ciphertext[flip / 8] ^ 1U << (flip % 8));
  }
  EXPECT_TRUE(Scheme::Decapsulate(implementation, key.first<P::kPrivateKeySize>(),
                                  ByteSpan(out.ciphertext).first<P::kCiphertextSize>(),
                                  MutableByteSpan(out.received).first<P::kSharedSecretSize>())
                  .ok());
  EXPECT_EQ(out.received == out.sent, flip >= 8 * P::kCiphertextSize);
  return out;
}

// `rounds` times three operations on each implementation, and the same on the portable one.
template <class P>
void ExpectAgreement(uint64_t seed, int rounds) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  for (int i = 0; i < rounds; ++i) {
    const Bytes seeds = random.Take(P::kSeedsSize);
    const Bytes coins = random.Take(P::kCoinsSize);
    const size_t flip = random.Below(16 * P::kCiphertextSize);
    const bool hash_known = random.Below(2) == 0;
    const internal::FrodoImplementation& portable = *internal::FrodoImplementations().front();
    const FrodoOutcome<P> expected = RunFrodo<P>(portable, seeds, coins, flip, hash_known);
    for (const internal::FrodoImplementation* implementation : internal::FrodoImplementations()) {
      if (!internal::FrodoMayRun(*implementation) || implementation == &portable) continue;
      ASSERT_EQ(RunFrodo<P>(*implementation, seeds, coins, flip, hash_known), expected)
          << implementation->name << ", round " << i;
    }
  }
}

}  // namespace coffer::crypto::testing
