// SPDX-License-Identifier: Apache-2.0
// The key encapsulation of FIPS 203, sections 6 and 7, over internal/k_pke.h.
#include "coffer/crypto/ml_kem.h"

#include <algorithm>
#include <string>

#include "coffer/base/ct.h"
#include "coffer/crypto/internal/k_pke.h"
#include "coffer/crypto/sha3.h"

namespace coffer::crypto {
namespace {

using internal::kPkeDecryptionKeySize;
using internal::kPkeSeedSize;

static_assert(kMlKemEncapsulationKeySize == internal::kPkeEncryptionKeySize);
static_assert(kMlKemCiphertextSize == internal::kPkeCiphertextSize);

constexpr size_t kHashSize = 32;
constexpr size_t kEkOffset = kPkeDecryptionKeySize;
constexpr size_t kHashOffset = kEkOffset + kMlKemEncapsulationKeySize;
constexpr size_t kZOffset = kHashOffset + kHashSize;
static_assert(kZOffset + kPkeSeedSize == kMlKemExpandedKeySize);

// The parts of an expanded key (algorithm 16, step 3).
template <class Byte>
struct Parts {
  explicit Parts(std::span<Byte, kMlKemExpandedKeySize> dk)
      : dk_pke(dk.template first<kPkeDecryptionKeySize>()),
        ek(dk.template subspan<kEkOffset, kMlKemEncapsulationKeySize>()),
        hash(dk.template subspan<kHashOffset, kHashSize>()),
        z(dk.template subspan<kZOffset, kPkeSeedSize>()) {}

  std::span<Byte, kPkeDecryptionKeySize> dk_pke;
  std::span<Byte, kMlKemEncapsulationKeySize> ek;
  std::span<Byte, kHashSize> hash;
  std::span<Byte, kPkeSeedSize> z;
};

struct SharedAndRandomness {
  std::array<uint8_t, 64> bytes;  // K, then r

  [[nodiscard]] std::span<const uint8_t, 32> shared() const { return std::span(bytes).first<32>(); }
  [[nodiscard]] internal::PkeSeed randomness() const { return std::span(bytes).last<32>(); }
};

internal::PkeSeed Rho(std::span<const uint8_t, kMlKemEncapsulationKeySize> ek) {
  return ek.last<kPkeSeedSize>();
}

}  // namespace

MlKemEncapsulationKey::MlKemEncapsulationKey(std::span<const uint8_t, kSize> bytes) {
  std::ranges::copy(bytes, bytes_.begin());
}

Result<MlKemEncapsulationKey> MlKemEncapsulationKey::Parse(ByteSpan bytes) {
  if (bytes.size() != kSize) {
    return Error(ErrorCode::kInvalidArgument, "an ml-kem-768 public key has " +
                                                  std::to_string(kSize) + " bytes, not " +
                                                  std::to_string(bytes.size()));
  }
  if (!internal::PkeKeyIsReduced(bytes.first<kSize>())) {
    return Error(ErrorCode::kInvalidArgument,
                 "not an ml-kem-768 public key: a coefficient is too large");
  }
  return MlKemEncapsulationKey(bytes.first<kSize>());
}

MlKemEncapsulation MlKemEncapsulationKey::Encapsulate(os::Random& random) const {
  MlKemMessage m;
  random.Fill(m.ExposeMutable());
  return EncapsulateWith(m);
}

MlKemEncapsulation MlKemEncapsulationKey::EncapsulateWith(const MlKemMessage& m) const {
  std::array<uint8_t, kHashSize> hash;
  internal::SideHash h;
  h.HashOne({bytes_}, kSha3Kind256.suffix, hash);
  internal::Matrix transposed;
  internal::SampleMatrix(Rho(bytes_), internal::MatrixForm::kTransposed, h, transposed);

  internal::Wiped<SharedAndRandomness> g;
  Sha3_512::Hash({m.Expose(), hash}, g.bytes);
  MlKemEncapsulation result;
  internal::PkeEncrypt(bytes_, transposed, m.Expose(), g.randomness(), result.ciphertext);
  ct::Unpoison(result.ciphertext.data(), result.ciphertext.size());  // it is sent
  std::ranges::copy(g.shared(), result.shared.ExposeMutable().begin());
  return result;
}

MlKemDecapsulationKey MlKemDecapsulationKey::Generate(os::Random& random) {
  MlKemSeed seed;
  random.Fill(seed.ExposeMutable());
  return FromSeed(seed);
}

MlKemDecapsulationKey MlKemDecapsulationKey::FromSeed(const MlKemSeed& seed) {
  MlKemDecapsulationKey key;
  const Parts<uint8_t> parts(key.expanded_.ExposeMutable());
  internal::PkeKeyGen(seed.Expose().first<kPkeSeedSize>(), parts.ek, parts.dk_pke);
  Sha3_256::Hash({parts.ek}, parts.hash);
  std::ranges::copy(seed.Expose().last<kPkeSeedSize>(), parts.z.begin());
  return key;
}

Result<MlKemDecapsulationKey> MlKemDecapsulationKey::FromExpanded(ByteSpan dk) {
  if (dk.size() != kExpandedSize) {
    return Error(ErrorCode::kInvalidArgument, "an expanded ml-kem-768 private key has " +
                                                  std::to_string(kExpandedSize) + " bytes, not " +
                                                  std::to_string(dk.size()));
  }
  const Parts<const uint8_t> parts(dk.first<kExpandedSize>());
  ct::Unpoison(parts.ek.data(), parts.ek.size());  // both are public
  ct::Unpoison(parts.hash.data(), parts.hash.size());
  if (!std::ranges::equal(Sha3_256::HashPublic(parts.ek), parts.hash)) {
    return Error(ErrorCode::kInvalidArgument,
                 "not an ml-kem-768 private key: its hash of the public key is wrong");
  }
  COFFER_TRY(MlKemEncapsulationKey::Parse(parts.ek));
  MlKemDecapsulationKey key;
  std::ranges::copy(dk, key.expanded_.ExposeMutable().begin());
  return key;
}

MlKemEncapsulationKey MlKemDecapsulationKey::encapsulation_key() const {
  return MlKemEncapsulationKey(Parts<const uint8_t>(expanded_.Expose()).ek);
}

MlKemShared MlKemDecapsulationKey::Decapsulate(const MlKemCiphertext& ciphertext) const {
  struct Secrets {
    std::array<uint8_t, internal::kMessageSize> m;
    SharedAndRandomness g;
    std::array<uint8_t, kHashSize> rejection;
    MlKemCiphertext again;
  };
  internal::Wiped<Secrets> secrets;
  const Parts<const uint8_t> parts(expanded_.Expose());

  internal::PkeDecrypt(parts.dk_pke, ciphertext, secrets.m);
  Sha3_512::Hash({secrets.m, parts.hash}, secrets.g.bytes);

  // J(z, c) is always computed, next to the matrix.
  internal::SideHash j;
  j.HashOne({parts.z, ciphertext}, kShake256Kind.suffix, secrets.rejection);
  internal::Matrix transposed;
  internal::SampleMatrix(Rho(parts.ek), internal::MatrixForm::kTransposed, j, transposed);
  internal::PkeEncrypt(parts.ek, transposed, secrets.m, secrets.g.randomness(), secrets.again);

  // Whether the ciphertext was honest stays secret: no branch, both results are read.
  MlKemShared shared;
  const uint8_t honest = ct::EqualMask(ciphertext, secrets.again);
  ct::SelectBytes(honest, secrets.g.shared(), secrets.rejection, shared.ExposeMutable());
  return shared;
}

}  // namespace coffer::crypto
