// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/frodo_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "coffer/base/check.h"
#include "coffer/base/endian.h"
#include "coffer/base/secret.h"

namespace coffer::crypto::internal {
namespace {

constexpr size_t kRate = kShake128Kind.rate;
static_assert(kShake256Kind.rate <= kRate);

// Rows that can be made ahead: enough, with one lane less than there are, for the hash of a public
// key and of S' to ride to their ends (120, 233 and 320 permutations for n = 640, 976 and 1344,
// where a row is 8, 12 and 16 of them).
constexpr size_t BufferRows(size_t lanes) { return lanes == 8 ? 144 : 64; }

void Permute(const KeccakImplementation& keccak, KeccakX4& states) {
  keccak.permute_x4(states, KeccakRounds::k24);
}
void Permute(const KeccakImplementation& keccak, KeccakX8& states) {
  keccak.permute_x8(states, KeccakRounds::k24);
}
void Extract(const KeccakImplementation& keccak, const KeccakX4& states,
             const KeccakOutputs<4>& out, size_t words) {
  keccak.extract_x4(states, out, words);
}
void Extract(const KeccakImplementation& keccak, const KeccakX8& states,
             const KeccakOutputs<8>& out, size_t words) {
  keccak.extract_x8(states, out, words);
}

void LittleEndianToNative(uint16_t* values, size_t count) {
  if constexpr (std::endian::native == std::endian::little) return;
  for (size_t i = 0; i < count; ++i) values[i] = ByteSwap(values[i]);
}

// The one block of SHAKE128(row || seed), whose 18 bytes are the row number in two and the seed.
void AbsorbRow(size_t row, std::span<const uint8_t, 16> seed, KeccakLane lane) {
  const uint64_t low = LoadLittleEndian<uint64_t>(seed.first<8>());
  const uint64_t high = LoadLittleEndian<uint64_t>(seed.last<8>());
  lane[0] = row | low << 16;
  lane[1] = low >> 48 | high << 16;
  lane[2] = high >> 48 | uint64_t{kShake128Kind.suffix} << 16;
  lane[kRate / 8 - 1] = uint64_t{1} << 63;
}

}  // namespace

FrodoRows::FrodoRows(const FrodoImplementation& implementation, FrodoGenerator generator, size_t n,
                     std::span<const uint8_t, 16> seed, SpongeChain& chain)
    : implementation_(implementation),
      generator_(generator),
      n_(n),
      chain_(chain),
      blocks_((2 * n + kRate - 1) / kRate),
      capacity_(BufferRows(implementation.lanes)) {
  std::copy(seed.begin(), seed.end(), seed_.begin());
  if (generator == FrodoGenerator::kAes128) {
    aes_ = &FrodoBestAes(implementation.level);
    aes_->expand(seed, aes_key_);
    capacity_ = kFrodoGroup;
  }
  buffer_.reset(new (kAlignment) uint16_t[capacity_ * n]);
}

FrodoRows::~FrodoRows() { SecureWipe(unused_); }

// A lane costs its share of every permutation of the rows, alone the chain would cost about three
// lanes' shares for each of its own permutations.
bool FrodoRows::Riding() const {
  return generator_ == FrodoGenerator::kShake128 && chain_.Permutations(blocks_) * 2 >= blocks_;
}

template <size_t kLanes>
void FrodoRows::MakeWithShake(size_t count, bool ride) {
  KeccakStates<kLanes> states;
  for (size_t i = 0; i < count; ++i) {
    AbsorbRow(made_ + i, seed_, KeccakLane{&states.word[0][i], kLanes});
  }
  KeccakOutputs<kLanes> out;
  for (size_t i = 0; i < kLanes; ++i) {
    out[i] = i < count ? reinterpret_cast<uint8_t*>(Row(end_ + i)) : unused_.data();
  }
  const KeccakLane last{&states.word[0][kLanes - 1], kLanes};
  if (ride) chain_.Board(last);
  for (size_t left = 2 * n_; left != 0;) {
    if (ride && !chain_.BeforePermutation(last)) {
      chain_.Leave(last);
      ride = false;
    }
    Permute(*implementation_.keccak, states);
    if (ride) chain_.AfterPermutation(last);
    const size_t size = std::min(left, kRate);
    Extract(*implementation_.keccak, states, out, size / 8);
    for (size_t i = 0; i < count; ++i) out[i] += size;
    left -= size;
  }
  if (ride) chain_.Leave(last);
  LittleEndianToNative(Row(end_), count * n_);
}

void FrodoRows::MakeSome() {
  if (begin_ == end_) {
    begin_ = 0;
    end_ = 0;
  }
  if (generator_ == FrodoGenerator::kAes128) {
    const size_t count = std::min(capacity_ - end_, n_ - made_);
    if (!aes_->rows(aes_key_, made_, count, n_, Row(end_))) failed_ = true;
    LittleEndianToNative(Row(end_), count * n_);
    end_ += count;
    made_ += count;
    return;
  }
  if (end_ + implementation_.lanes > capacity_ || (begin_ != 0 && end_ - begin_ < kFrodoGroup)) {
    // A few rows: they move to the front, so that the part of the buffer in use stays in the cache.
    std::memmove(Row(0), Row(begin_), (end_ - begin_) * n_ * sizeof(uint16_t));
    end_ -= begin_;
    begin_ = 0;
  }
  const bool ride = Riding();
  const size_t count = std::min(implementation_.lanes - (ride ? 1 : 0), n_ - made_);
  if (implementation_.lanes == 8) {
    MakeWithShake<8>(count, ride);
  } else {
    MakeWithShake<4>(count, ride);
  }
  end_ += count;
  made_ += count;
}

void FrodoRows::Advance(size_t job, size_t size) {
  while (chain_.Written(job) < size && Riding() && made_ < n_ &&
         end_ + implementation_.lanes <= capacity_) {
    MakeSome();
  }
  chain_.Run(job, size);
}

const uint16_t* FrodoRows::Next() {
  while (end_ - begin_ < kFrodoGroup) {
    if (made_ == n_ || failed_) return nullptr;
    MakeSome();
  }
  const uint16_t* const group = Row(begin_);
  begin_ += kFrodoGroup;
  return group;
}

}  // namespace coffer::crypto::internal
