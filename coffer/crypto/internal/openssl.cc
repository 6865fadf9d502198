// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/openssl.h"

#include <array>
#include <string>

#include <openssl/crypto.h>
#include <openssl/err.h>

namespace coffer::crypto::internal {
namespace {

// Instructions that callgrind counts in a program which fetches SHA-256 and ChaCha20-Poly1305 and
// ends, with OpenSSL 3.0, above the 2.6 million of loading libcrypto:
//
//   library defaults                                    9.6 million
//   no configuration file, no exit handler              6.7 million
//   ... and no tables of names from before providers    3.6 million
//   an OSSL_LIB_CTX of our own, with all of these       3.6 million
//
// 6 million instructions are more than a millisecond, which is as long as all the rest of the
// encryption of a small file. Hence everything that nothing here looks up is left out: algorithms
// are fetched from the provider by name, never found by EVP_get_digestbyname and its kin. A context
// of our own saves nothing.
//
// No configuration file also keeps OPENSSL_CONF and openssl.cnf from loading engines and providers
// into a process that holds keys. No exit handler: the kernel takes the memory back, and threads
// that still run at exit find the library whole.
constexpr uint64_t kStartOptions =
    OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
    OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS;

template <auto kFetch>
auto Fetch(const char* name) {
  InitializeLibrary();
  return kFetch(nullptr, name, nullptr);
}

template <class T>
Result<const T*> Fetched(const T* algorithm, std::string_view name) {
  if (algorithm == nullptr) return LibraryError(name);
  return algorithm;
}

}  // namespace

void InitializeLibrary() {
  // A failure shows in the first call that needs what is missing.
  [[maybe_unused]] static const int kStarted = OPENSSL_init_crypto(kStartOptions, nullptr);
}

Result<const EVP_CIPHER*> FetchChaCha20Poly1305() {
  static const EVP_CIPHER* const kCipher = Fetch<EVP_CIPHER_fetch>("ChaCha20-Poly1305");
  return Fetched(kCipher, "ChaCha20-Poly1305");
}

Result<const EVP_MD*> FetchSha256() {
  static const EVP_MD* const kDigest = Fetch<EVP_MD_fetch>("SHA2-256");
  return Fetched(kDigest, "SHA-256");
}

Result<const EVP_MD*> FetchSha512() {
  static const EVP_MD* const kDigest = Fetch<EVP_MD_fetch>("SHA2-512");
  return Fetched(kDigest, "SHA-512");
}

Error LibraryError(std::string_view what) {
  const auto number = ERR_peek_last_error();
  ERR_clear_error();
  std::string message(what);
  message += ": the cryptographic library failed";
  if (number != 0) {
    std::array<char, 128> text{};
    ERR_error_string_n(number, text.data(), text.size());
    message += " (";
    message += text.data();
    message += ")";
  }
  return Error(ErrorCode::kCrypto, std::move(message));
}

}  // namespace coffer::crypto::internal
