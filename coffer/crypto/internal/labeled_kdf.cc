// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/labeled_kdf.h"

#include "coffer/base/check.h"
#include "coffer/crypto/hkdf.h"

namespace coffer::crypto::internal {
namespace {

constexpr std::string_view kVersion = "HPKE-v1";

}  // namespace

Result<LabeledPrk> LabeledExtract(ByteSpan suite_id, ByteSpan salt, std::string_view label,
                                  ByteSpan ikm) {
  SecretBuffer labeled_ikm;
  labeled_ikm.Reserve(kVersion.size() + suite_id.size() + label.size() + ikm.size());
  labeled_ikm.Append(kVersion);
  labeled_ikm.Append(suite_id);
  labeled_ikm.Append(label);
  labeled_ikm.Append(ikm);
  LabeledPrk prk;
  COFFER_TRY(HkdfSha256Extract(salt, labeled_ikm.Expose(), prk.ExposeMutable()));
  return prk;
}

Status LabeledExpand(ByteSpan suite_id, const LabeledPrk& prk, std::string_view label,
                     ByteSpan info, MutableByteSpan out) {
  COFFER_CHECK(out.size() <= 0xffff);
  Bytes labeled_info = {static_cast<uint8_t>(out.size() >> 8), static_cast<uint8_t>(out.size())};
  Append(labeled_info, AsBytes(kVersion));
  Append(labeled_info, suite_id);
  Append(labeled_info, AsBytes(label));
  Append(labeled_info, info);
  return HkdfSha256Expand(prk.Expose(), labeled_info, out);
}

}  // namespace coffer::crypto::internal
