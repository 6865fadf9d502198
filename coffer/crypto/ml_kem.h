// SPDX-License-Identifier: Apache-2.0
// ML-KEM-768 (FIPS 203): a key encapsulation mechanism that quantum computers do not break, as far
// as is known. The private key is best kept as its 64-byte seed.
//
// Time and addresses depend on public things only: keys that everyone may see, and ciphertexts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/os/random.h"

namespace coffer::crypto {

struct MlKemSeedRole;
struct MlKemMessageRole;
struct MlKemSharedRole;
struct MlKemExpandedRole;

inline constexpr size_t kMlKemEncapsulationKeySize = 1184;
inline constexpr size_t kMlKemExpandedKeySize = 2400;
inline constexpr size_t kMlKemCiphertextSize = 1088;

using MlKemSeed = SecretArray<64, MlKemSeedRole>;        // d, then z
using MlKemMessage = SecretArray<32, MlKemMessageRole>;  // m, the randomness of an encapsulation
using MlKemShared = SecretArray<32, MlKemSharedRole>;
using MlKemCiphertext = std::array<uint8_t, kMlKemCiphertextSize>;

struct MlKemEncapsulation {
  MlKemCiphertext ciphertext;
  MlKemShared shared;
};

class MlKemEncapsulationKey {
 public:
  static constexpr size_t kSize = kMlKemEncapsulationKeySize;

  // Checks the size and that every coefficient is below q (section 7.2), else kInvalidArgument.
  static Result<MlKemEncapsulationKey> Parse(ByteSpan bytes);

  [[nodiscard]] std::span<const uint8_t, kSize> bytes() const { return bytes_; }

  // Algorithm 20.
  [[nodiscard]] MlKemEncapsulation Encapsulate(os::Random& random) const;
  // Algorithm 17: the same with given randomness, which is used once. For constructions that draw
  // it themselves, and for tests.
  [[nodiscard]] MlKemEncapsulation EncapsulateWith(const MlKemMessage& m) const;

 private:
  friend class MlKemDecapsulationKey;
  explicit MlKemEncapsulationKey(std::span<const uint8_t, kSize> bytes);

  std::array<uint8_t, kSize> bytes_;
};

class MlKemDecapsulationKey {
 public:
  static constexpr size_t kExpandedSize = kMlKemExpandedKeySize;

  // Algorithm 19.
  static MlKemDecapsulationKey Generate(os::Random& random);
  // Algorithm 16. Any seed is a key.
  static MlKemDecapsulationKey FromSeed(const MlKemSeed& seed);
  // The expanded form of FIPS 203, for keys that others stored so. Checks the size, the hash of the
  // encapsulation key in it (section 7.3), and that key itself, else kInvalidArgument.
  static Result<MlKemDecapsulationKey> FromExpanded(ByteSpan dk);

  [[nodiscard]] MlKemEncapsulationKey encapsulation_key() const;
  [[nodiscard]] std::span<const uint8_t, kExpandedSize> ExposeExpanded() const {
    return expanded_.Expose();
  }

  // Algorithm 18. A ciphertext that was not made for this key gives a secret that its sender does
  // not know, and nothing tells it from the right one (implicit rejection).
  [[nodiscard]] MlKemShared Decapsulate(const MlKemCiphertext& ciphertext) const;

 private:
  MlKemDecapsulationKey() = default;

  // dk_PKE, ek, H(ek), z; ek and H(ek) are public.
  SecretArray<kExpandedSize, MlKemExpandedRole> expanded_;
};

}  // namespace coffer::crypto
