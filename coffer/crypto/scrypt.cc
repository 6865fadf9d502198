// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/scrypt.h"

#include <cstddef>
#include <optional>
#include <string>

#include <openssl/err.h>

#include "coffer/base/checked.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/internal/openssl.h"

namespace coffer::crypto {
namespace {

constexpr uint64_t kHashSize = 32;

// The bounds of RFC 7914 section 6. After this, 128 * r * 2^log2_n is below 2^67 and 128 * r * p
// below 2^37.
Status CheckParameters(const ScryptParameters& parameters, size_t out_size) {
  if (parameters.log2_n < 1 || parameters.log2_n > 30) {
    return InvalidArgument("the cost of scrypt is 2 to the power of 1 to 30");
  }
  if (parameters.r == 0 || parameters.p == 0 ||
      uint64_t{parameters.r} * parameters.p >= uint64_t{1} << 30) {
    return InvalidArgument("scrypt takes r and p of at least 1 whose product is below 2^30");
  }
  // N < 2^(128 * r / 8)
  if (static_cast<uint64_t>(parameters.log2_n) >= uint64_t{16} * parameters.r) {
    return InvalidArgument("the cost of scrypt is below 2^16 when r is 1");
  }
  if (out_size == 0 || out_size > uint64_t{0xffffffff} * kHashSize) {
    return InvalidArgument("scrypt gives between 1 byte and 128 GiB");
  }
  return OkStatus();
}

// What the library counts against its bound: B (128 r p), V (128 r N) and two blocks of work space.
std::optional<uint64_t> MemoryNeeded(const ScryptParameters& parameters) {
  const uint64_t block_size = uint64_t{128} * parameters.r;
  const uint64_t blocks = (uint64_t{1} << parameters.log2_n) + 2 + parameters.p;
  const std::optional<uint64_t> size = CheckedMultiply(block_size, blocks);
  if (!size || !CheckedCast<std::ptrdiff_t>(*size)) return std::nullopt;
  return size;
}

}  // namespace

Status Scrypt(ByteSpan passphrase, ByteSpan salt, const ScryptParameters& parameters,
              MutableByteSpan out) {
  COFFER_TRY(CheckParameters(parameters, out.size()));
  const std::optional<uint64_t> memory = MemoryNeeded(parameters);
  if (!memory) return Error(ErrorCode::kTooLarge, "scrypt needs more memory than can be addressed");
  internal::InitializeLibrary();
  if (EVP_PBE_scrypt(reinterpret_cast<const char*>(passphrase.data()), passphrase.size(),
                     salt.data(), salt.size(), uint64_t{1} << parameters.log2_n, parameters.r,
                     parameters.p, *memory, out.data(), out.size()) == 1) {
    return OkStatus();
  }
  SecureWipe(out);
  // The library has a limit of its own, near the size of the address space.
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  if (reason != ERR_R_MALLOC_FAILURE && reason != EVP_R_MEMORY_LIMIT_EXCEEDED) {
    return internal::LibraryError("scrypt");
  }
  ERR_clear_error();
  return Error(ErrorCode::kTooLarge, "scrypt needs " + std::to_string((*memory + 0xfffff) >> 20) +
                                         " MiB of memory, which the system does not have");
}

}  // namespace coffer::crypto
