// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/k_pke.h"

#include <algorithm>
#include <cstring>

#include "coffer/base/check.h"
#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/sha3.h"

namespace coffer::crypto::internal {
namespace {

constexpr uint8_t kShakeSuffix = 0x1f;
constexpr uint8_t kLastPadByte = 0x80;

using Noise = std::array<uint8_t, kNoiseSize>;

// Exclusive or of `bytes`, a multiple of 8, to the front of one lane's state.
void AddToLane(KeccakStates<4>& states, size_t lane, ByteSpan bytes) {
  for (size_t w = 0; w < bytes.size() / 8; ++w) {
    states.word[w][lane] ^= LoadLittleEndian<uint64_t>(bytes.subspan(8 * w).first<8>());
  }
}

void ClearLane(KeccakStates<4>& states, size_t lane) {
  for (auto& word : states.word) word[lane] = 0;
}

// XOF.Init and XOF.Absorb of algorithm 7: SHAKE128 of rho and two indices.
void StartEntry(KeccakStates<4>& states, size_t lane, PkeSeed rho, uint8_t j, uint8_t i) {
  ClearLane(states, lane);
  AddToLane(states, lane, rho);
  const uint64_t indices_and_suffix = static_cast<uint64_t>(j) | static_cast<uint64_t>(i) << 8 |
                                      static_cast<uint64_t>(kShakeSuffix) << 16;
  states.word[kPkeSeedSize / 8][lane] = indices_and_suffix;
  states.word[Shake128::kRate / 8 - 1][lane] ^= static_cast<uint64_t>(kLastPadByte) << 56;
}

// The rest of an entry that three blocks were not enough for, from where its lane stands.
void FinishEntry(const KeccakStates<4>& states, size_t lane, std::span<int16_t> out) {
  KeccakStates<1> state;
  for (size_t w = 0; w < kKeccakWords; ++w) state.word[w][0] = states.word[w][lane];
  while (!out.empty()) {
    Keccak().permute_x1(state, KeccakRounds::k24);
    std::array<uint8_t, Shake128::kRate> block;
    for (size_t w = 0; w < block.size() / 8; ++w) {
      StoreLittleEndian(state.word[w][0], std::span(block).subspan(8 * w).first<8>());
    }
    out = out.subspan(MlKem().sample_uniform(block, out));
  }
}

}  // namespace

void SideHash::Pad(size_t begin, size_t end, uint8_t suffix) {
  blocks_[begin] = suffix;
  blocks_[end - 1] = static_cast<uint8_t>(blocks_[end - 1] ^ kLastPadByte);
}

void SideHash::HashOne(std::initializer_list<ByteSpan> parts, uint8_t suffix,
                       std::span<uint8_t, 32> digest) {
  size_t size = 0;
  for (ByteSpan part : parts) {
    COFFER_CHECK(part.size() < blocks_.size() - size);
    std::memcpy(blocks_.data() + size, part.data(), part.size());
    size += part.size();
  }
  COFFER_CHECK(size >= (kSteps - 1) * kRate);
  Pad(size, blocks_.size(), suffix);
  step_count_ = kSteps;
  one_message_ = true;
  out_ = digest;
}

void SideHash::ExpandNoise(PkeSeed key, uint8_t count, MutableByteSpan noise) {
  COFFER_CHECK(count <= kSteps && noise.size() == count * kNoiseSize);
  for (uint8_t n = 0; n < count; ++n) {
    uint8_t* const block = blocks_.data() + n * kRate;
    std::memcpy(block, key.data(), key.size());
    block[key.size()] = n;
    Pad(n * kRate + key.size() + 1, (n + 1U) * kRate, kShakeSuffix);
  }
  step_count_ = count;
  one_message_ = false;
  out_ = noise;
}

void SideHash::Feed(size_t step, KeccakStates<4>& states) {
  if (step >= step_count_) return;
  if (!one_message_) ClearLane(states, 0);
  AddToLane(states, 0, ByteSpan(blocks_).subspan(step * kRate, kRate));
}

void SideHash::Take(size_t step, std::span<const uint8_t, kRate> squeezed) {
  if (step >= step_count_) return;
  if (!one_message_) {
    std::memcpy(out_.data() + step * kNoiseSize, squeezed.data(), kNoiseSize);
  } else if (step + 1 == step_count_) {
    std::memcpy(out_.data(), squeezed.data(), out_.size());
  }
}

void SampleMatrix(PkeSeed rho, MatrixForm form, SideHash& side, Matrix& matrix) {
  constexpr size_t kBlocksPerEntry = 3;  // make all of an entry with probability 0.99
  static_assert(kK * kBlocksPerEntry == SideHash::kSteps);
  struct Squeezed {
    std::array<uint8_t, kBlocksPerEntry * Shake128::kRate> lane[4];
  };
  Wiped<Squeezed> squeezed;  // lane 0 is the side hash, secret
  KeccakStates<4> states;
  for (size_t i = 0; i < kK; ++i) {
    for (size_t j = 0; j < kK; ++j) {
      const auto row = static_cast<uint8_t>(form == MatrixForm::kPlain ? i : j);
      const auto column = static_cast<uint8_t>(form == MatrixForm::kPlain ? j : i);
      StartEntry(states, 1 + j, rho, column, row);
    }
    for (size_t block = 0; block < kBlocksPerEntry; ++block) {
      const size_t step = kBlocksPerEntry * i + block;
      const size_t offset = block * Shake128::kRate;
      side.Feed(step, states);
      Keccak().permute_x4(states, KeccakRounds::k24);
      Keccak().extract_x4(states,
                          {squeezed.lane[0].data(), squeezed.lane[1].data() + offset,
                           squeezed.lane[2].data() + offset, squeezed.lane[3].data() + offset},
                          Shake128::kRate / 8);
      side.Take(step, std::span(squeezed.lane[0]).first<SideHash::kRate>());
    }
    for (size_t j = 0; j < kK; ++j) {
      const std::span<int16_t> entry(matrix.row[i][j].c);
      const size_t made = MlKem().sample_uniform(squeezed.lane[1 + j], entry);
      if (made < kN) FinishEntry(states, 1 + j, entry.subspan(made));
    }
  }
}

void PkeKeyGen(PkeSeed d, std::span<uint8_t, kPkeEncryptionKeySize> ek,
               std::span<uint8_t, kPkeDecryptionKeySize> dk) {
  struct Secrets {
    std::array<uint8_t, 2 * kPkeSeedSize> rho_and_sigma;
    std::array<Noise, 2 * kK> noise;
    PolyVector s;
    PreparedVector prepared_s;
    Poly e;
    Poly t;
  };
  Wiped<Secrets> secrets;
  const MlKemKernels& kernels = MlKem();

  const uint8_t k = kK;
  Sha3_512::Hash({d, ByteSpan(&k, 1)}, secrets.rho_and_sigma);
  const PkeSeed rho = std::span(secrets.rho_and_sigma).first<kPkeSeedSize>();
  const PkeSeed sigma = std::span(secrets.rho_and_sigma).last<kPkeSeedSize>();
  ct::Unpoison(rho.data(), rho.size());  // a part of the public key

  Matrix a;
  SideHash side;
  side.ExpandNoise(sigma, 2 * kK, {secrets.noise[0].data(), sizeof(secrets.noise)});
  SampleMatrix(rho, MatrixForm::kPlain, side, a);

  for (size_t i = 0; i < kK; ++i) {
    kernels.sample_noise(secrets.noise[i], secrets.s[i]);
    kernels.ntt(secrets.s[i]);
    kernels.prepare(secrets.s[i], secrets.prepared_s[i]);
    kernels.canonicalise(secrets.s[i]);
    kernels.encode(secrets.s[i], dk.subspan(i * kEncodedPolySize).first<kEncodedPolySize>());
  }
  for (size_t i = 0; i < kK; ++i) {
    kernels.sample_noise(secrets.noise[kK + i], secrets.e);
    kernels.ntt(secrets.e);
    kernels.inner_product(a.row[i], secrets.prepared_s, secrets.t);
    kernels.add(secrets.t, secrets.e);
    kernels.canonicalise(secrets.t);
    kernels.encode(secrets.t, ek.subspan(i * kEncodedPolySize).first<kEncodedPolySize>());
  }
  std::ranges::copy(rho, ek.last<kPkeSeedSize>().begin());
  ct::Unpoison(ek.data(), ek.size());  // it is published
}

namespace {

// PRF_2(r, n) for n = 0 to 6, in two calls of four lanes.
void ExpandEncryptionNoise(PkeSeed r, std::array<Noise, 8>& noise) {
  struct Input {
    uint8_t bytes[4][kPkeSeedSize + 1];
  };
  Wiped<Input> input;
  for (uint8_t first = 0; first < 8; first = static_cast<uint8_t>(first + 4)) {
    std::array<ByteSpan, 4> inputs;
    std::array<MutableByteSpan, 4> outputs;
    for (uint8_t lane = 0; lane < 4; ++lane) {
      std::memcpy(input.bytes[lane], r.data(), r.size());
      input.bytes[lane][kPkeSeedSize] = static_cast<uint8_t>(first + lane);
      inputs[lane] = input.bytes[lane];
      outputs[lane] = noise[first + lane];
    }
    Shake256X4 prf;
    prf.Absorb(inputs);
    prf.Squeeze(outputs);
  }
}

}  // namespace

void PkeEncrypt(PkeEncryptionKey ek, const Matrix& transposed, PkeMessage m, PkeSeed r,
                std::span<uint8_t, kPkeCiphertextSize> c) {
  struct Secrets {
    std::array<Noise, 8> noise;
    Poly y;
    PreparedVector prepared_y;
    Poly e;
    Poly sum;
    Poly mu;
  };
  Wiped<Secrets> secrets;
  const MlKemKernels& kernels = MlKem();

  ExpandEncryptionNoise(r, secrets.noise);
  PolyVector t;
  for (size_t i = 0; i < kK; ++i) {
    kernels.decode(ek.subspan(i * kEncodedPolySize).first<kEncodedPolySize>(), t[i]);
    kernels.sample_noise(secrets.noise[i], secrets.y);
    kernels.ntt(secrets.y);
    kernels.prepare(secrets.y, secrets.prepared_y[i]);
  }
  for (size_t i = 0; i < kK; ++i) {
    kernels.sample_noise(secrets.noise[kK + i], secrets.e);
    kernels.inner_product(transposed.row[i], secrets.prepared_y, secrets.sum);
    kernels.inverse_ntt(secrets.sum);
    kernels.add(secrets.sum, secrets.e);
    kernels.canonicalise(secrets.sum);
    kernels.compress_u(secrets.sum, c.subspan(i * kCompressedUSize).first<kCompressedUSize>());
  }
  kernels.sample_noise(secrets.noise[2 * kK], secrets.e);
  kernels.from_message(m, secrets.mu);
  kernels.inner_product(t, secrets.prepared_y, secrets.sum);
  kernels.inverse_ntt(secrets.sum);
  kernels.add(secrets.sum, secrets.e);
  kernels.add(secrets.sum, secrets.mu);
  kernels.canonicalise(secrets.sum);
  kernels.compress_v(secrets.sum, c.last<kCompressedVSize>());
}

void PkeDecrypt(PkeDecryptionKey dk, PkeCiphertext c, std::span<uint8_t, kMessageSize> m) {
  struct Secrets {
    PolyVector s;
    Poly product;
    Poly w;
  };
  Wiped<Secrets> secrets;
  const MlKemKernels& kernels = MlKem();

  Poly u;
  PreparedVector prepared_u;
  for (size_t i = 0; i < kK; ++i) {
    kernels.decompress_u(c.subspan(i * kCompressedUSize).first<kCompressedUSize>(), u);
    kernels.ntt(u);
    kernels.prepare(u, prepared_u[i]);
    kernels.decode(dk.subspan(i * kEncodedPolySize).first<kEncodedPolySize>(), secrets.s[i]);
    kernels.canonicalise(secrets.s[i]);
  }
  kernels.inner_product(secrets.s, prepared_u, secrets.product);
  kernels.inverse_ntt(secrets.product);
  kernels.decompress_v(c.last<kCompressedVSize>(), secrets.w);
  kernels.subtract(secrets.w, secrets.product);
  kernels.canonicalise(secrets.w);
  kernels.to_message(secrets.w, m);
}

bool PkeKeyIsReduced(PkeEncryptionKey ek) {
  int above = 0;
  for (size_t i = 0; i < kK; ++i) {
    Poly t;
    MlKem().decode(ek.subspan(i * kEncodedPolySize).first<kEncodedPolySize>(), t);
    for (int16_t c : t.c) above |= kQ - 1 - c;  // negative for those that are too large
  }
  return above >= 0;
}

}  // namespace coffer::crypto::internal
