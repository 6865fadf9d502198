// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/keys.h"

#include "coffer/crypto/hkdf.h"

namespace coffer::age {

Result<PayloadKey> DerivePayloadKey(const FileKey& file_key, PayloadNonce nonce) {
  PayloadKey key;
  COFFER_TRY(crypto::HkdfSha256(
      {.ikm = file_key.Expose(), .salt = nonce, .info = AsBytes("payload")}, key.ExposeMutable()));
  return key;
}

}  // namespace coffer::age
