// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/hkdf.h"

#include <algorithm>

#include "coffer/base/secret.h"
#include "coffer/crypto/hmac.h"

namespace coffer::crypto {
namespace {

constexpr size_t kHashSize = HmacSha256::kSize;
constexpr size_t kMaxOutputSize = 255 * kHashSize;  // RFC 5869 section 2.3

struct PseudorandomKeyRole;
struct BlockRole;

Status CheckOutputSize(size_t size) {
  if (size <= kMaxOutputSize) return OkStatus();
  return Error(ErrorCode::kInvalidArgument, "HKDF-SHA-256 gives at most 8160 bytes");
}

// RFC 5869 section 2.3: T(i) = HMAC(PRK, T(i-1) | info | i).
Status ExpandBlocks(std::span<const uint8_t, kHashSize> prk, ByteSpan info, MutableByteSpan out) {
  COFFER_ASSIGN_OR_RETURN(HmacSha256 hmac, HmacSha256::Create(prk));
  SecretArray<kHashSize, BlockRole> block;
  for (uint8_t counter = 1; !out.empty(); ++counter) {
    if (counter > 1) COFFER_TRY(hmac.Update(block.Expose()));
    COFFER_TRY(hmac.Update(info));
    COFFER_TRY(hmac.Update(ByteSpan(&counter, 1)));
    COFFER_TRY(hmac.Finish(block.ExposeMutable()));
    const size_t size = std::min(out.size(), kHashSize);
    std::ranges::copy(block.Expose().first(size), out.begin());
    out = out.subspan(size);
  }
  return OkStatus();
}

}  // namespace

Status HkdfSha256Extract(ByteSpan salt, ByteSpan ikm, std::span<uint8_t, 32> prk) {
  // An absent salt is a block of zeros, which is also what HMAC makes of an empty key.
  COFFER_ASSIGN_OR_RETURN(HmacSha256 hmac, HmacSha256::Create(salt));
  COFFER_TRY(hmac.Update(ikm));
  return hmac.Finish(prk);
}

Status HkdfSha256Expand(std::span<const uint8_t, 32> prk, ByteSpan info, MutableByteSpan out) {
  COFFER_TRY(CheckOutputSize(out.size()));
  Status status = ExpandBlocks(prk, info, out);
  if (!status.ok()) SecureWipe(out);
  return status;
}

Status HkdfSha256(const HkdfInput& input, MutableByteSpan out) {
  COFFER_TRY(CheckOutputSize(out.size()));
  SecretArray<kHashSize, PseudorandomKeyRole> prk;
  COFFER_TRY(HkdfSha256Extract(input.salt, input.ikm, prk.ExposeMutable()));
  return HkdfSha256Expand(prk.Expose(), input.info, out);
}

}  // namespace coffer::crypto
