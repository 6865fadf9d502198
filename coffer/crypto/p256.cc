// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/p256.h"

#include <algorithm>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

#include "coffer/base/ct.h"
#include "coffer/crypto/internal/openssl.h"

namespace coffer::crypto {
namespace {

constexpr std::string_view kName = "P-256";

using Number = internal::Owned<BIGNUM, BN_clear_free>;
using NumberContext = internal::Owned<BN_CTX, BN_CTX_free>;
using Point = internal::Owned<EC_POINT, EC_POINT_clear_free>;

constexpr std::array<uint8_t, 32> kOrder = {
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51};

Error NotAPoint() { return Error(ErrorCode::kInvalidArgument, "P-256: not a point of the curve"); }
Error NotAScalar() { return Error(ErrorCode::kInvalidArgument, "P-256: not a private key"); }

// Null if the library lacks the curve. Never freed, as with fetched algorithms.
const EC_GROUP* Group() {
  internal::InitializeLibrary();
  static const EC_GROUP* const group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
  return group;
}

Number ToNumber(const P256Scalar& scalar) {
  Number number(BN_bin2bn(scalar.Expose().data(), static_cast<int>(P256Scalar::kSize), nullptr));
  if (number != nullptr) BN_set_flags(number.get(), BN_FLG_CONSTTIME);
  return number;
}

}  // namespace

Result<P256Point> P256Point::Parse(ByteSpan bytes) {
  const EC_GROUP* const group = Group();
  if (group == nullptr) return internal::LibraryError(kName);
  const bool compressed = bytes.size() == kCompressedSize && (bytes[0] == 2 || bytes[0] == 3);
  const bool uncompressed = bytes.size() == kUncompressedSize && bytes[0] == 4;
  if (!compressed && !uncompressed) return NotAPoint();
  const Point point(EC_POINT_new(group));
  const NumberContext context(BN_CTX_new());
  if (point == nullptr || context == nullptr) return internal::LibraryError(kName);
  // This looks whether the point is on the curve, in both forms.
  if (EC_POINT_oct2point(group, point.get(), bytes.data(), bytes.size(), context.get()) != 1) {
    ERR_clear_error();
    return NotAPoint();
  }
  P256Point result;
  if (EC_POINT_point2oct(group, point.get(), POINT_CONVERSION_UNCOMPRESSED, result.bytes_.data(),
                         kUncompressedSize, context.get()) != kUncompressedSize) {
    return internal::LibraryError(kName);
  }
  return result;
}

std::array<uint8_t, P256Point::kCompressedSize> P256Point::compressed() const {
  std::array<uint8_t, kCompressedSize> compressed;
  compressed[0] = static_cast<uint8_t>(2 + (bytes_.back() & 1));
  std::copy_n(bytes_.begin() + 1, kCompressedSize - 1, compressed.begin() + 1);
  return compressed;
}

bool IsP256Scalar(const P256Scalar& candidate) {
  const auto bytes = candidate.Expose();
  uint32_t borrow = 0;  // of candidate - order
  uint32_t any = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    const uint32_t difference = uint32_t{bytes[i]} - kOrder[i] - borrow;
    borrow = ct::ValueBarrier(difference >> 31);
    any = ct::ValueBarrier(any | bytes[i]);
  }
  return ct::Declassify(borrow & ~ct::MaskIfZero(any)) != 0;
}

Result<P256Point> P256Public(const P256Scalar& scalar) {
  const EC_GROUP* const group = Group();
  if (group == nullptr) return internal::LibraryError(kName);
  if (!IsP256Scalar(scalar)) return NotAScalar();
  const Number number = ToNumber(scalar);
  const Point point(EC_POINT_new(group));
  const NumberContext context(BN_CTX_secure_new());
  P256Point result;
  if (number == nullptr || point == nullptr || context == nullptr ||
      EC_POINT_mul(group, point.get(), number.get(), nullptr, nullptr, context.get()) != 1 ||
      EC_POINT_point2oct(group, point.get(), POINT_CONVERSION_UNCOMPRESSED, result.bytes_.data(),
                         P256Point::kUncompressedSize,
                         context.get()) != P256Point::kUncompressedSize) {
    return internal::LibraryError(kName);
  }
  return result;
}

Result<P256Shared> P256(const P256Scalar& scalar, const P256Point& point) {
  const EC_GROUP* const group = Group();
  if (group == nullptr) return internal::LibraryError(kName);
  if (!IsP256Scalar(scalar)) return NotAScalar();
  const Number number = ToNumber(scalar);
  const Point factor(EC_POINT_new(group));
  const Point product(EC_POINT_new(group));
  const NumberContext context(BN_CTX_secure_new());
  const auto bytes = point.uncompressed();
  struct Wiped {
    std::array<uint8_t, P256Point::kUncompressedSize> bytes;
    ~Wiped() { SecureWipe(bytes); }
  } encoded;
  if (number == nullptr || factor == nullptr || product == nullptr || context == nullptr ||
      EC_POINT_oct2point(group, factor.get(), bytes.data(), bytes.size(), context.get()) != 1 ||
      EC_POINT_mul(group, product.get(), nullptr, factor.get(), number.get(), context.get()) != 1 ||
      EC_POINT_point2oct(group, product.get(), POINT_CONVERSION_UNCOMPRESSED, encoded.bytes.data(),
                         encoded.bytes.size(), context.get()) != encoded.bytes.size()) {
    return internal::LibraryError(kName);
  }
  return P256Shared::CopyOf(std::span(encoded.bytes).subspan<1, P256Shared::kSize>());
}

}  // namespace coffer::crypto
