// SPDX-License-Identifier: Apache-2.0
// Keccak-p[1600, 24] and Keccak-p[1600, 12] (FIPS 202 section 3.3) on one, four or eight states at
// once, and the table of their implementations.
//
// States are secret as far as this file knows: no branch and no address depends on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "coffer/crypto/keccak_states.h"
#include "coffer/os/cpu.h"

namespace coffer::crypto::internal {

using KeccakX1 = KeccakStates<1>;
using KeccakX4 = KeccakStates<4>;
using KeccakX8 = KeccakStates<8>;

template <size_t kLanes>
using KeccakInputs = std::array<const uint8_t*, kLanes>;
template <size_t kLanes>
using KeccakOutputs = std::array<uint8_t*, kLanes>;

// One implementation of everything. `add` takes the first `words` * 8 bytes of each input into the
// first words of its state by exclusive or; `extract` writes the first words of each state out.
struct KeccakImplementation {
  std::string_view name;
  os::SimdLevel level;
  void (*permute_x1)(KeccakX1& state, KeccakRounds rounds);
  void (*permute_x4)(KeccakX4& states, KeccakRounds rounds);
  void (*permute_x8)(KeccakX8& states, KeccakRounds rounds);
  void (*add_x4)(KeccakX4& states, const KeccakInputs<4>& in, size_t words);
  void (*add_x8)(KeccakX8& states, const KeccakInputs<8>& in, size_t words);
  void (*extract_x4)(const KeccakX4& states, const KeccakOutputs<4>& out, size_t words);
  void (*extract_x8)(const KeccakX8& states, const KeccakOutputs<8>& out, size_t words);
};

extern const KeccakImplementation kKeccakPortable;
#if defined(__x86_64__)
extern const KeccakImplementation kKeccakAvx2;
extern const KeccakImplementation kKeccakAvx512;
#endif

// All that this build has, portable first, by rising level. Only those up to os::CpuLevel() may
// run.
std::span<const KeccakImplementation* const> KeccakImplementations();

// The best that may run here; chosen once.
const KeccakImplementation& Keccak();

}  // namespace coffer::crypto::internal
