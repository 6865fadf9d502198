// SPDX-License-Identifier: Apache-2.0
// One hash over many ML-KEM-768 operations (the recipe of the C2SP CCTV test vectors, with the
// final FIPS 203): all randomness is SHAKE128 of nothing, everything made goes into another
// SHAKE128.
#pragma once

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "coffer/base/ct.h"
#include "coffer/base/hex.h"
#include "coffer/crypto/ml_kem.h"
#include "coffer/crypto/sha3.h"

namespace coffer::crypto::testing {

enum class WithExpandedKeys : uint8_t { kNo, kYes };

inline std::string AccumulateMlKem(int count, WithExpandedKeys with) {
  Shake128 source;
  Shake128 accumulator;
  for (int i = 0; i < count; ++i) {
    MlKemSeed seed;
    source.Squeeze(seed.ExposeMutable());
    const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(seed);
    const MlKemEncapsulationKey public_key = key.encapsulation_key();
    accumulator.Absorb(public_key.bytes());
    if (with == WithExpandedKeys::kYes) accumulator.Absorb(key.ExposeExpanded());

    MlKemMessage m;
    source.Squeeze(m.ExposeMutable());
    const MlKemEncapsulation made = public_key.EncapsulateWith(m);
    accumulator.Absorb(made.ciphertext);
    accumulator.Absorb(made.shared.Expose());
    EXPECT_TRUE(ct::Equal(key.Decapsulate(made.ciphertext).Expose(), made.shared.Expose()))
        << "operation " << i;

    MlKemCiphertext strange;
    source.Squeeze(strange);
    accumulator.Absorb(key.Decapsulate(strange).Expose());
  }
  Bytes digest(32);
  accumulator.Squeeze(digest);
  return hex::Encode(digest);
}

}  // namespace coffer::crypto::testing
