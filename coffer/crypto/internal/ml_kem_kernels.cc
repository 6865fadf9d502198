// SPDX-License-Identifier: Apache-2.0
// The table of ML-KEM implementations.
#include "coffer/crypto/internal/ml_kem_kernels.h"

namespace coffer::crypto::internal {

std::span<const MlKemKernels* const> MlKemImplementations() {
  static constexpr const MlKemKernels* kTable[] = {
      &kMlKemPortable,
#if defined(__x86_64__)
      &kMlKemAvx2,
#endif
  };
  return kTable;
}

const MlKemKernels& MlKem() {
  static const MlKemKernels& best = []() -> const MlKemKernels& {
    const MlKemKernels* chosen = &kMlKemPortable;
    for (const MlKemKernels* candidate : MlKemImplementations()) {
      if (candidate->level <= os::CpuLevel()) chosen = candidate;
    }
    return *chosen;
  }();
  return best;
}

}  // namespace coffer::crypto::internal
