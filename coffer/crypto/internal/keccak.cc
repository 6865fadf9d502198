// SPDX-License-Identifier: Apache-2.0
// The table of Keccak implementations.
#include "coffer/crypto/internal/keccak.h"

namespace coffer::crypto::internal {

std::span<const KeccakImplementation* const> KeccakImplementations() {
  static constexpr const KeccakImplementation* kTable[] = {
      &kKeccakPortable,
#if defined(__x86_64__)
      &kKeccakAvx2,
      &kKeccakAvx512,
#endif
  };
  return kTable;
}

const KeccakImplementation& Keccak() {
  static const KeccakImplementation& best = []() -> const KeccakImplementation& {
    const KeccakImplementation* chosen = &kKeccakPortable;
    for (const KeccakImplementation* candidate : KeccakImplementations()) {
      if (candidate->level <= os::CpuLevel()) chosen = candidate;
    }
    return *chosen;
  }();
  return best;
}

}  // namespace coffer::crypto::internal
