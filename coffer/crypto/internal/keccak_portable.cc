// SPDX-License-Identifier: Apache-2.0
// Keccak in portable C++: the reference for the other files. The round itself is in
// keccak_scalar.h.
#include "coffer/base/endian.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/internal/keccak_scalar.h"

namespace coffer::crypto::internal {
namespace {

void PermuteX1(KeccakX1& state, KeccakRounds rounds) {
  KeccakScalarPermute<1>(&state.word[0][0], rounds);
}

template <size_t kLanes>
void Permute(KeccakStates<kLanes>& states, KeccakRounds rounds) {
  for (size_t i = 0; i < kLanes; ++i) KeccakScalarPermute<kLanes>(&states.word[0][i], rounds);
}

template <size_t kLanes>
void Add(KeccakStates<kLanes>& states, const KeccakInputs<kLanes>& in, size_t words) {
  for (size_t w = 0; w < words; ++w) {
    for (size_t i = 0; i < kLanes; ++i) {
      states.word[w][i] ^=
          LoadLittleEndian<uint64_t>(std::span<const uint8_t, 8>(in[i] + 8 * w, 8));
    }
  }
}

template <size_t kLanes>
void Extract(const KeccakStates<kLanes>& states, const KeccakOutputs<kLanes>& out, size_t words) {
  for (size_t w = 0; w < words; ++w) {
    for (size_t i = 0; i < kLanes; ++i) {
      StoreLittleEndian(states.word[w][i], std::span<uint8_t, 8>(out[i] + 8 * w, 8));
    }
  }
}

}  // namespace

const KeccakImplementation kKeccakPortable = {
    .name = "portable",
    .level = os::SimdLevel::kPortable,
    .permute_x1 = PermuteX1,
    .permute_x4 = Permute<4>,
    .permute_x8 = Permute<8>,
    .add_x4 = Add<4>,
    .add_x8 = Add<8>,
    .extract_x4 = Extract<4>,
    .extract_x8 = Extract<8>,
};

}  // namespace coffer::crypto::internal
