// SPDX-License-Identifier: Apache-2.0
// What the primitives over OpenSSL 3 libcrypto share: start-up, algorithms fetched once, owners of
// its objects, and its errors as ours.
#pragma once

#include <memory>
#include <string_view>

#include <openssl/evp.h>

#include "coffer/base/result.h"

namespace coffer::crypto::internal {

// Brings the library up, the first time it is called, in the way openssl.cc gives reasons for.
// Everything that touches libcrypto calls this, or one of the fetching functions below, first.
void InitializeLibrary();

// Algorithms of the default provider. Each is fetched when it is first asked for, once in the life
// of the process, and never freed. Safe for use by several threads. kCrypto if the library lacks
// it.
Result<const EVP_CIPHER*> FetchChaCha20Poly1305();
Result<const EVP_MD*> FetchSha256();
Result<const EVP_MD*> FetchSha512();

// A kCrypto error that says what failed, with the library's last error number; empties this
// thread's queue of library errors.
Error LibraryError(std::string_view what);

// Owns an object of the library: Owned<EVP_PKEY, EVP_PKEY_free>.
template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
template <class T, auto kFree>
using Owned = std::unique_ptr<T, Free<kFree>>;

}  // namespace coffer::crypto::internal
