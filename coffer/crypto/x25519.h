// SPDX-License-Identifier: Apache-2.0
// X25519 (RFC 7748).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::crypto {

struct X25519ScalarRole;
struct X25519SharedRole;

inline constexpr size_t kX25519Size = 32;
using X25519Scalar = SecretArray<kX25519Size, X25519ScalarRole>;  // clamped when it is used
using X25519Shared = SecretArray<kX25519Size, X25519SharedRole>;
using X25519Point = std::array<uint8_t, kX25519Size>;  // a u-coordinate, little-endian

// The public key of a scalar: its product with the base point.
Result<X25519Point> X25519Public(const X25519Scalar& scalar);

// The shared secret. kInvalidArgument if it is all zero, which a point of low order gives
// (RFC 7748 section 6.1): callers say what that means for them.
Result<X25519Shared> X25519(const X25519Scalar& scalar, const X25519Point& point);

}  // namespace coffer::crypto
