// SPDX-License-Identifier: Apache-2.0
// The tables of FrodoKEM implementations.
#include "coffer/crypto/internal/frodo_kernels.h"

#include <span>

namespace coffer::crypto::internal {
namespace {

bool Always() { return true; }

constexpr FrodoImplementation kPortable = {.name = "portable",
                                           .level = os::SimdLevel::kPortable,
                                           .supported = Always,
                                           .keccak = &kKeccakPortable,
                                           .lanes = 4,
                                           .kernels = &kFrodoKernelsPortable};
#if defined(__x86_64__)
bool HasVnni() { return os::Cpu().avx512vnni; }

constexpr FrodoImplementation kAvx2 = {.name = "avx2",
                                       .level = os::SimdLevel::kAvx2,
                                       .supported = Always,
                                       .keccak = &kKeccakAvx2,
                                       .lanes = 8,
                                       .kernels = &kFrodoKernelsAvx2};
// The first processors with AVX-512 have no VNNI; nearly all of the gain is in the Keccak.
constexpr FrodoImplementation kAvx512 = {.name = "avx512",
                                         .level = os::SimdLevel::kAvx512,
                                         .supported = Always,
                                         .keccak = &kKeccakAvx512,
                                         .lanes = 8,
                                         .kernels = &kFrodoKernelsAvx2};
constexpr FrodoImplementation kAvx512Vnni = {.name = "avx512-vnni",
                                             .level = os::SimdLevel::kAvx512,
                                             .supported = HasVnni,
                                             .keccak = &kKeccakAvx512,
                                             .lanes = 8,
                                             .kernels = &kFrodoKernelsAvx512};
#endif

// The last of a table that is not above `level` and may run.
template <class Entry>
const Entry& Best(std::span<const Entry* const> table, os::SimdLevel level) {
  const Entry* chosen = table.front();
  for (const Entry* entry : table) {
    if (entry->level <= level && FrodoMayRun(*entry)) chosen = entry;
  }
  return *chosen;
}

}  // namespace

std::span<const FrodoImplementation* const> FrodoImplementations() {
  static constexpr const FrodoImplementation* kTable[] = {
      &kPortable,
#if defined(__x86_64__)
      &kAvx2,
      &kAvx512,
      &kAvx512Vnni,
#endif
  };
  return kTable;
}

std::span<const FrodoAes* const> FrodoAesImplementations() {
  static constexpr const FrodoAes* kTable[] = {
      &kFrodoAesPortable,
#if defined(__x86_64__)
      &kFrodoAesNi,
      &kFrodoAesVaes256,
      &kFrodoAesVaes512,
#endif
  };
  return kTable;
}

const FrodoImplementation& Frodo() {
  static const FrodoImplementation& best = Best(FrodoImplementations(), os::CpuLevel());
  return best;
}

const FrodoAes& FrodoBestAes(os::SimdLevel level) { return Best(FrodoAesImplementations(), level); }

}  // namespace coffer::crypto::internal
