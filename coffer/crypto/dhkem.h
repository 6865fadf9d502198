// SPDX-License-Identifier: Apache-2.0
// DHKEM(P-256, HKDF-SHA256), HPKE's 0x0010 (RFC 9180 section 4.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/p256.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

struct DhkemSharedRole;

inline constexpr uint16_t kDhkemP256Id = 0x0010;

using DhkemShared = SecretArray<32, DhkemSharedRole>;
using DhkemP256Ciphertext = std::array<uint8_t, P256Point::kUncompressedSize>;

struct DhkemP256Encapsulation {
  DhkemP256Ciphertext ciphertext;
  DhkemShared shared;
};

Result<DhkemP256Encapsulation> DhkemP256Encapsulate(const P256Point& recipient, os::Random& random);
// The same with a given ephemeral key, which is used once.
Result<DhkemP256Encapsulation> DhkemP256EncapsulateWith(const P256Point& recipient,
                                                        const P256Scalar& ephemeral);

// kInvalidArgument if the ciphertext is not a point.
Result<DhkemShared> DhkemP256Decapsulate(const P256Scalar& scalar,
                                         const DhkemP256Ciphertext& ciphertext);

}  // namespace coffer::crypto
