// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/sha3.h"

#include <algorithm>

#include "coffer/base/check.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/internal/keccak.h"

namespace coffer::crypto {
namespace {

// Up to seven bytes as the low ones of a word.
uint64_t LoadPartialWord(ByteSpan bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) word |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

void StorePartialWord(uint64_t word, MutableByteSpan out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(word >> (8 * i));
}

// The last one of pad10*1: the top bit of the last byte of a block (FIPS 202 section 5.1).
constexpr uint64_t kPadEnd = uint64_t{1} << 63;

}  // namespace

void Sponge::Permute() {
  internal::Keccak().permute_x1(state_, kind_.rounds);
  position_ = 0;
}

void Sponge::Absorb(ByteSpan bytes) {
  COFFER_CHECK(!squeezing_);
  for (; position_ == 0 && bytes.size() >= kind_.rate; bytes = bytes.subspan(kind_.rate)) {
    for (size_t w = 0; w < kind_.rate / 8; ++w) {
      state_.word[w][0] ^= LoadLittleEndian<uint64_t>(bytes.subspan(8 * w).first<8>());
    }
    Permute();
  }
  while (!bytes.empty()) {
    const size_t offset = position_ % 8;
    uint64_t& word = state_.word[position_ / 8][0];
    size_t taken = 8;
    if (offset == 0 && bytes.size() >= 8) {
      word ^= LoadLittleEndian<uint64_t>(bytes.first<8>());
    } else {
      taken = std::min(8 - offset, bytes.size());
      word ^= LoadPartialWord(bytes.first(taken)) << (8 * offset);
    }
    bytes = bytes.subspan(taken);
    position_ += taken;
    if (position_ == kind_.rate) Permute();
  }
}

void Sponge::Pad() {
  state_.word[position_ / 8][0] ^= static_cast<uint64_t>(kind_.suffix) << (8 * (position_ % 8));
  state_.word[kind_.rate / 8 - 1][0] ^= kPadEnd;
  Permute();
  squeezing_ = true;
}

void Sponge::Squeeze(MutableByteSpan out) {
  if (!squeezing_) Pad();
  while (!out.empty()) {
    if (position_ == kind_.rate) Permute();
    if (position_ == 0 && out.size() >= kind_.rate) {
      for (size_t w = 0; w < kind_.rate / 8; ++w) {
        StoreLittleEndian(state_.word[w][0], out.subspan(8 * w).first<8>());
      }
      out = out.subspan(kind_.rate);
      position_ = kind_.rate;
      continue;
    }
    const size_t offset = position_ % 8;
    const uint64_t word = state_.word[position_ / 8][0];
    size_t given = 8;
    if (offset == 0 && out.size() >= 8) {
      StoreLittleEndian(word, out.first<8>());
    } else {
      given = std::min(8 - offset, out.size());
      StorePartialWord(word >> (8 * offset), out.first(given));
    }
    out = out.subspan(given);
    position_ += given;
  }
}

void Sponge::Reset() {
  state_.Wipe();
  position_ = 0;
  squeezing_ = false;
}

void Sponge::SetSuffix(uint8_t suffix) {
  COFFER_CHECK(!squeezing_);
  kind_.suffix = suffix;
}

namespace {

void Permute(KeccakStates<4>& states, KeccakRounds rounds) {
  internal::Keccak().permute_x4(states, rounds);
}
void Permute(KeccakStates<8>& states, KeccakRounds rounds) {
  internal::Keccak().permute_x8(states, rounds);
}
void Add(KeccakStates<4>& states, const internal::KeccakInputs<4>& in, size_t words) {
  internal::Keccak().add_x4(states, in, words);
}
void Add(KeccakStates<8>& states, const internal::KeccakInputs<8>& in, size_t words) {
  internal::Keccak().add_x8(states, in, words);
}
void Extract(const KeccakStates<4>& states, const internal::KeccakOutputs<4>& out, size_t words) {
  internal::Keccak().extract_x4(states, out, words);
}
void Extract(const KeccakStates<8>& states, const internal::KeccakOutputs<8>& out, size_t words) {
  internal::Keccak().extract_x8(states, out, words);
}

}  // namespace

template <size_t kLanes>
void ParallelSponge<kLanes>::Absorb(const std::array<ByteSpan, kLanes>& inputs) {
  COFFER_CHECK(!absorbed_);
  absorbed_ = true;
  const size_t size = inputs[0].size();
  internal::KeccakInputs<kLanes> from;
  for (size_t i = 0; i < kLanes; ++i) {
    COFFER_CHECK(inputs[i].size() == size);
    from[i] = inputs[i].data();
  }
  size_t left = size;
  for (; left >= kind_.rate; left -= kind_.rate) {
    Add(states_, from, kind_.rate / 8);
    Permute(states_, kind_.rounds);
    for (const uint8_t*& input : from) input += kind_.rate;
  }
  const size_t words = left / 8;
  if (words != 0) Add(states_, from, words);
  const size_t rest = left % 8;
  for (size_t i = 0; i < kLanes; ++i) {
    states_.word[words][i] ^=
        LoadPartialWord(inputs[i].last(rest)) | static_cast<uint64_t>(kind_.suffix) << (8 * rest);
    states_.word[kind_.rate / 8 - 1][i] ^= kPadEnd;
  }
}

template <size_t kLanes>
void ParallelSponge<kLanes>::Squeeze(const std::array<MutableByteSpan, kLanes>& outputs) {
  COFFER_CHECK(absorbed_);
  size_t left = outputs[0].size();
  internal::KeccakOutputs<kLanes> to;
  for (size_t i = 0; i < kLanes; ++i) {
    COFFER_CHECK(outputs[i].size() == left);
    to[i] = outputs[i].data();
  }
  while (left != 0) {
    Permute(states_, kind_.rounds);
    const size_t taken = std::min(left, kind_.rate);
    if (taken >= 8) Extract(states_, to, taken / 8);
    const size_t rest = taken % 8;
    for (size_t i = 0; i < kLanes && rest != 0; ++i) {
      StorePartialWord(states_.word[taken / 8][i], {to[i] + (taken - rest), rest});
    }
    for (uint8_t*& output : to) output += taken;
    left -= taken;
  }
}

template <size_t kLanes>
void ParallelSponge<kLanes>::Reset() {
  states_.Wipe();
  absorbed_ = false;
}

template class ParallelSponge<4>;
template class ParallelSponge<8>;

}  // namespace coffer::crypto
