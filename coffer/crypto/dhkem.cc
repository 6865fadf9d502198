// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/dhkem.h"

#include <algorithm>

#include "coffer/crypto/internal/labeled_kdf.h"

namespace coffer::crypto {
namespace {

constexpr std::array<uint8_t, 5> kSuiteId = {'K', 'E', 'M', kDhkemP256Id >> 8, kDhkemP256Id & 0xff};

// ExtractAndExpand of section 4.1. The context is the ephemeral key and the recipient's.
Result<DhkemShared> ExtractAndExpand(const P256Shared& dh, const DhkemP256Ciphertext& ephemeral,
                                     const P256Point& recipient) {
  Bytes context(ephemeral.begin(), ephemeral.end());
  Append(context, recipient.uncompressed());
  COFFER_ASSIGN_OR_RETURN(const internal::LabeledPrk prk,
                          internal::LabeledExtract(kSuiteId, {}, "eae_prk", dh.Expose()));
  DhkemShared shared;
  COFFER_TRY(
      internal::LabeledExpand(kSuiteId, prk, "shared_secret", context, shared.ExposeMutable()));
  return shared;
}

}  // namespace

Result<DhkemP256Encapsulation> DhkemP256Encapsulate(const P256Point& recipient,
                                                    os::Random& random) {
  P256Scalar ephemeral;
  do {
    random.Fill(ephemeral.ExposeMutable());
  } while (!IsP256Scalar(ephemeral));
  return DhkemP256EncapsulateWith(recipient, ephemeral);
}

Result<DhkemP256Encapsulation> DhkemP256EncapsulateWith(const P256Point& recipient,
                                                        const P256Scalar& ephemeral) {
  COFFER_ASSIGN_OR_RETURN(const P256Point point, P256Public(ephemeral));
  COFFER_ASSIGN_OR_RETURN(const P256Shared dh, P256(ephemeral, recipient));
  DhkemP256Encapsulation result;
  std::ranges::copy(point.uncompressed(), result.ciphertext.begin());
  COFFER_ASSIGN_OR_RETURN(result.shared, ExtractAndExpand(dh, result.ciphertext, recipient));
  return result;
}

Result<DhkemShared> DhkemP256Decapsulate(const P256Scalar& scalar,
                                         const DhkemP256Ciphertext& ciphertext) {
  COFFER_ASSIGN_OR_RETURN(const P256Point ephemeral, P256Point::Parse(ciphertext));
  COFFER_ASSIGN_OR_RETURN(const P256Point recipient, P256Public(scalar));
  COFFER_ASSIGN_OR_RETURN(const P256Shared dh, P256(scalar, ephemeral));
  return ExtractAndExpand(dh, ciphertext, recipient);
}

}  // namespace coffer::crypto
