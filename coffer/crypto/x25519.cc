// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/x25519.h"

#include <utility>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/proverr.h>

#include "coffer/base/ct.h"
#include "coffer/crypto/internal/openssl.h"

namespace coffer::crypto {
namespace {

constexpr std::string_view kName = "X25519";
constexpr const char* kAlgorithm = "X25519";

using Key = internal::Owned<EVP_PKEY, EVP_PKEY_free>;
using KeyContext = internal::Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;

Error LowOrder() {
  return Error(ErrorCode::kInvalidArgument, "X25519: the public key is of low order");
}

// A key pair for derivation alone. Its public half is given, though wrong, because the library
// otherwise multiplies the base point to find it: that would double the cost of an exchange, which
// never looks at it. The library's copy of the scalar is wiped when the key is freed.
Key MakeDerivationKey(const X25519Scalar& scalar) {
  static constexpr X25519Point kUnused = {9};
  KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kAlgorithm, nullptr));
  if (context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  // The library takes these as void*, and only reads them.
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PRIV_KEY,
                                        const_cast<uint8_t*>(scalar.Expose().data()), kX25519Size),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY,
                                        const_cast<uint8_t*>(kUnused.data()), kX25519Size),
      OSSL_PARAM_construct_end(),
  };
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters) != 1) {
    return nullptr;
  }
  return Key(key);
}

}  // namespace

Result<X25519Point> X25519Public(const X25519Scalar& scalar) {
  internal::InitializeLibrary();
  const Key key(EVP_PKEY_new_raw_private_key_ex(nullptr, kAlgorithm, nullptr,
                                                scalar.Expose().data(), kX25519Size));
  X25519Point point;
  size_t size = point.size();
  if (key == nullptr || EVP_PKEY_get_raw_public_key(key.get(), point.data(), &size) != 1 ||
      size != point.size()) {
    return internal::LibraryError(kName);
  }
  return point;
}

Result<X25519Shared> X25519(const X25519Scalar& scalar, const X25519Point& point) {
  internal::InitializeLibrary();
  const Key key = MakeDerivationKey(scalar);
  const Key peer(
      EVP_PKEY_new_raw_public_key_ex(nullptr, kAlgorithm, nullptr, point.data(), point.size()));
  if (key == nullptr || peer == nullptr) return internal::LibraryError(kName);
  const KeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  if (context == nullptr || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer_ex(context.get(), peer.get(), 0) != 1) {
    return internal::LibraryError(kName);
  }
  X25519Shared shared;
  size_t size = kX25519Size;
  if (EVP_PKEY_derive(context.get(), shared.ExposeMutable().data(), &size) != 1) {
    // The library refuses an all-zero result by itself, and has no other reason of this number.
    if (ERR_GET_REASON(ERR_peek_last_error()) != PROV_R_FAILED_DURING_DERIVATION) {
      return internal::LibraryError(kName);
    }
    ERR_clear_error();
    return LowOrder();
  }
  if (size != kX25519Size) return internal::LibraryError(kName);
  if (ct::IsAllZero(shared.Expose())) return LowOrder();
  return shared;
}

}  // namespace coffer::crypto
