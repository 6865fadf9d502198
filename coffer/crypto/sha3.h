// SPDX-License-Identifier: Apache-2.0
// SHA3-256, SHA3-512, SHAKE128 and SHAKE256 (FIPS 202), and SHAKE on four or eight inputs at once.
//
// Everything absorbed and squeezed is taken for secret: only sizes show in time and addresses, and
// states are wiped. Nothing here fails. No object is for use by several threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/crypto/keccak_states.h"

namespace coffer::crypto {

// What tells one sponge function from another (FIPS 202 sections 5 and 6, RFC 9861 section 2).
struct SpongeKind {
  size_t rate;     // bytes of a block
  uint8_t suffix;  // the bits after the message and the first one of the padding
  KeccakRounds rounds;
};
inline constexpr SpongeKind kShake128Kind = {168, 0x1f, KeccakRounds::k24};
inline constexpr SpongeKind kShake256Kind = {136, 0x1f, KeccakRounds::k24};
inline constexpr SpongeKind kSha3Kind256 = {136, 0x06, KeccakRounds::k24};
inline constexpr SpongeKind kSha3Kind512 = {72, 0x06, KeccakRounds::k24};

// Absorb any number of times, then squeeze any number of times: the input and the output are the
// concatenations. Absorbing after squeezing is a broken invariant; Reset() starts again.
class Sponge {
 public:
  explicit Sponge(const SpongeKind& kind) : kind_(kind) {}

  void Absorb(ByteSpan bytes);
  void Squeeze(MutableByteSpan out);
  void Reset();
  // Another suffix than the kind's, for constructions that know it last. Before the first Squeeze.
  void SetSuffix(uint8_t suffix);

 private:
  void Permute();
  void Pad();

  SpongeKind kind_;
  KeccakStates<1> state_;
  size_t position_ =
      0;  // bytes of the block that are absorbed or squeezed; below rate between calls
  bool squeezing_ = false;
};

class Shake128 : public Sponge {
 public:
  static constexpr size_t kRate = kShake128Kind.rate;
  Shake128() : Sponge(kShake128Kind) {}
};

class Shake256 : public Sponge {
 public:
  static constexpr size_t kRate = kShake256Kind.rate;
  Shake256() : Sponge(kShake256Kind) {}
};

// SHA3 with a digest of kDigestSize bytes.
template <size_t kDigestSize>
class Sha3 {
 public:
  static_assert(kDigestSize == 32 || kDigestSize == 64);
  static constexpr size_t kSize = kDigestSize;

  void Update(ByteSpan bytes) { sponge_.Absorb(bytes); }
  // Writes the digest of everything since the start or the last Finish, and starts again.
  void Finish(std::span<uint8_t, kSize> digest) {
    sponge_.Squeeze(digest);
    sponge_.Reset();
  }

  // The digest of the parts, one after the other.
  static void Hash(std::initializer_list<ByteSpan> parts, std::span<uint8_t, kSize> digest) {
    Sha3 hasher;
    for (ByteSpan part : parts) hasher.Update(part);
    hasher.Finish(digest);
  }
  // The same for what everyone may see.
  static std::array<uint8_t, kSize> HashPublic(ByteSpan bytes) {
    std::array<uint8_t, kSize> digest;
    Hash({bytes}, digest);
    return digest;
  }

 private:
  Sponge sponge_{kDigestSize == 32 ? kSha3Kind256 : kSha3Kind512};
};
using Sha3_256 = Sha3<32>;
using Sha3_512 = Sha3<64>;

// kLanes (4 or 8) sponges that run side by side on the vector unit. Inputs are absorbed whole,
// once; all have one size, and so have all outputs of one call.
template <size_t kLanes>
class ParallelSponge {
 public:
  explicit ParallelSponge(const SpongeKind& kind) : kind_(kind) {}

  void Absorb(const std::array<ByteSpan, kLanes>& inputs);
  // Writes the next bytes of each output. What is left of the last block of a call is lost: the
  // next call begins with the block after it.
  void Squeeze(const std::array<MutableByteSpan, kLanes>& outputs);
  void Reset();

 private:
  SpongeKind kind_;
  KeccakStates<kLanes> states_;
  bool absorbed_ = false;
};
extern template class ParallelSponge<4>;
extern template class ParallelSponge<8>;

template <size_t kLanes>
class ParallelShake128 : public ParallelSponge<kLanes> {
 public:
  static constexpr size_t kRate = kShake128Kind.rate;
  ParallelShake128() : ParallelSponge<kLanes>(kShake128Kind) {}
};
using Shake128X4 = ParallelShake128<4>;
using Shake128X8 = ParallelShake128<8>;

template <size_t kLanes>
class ParallelShake256 : public ParallelSponge<kLanes> {
 public:
  static constexpr size_t kRate = kShake256Kind.rate;
  ParallelShake256() : ParallelSponge<kLanes>(kShake256Kind) {}
};
using Shake256X4 = ParallelShake256<4>;
using Shake256X8 = ParallelShake256<8>;

}  // namespace coffer::crypto
