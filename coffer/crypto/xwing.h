// SPDX-License-Identifier: Apache-2.0
// X-Wing (draft-connolly-cfrg-xwing-kem): ML-KEM-768 together with X25519. The KEM of the age
// recipient type mlkem768x25519, and HPKE's 0x647a.
#pragma once

#include "coffer/crypto/hybrid_kem.h"

namespace coffer::crypto {

inline constexpr size_t kXWingEncapsulationKeySize = 1216;
inline constexpr size_t kXWingCiphertextSize = 1120;

using XWingSeed = HybridSeed;
using XWingShared = HybridShared;
using XWingRandomness = HybridRandomness<X25519Group>;
using XWingCiphertext = HybridCiphertext<X25519Group>;
using XWingEncapsulation = HybridEncapsulation<X25519Group>;
using XWingEncapsulationKey = HybridEncapsulationKey<X25519Group>;
using XWingDecapsulationKey = HybridDecapsulationKey<X25519Group>;

static_assert(XWingEncapsulationKey::kSize == kXWingEncapsulationKeySize);
static_assert(sizeof(XWingCiphertext) == kXWingCiphertextSize);

}  // namespace coffer::crypto
