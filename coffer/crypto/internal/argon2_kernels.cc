// SPDX-License-Identifier: Apache-2.0
// The table of Argon2 implementations.
#include "coffer/crypto/internal/argon2_kernels.h"

namespace coffer::crypto::internal {

std::span<const Argon2Implementation* const> Argon2Implementations() {
  static constexpr const Argon2Implementation* kTable[] = {
      &kArgon2Portable,
#if defined(__x86_64__)
      &kArgon2Avx2,
      &kArgon2Avx512,
#endif
  };
  return kTable;
}

const Argon2Implementation& Argon2() {
  static const Argon2Implementation& best = []() -> const Argon2Implementation& {
    const Argon2Implementation* chosen = &kArgon2Portable;
    for (const Argon2Implementation* candidate : Argon2Implementations()) {
      if (candidate->level <= os::CpuLevel()) chosen = candidate;
    }
    return *chosen;
  }();
  return best;
}

}  // namespace coffer::crypto::internal
