// SPDX-License-Identifier: Apache-2.0
// Diffie-Hellman on the curve P-256 (SP 800-186, SEC 1), over libcrypto.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::crypto {

struct P256ScalarRole;
struct P256SharedRole;

using P256Scalar = SecretArray<32, P256ScalarRole>;  // big-endian, from 1 to the order less 1
using P256Shared = SecretArray<32, P256SharedRole>;  // the x-coordinate, big-endian

// A point of the curve other than the one at infinity.
class P256Point {
 public:
  static constexpr size_t kUncompressedSize = 65;
  static constexpr size_t kCompressedSize = 33;

  // Takes either form of SEC 1 section 2.3.3, which the size tells apart. kInvalidArgument if it is
  // malformed or not on the curve.
  static Result<P256Point> Parse(ByteSpan bytes);

  [[nodiscard]] std::span<const uint8_t, kUncompressedSize> uncompressed() const { return bytes_; }
  [[nodiscard]] std::array<uint8_t, kCompressedSize> compressed() const;

  bool operator==(const P256Point&) const = default;

 private:
  friend Result<P256Point> P256Public(const P256Scalar& scalar);
  P256Point() = default;

  std::array<uint8_t, kUncompressedSize> bytes_{};
};

// Whether 32 bytes are a scalar: not 0 and below the order. Only the answer becomes public; that it
// is no has a probability of 2^-32 for random ones.
[[nodiscard]] bool IsP256Scalar(const P256Scalar& candidate);

// The public key of a scalar, and the secret that it shares with the owner of another. Both give
// kInvalidArgument if it is not a scalar.
Result<P256Point> P256Public(const P256Scalar& scalar);
Result<P256Shared> P256(const P256Scalar& scalar, const P256Point& point);

}  // namespace coffer::crypto
