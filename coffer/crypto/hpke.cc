// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/hpke.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "coffer/base/check.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/dhkem.h"
#include "coffer/crypto/hybrid_kem.h"
#include "coffer/crypto/internal/labeled_kdf.h"

namespace coffer::crypto {
namespace {

using SuiteId = std::array<uint8_t, 10>;

SuiteId EncodeSuite(const HpkeSuite& suite) {
  SuiteId id = {'H', 'P', 'K', 'E'};
  const std::span<uint8_t, 10> out(id);
  StoreBigEndian(suite.kem, out.subspan<4, 2>());
  StoreBigEndian(suite.kdf, out.subspan<6, 2>());
  StoreBigEndian(suite.aead, out.subspan<8, 2>());
  return id;
}

constexpr uint8_t kModeBase = 0x00;

}  // namespace

Status HpkeKeySchedule(const HpkeSuite& suite, ByteSpan shared, ByteSpan info, MutableByteSpan key,
                       std::span<uint8_t, 12> base_nonce) {
  COFFER_CHECK(suite.kdf == kHpkeKdfHkdfSha256);
  const SuiteId id = EncodeSuite(suite);
  COFFER_ASSIGN_OR_RETURN(const internal::LabeledPrk psk_id_hash,
                          internal::LabeledExtract(id, {}, "psk_id_hash", {}));
  COFFER_ASSIGN_OR_RETURN(const internal::LabeledPrk info_hash,
                          internal::LabeledExtract(id, {}, "info_hash", info));
  Bytes context = {kModeBase};
  Append(context, psk_id_hash.Expose());
  Append(context, info_hash.Expose());
  COFFER_ASSIGN_OR_RETURN(const internal::LabeledPrk secret,
                          internal::LabeledExtract(id, shared, "secret", {}));
  COFFER_TRY(internal::LabeledExpand(id, secret, "key", context, key));
  return internal::LabeledExpand(id, secret, "base_nonce", context, base_nonce);
}

Result<HpkeContext> HpkeContext::Create(uint16_t kem, ByteSpan shared, ByteSpan info) {
  struct KeyRole;
  SecretArray<ChaCha20Poly1305::kKeySize, KeyRole> key;
  Nonce base_nonce;
  COFFER_TRY(HpkeKeySchedule({.kem = kem}, shared, info, key.ExposeMutable(), base_nonce));
  COFFER_ASSIGN_OR_RETURN(ChaCha20Poly1305 aead, ChaCha20Poly1305::Create(key.Expose()));
  return HpkeContext(std::move(aead), base_nonce);
}

// ComputeNonce of section 5.2.
HpkeContext::Nonce HpkeContext::NextNonce() const {
  COFFER_CHECK(sequence_ != std::numeric_limits<uint64_t>::max());
  Nonce nonce = base_nonce_;
  for (size_t i = 0; i < sizeof(sequence_); ++i) {
    uint8_t& byte = nonce[nonce.size() - 1 - i];
    byte = static_cast<uint8_t>(byte ^ (sequence_ >> (8 * i)));
  }
  return nonce;
}

Status HpkeContext::Seal(ByteSpan aad, ByteSpan plaintext, MutableByteSpan ciphertext) {
  COFFER_TRY(aead_.Seal(NextNonce(), aad, plaintext, ciphertext));
  ++sequence_;
  return OkStatus();
}

Result<bool> HpkeContext::Open(ByteSpan aad, ByteSpan ciphertext, MutableByteSpan plaintext) {
  COFFER_ASSIGN_OR_RETURN(const bool opened, aead_.Open(NextNonce(), aad, ciphertext, plaintext));
  if (opened) ++sequence_;
  return opened;
}

namespace {

// What an encapsulation gives, whatever the KEM.
struct EncAndShared {
  Bytes enc;
  SecretBuffer shared;
};

template <class Encapsulation>
EncAndShared ToEncAndShared(const Encapsulation& made) {
  return {Bytes(made.ciphertext.begin(), made.ciphertext.end()),
          SecretBuffer::CopyOf(ByteSpan(made.shared.Expose()))};
}

Error WrongSize(const char* what, size_t size, size_t expected) {
  return Error(ErrorCode::kInvalidArgument, std::string(what) + " has " + std::to_string(size) +
                                                " bytes, not " + std::to_string(expected));
}

template <class Secret>
Result<Secret> ParsePrivateKey(ByteSpan bytes) {
  if (bytes.size() != Secret::kSize) {
    return WrongSize("the private key", bytes.size(), Secret::kSize);
  }
  return Secret::CopyOf(bytes.first<Secret::kSize>());
}

template <size_t kSize>
Result<std::array<uint8_t, kSize>> ParseEnc(ByteSpan bytes) {
  if (bytes.size() != kSize) return WrongSize("the encapsulated key", bytes.size(), kSize);
  std::array<uint8_t, kSize> enc;
  std::ranges::copy(bytes, enc.begin());
  return enc;
}

template <class Group>
Result<EncAndShared> EncapsulateHybrid(ByteSpan public_key, os::Random& random) {
  COFFER_ASSIGN_OR_RETURN(const HybridEncapsulationKey<Group> key,
                          HybridEncapsulationKey<Group>::Parse(public_key));
  COFFER_ASSIGN_OR_RETURN(const HybridEncapsulation<Group> made, key.Encapsulate(random));
  return ToEncAndShared(made);
}

template <class Group>
Result<SecretBuffer> DecapsulateHybrid(ByteSpan private_key, ByteSpan enc) {
  COFFER_ASSIGN_OR_RETURN(const HybridSeed seed, ParsePrivateKey<HybridSeed>(private_key));
  COFFER_ASSIGN_OR_RETURN(const HybridCiphertext<Group> ciphertext,
                          (ParseEnc<std::tuple_size_v<HybridCiphertext<Group>>>(enc)));
  COFFER_ASSIGN_OR_RETURN(const HybridDecapsulationKey<Group> key,
                          HybridDecapsulationKey<Group>::FromSeed(seed));
  COFFER_ASSIGN_OR_RETURN(const HybridShared shared, key.Decapsulate(ciphertext));
  return SecretBuffer::CopyOf(ByteSpan(shared.Expose()));
}

Result<EncAndShared> EncapsulateDhkem(ByteSpan public_key, os::Random& random) {
  COFFER_ASSIGN_OR_RETURN(const P256Point point, P256Point::Parse(public_key));
  COFFER_ASSIGN_OR_RETURN(const DhkemP256Encapsulation made, DhkemP256Encapsulate(point, random));
  return ToEncAndShared(made);
}

Result<SecretBuffer> DecapsulateDhkem(ByteSpan private_key, ByteSpan enc) {
  COFFER_ASSIGN_OR_RETURN(const P256Scalar scalar, ParsePrivateKey<P256Scalar>(private_key));
  COFFER_ASSIGN_OR_RETURN(const DhkemP256Ciphertext ciphertext,
                          ParseEnc<std::tuple_size_v<DhkemP256Ciphertext>>(enc));
  COFFER_ASSIGN_OR_RETURN(const DhkemShared shared, DhkemP256Decapsulate(scalar, ciphertext));
  return SecretBuffer::CopyOf(ByteSpan(shared.Expose()));
}

Result<EncAndShared> Encapsulate(HpkeKem kem, ByteSpan public_key, os::Random& random) {
  switch (kem) {
    case HpkeKem::kDhkemP256:
      return EncapsulateDhkem(public_key, random);
    case HpkeKem::kMlKem768P256:
      return EncapsulateHybrid<P256Group>(public_key, random);
    case HpkeKem::kXWing:
      return EncapsulateHybrid<X25519Group>(public_key, random);
  }
  return Error(ErrorCode::kInvalidArgument, "no such key encapsulation mechanism");
}

Result<SecretBuffer> Decapsulate(HpkeKem kem, ByteSpan private_key, ByteSpan enc) {
  switch (kem) {
    case HpkeKem::kDhkemP256:
      return DecapsulateDhkem(private_key, enc);
    case HpkeKem::kMlKem768P256:
      return DecapsulateHybrid<P256Group>(private_key, enc);
    case HpkeKem::kXWing:
      return DecapsulateHybrid<X25519Group>(private_key, enc);
  }
  return Error(ErrorCode::kInvalidArgument, "no such key encapsulation mechanism");
}

}  // namespace

Result<HpkeSealed> HpkeSeal(HpkeKem kem, ByteSpan public_key, ByteSpan info, ByteSpan aad,
                            ByteSpan plaintext, os::Random& random) {
  COFFER_ASSIGN_OR_RETURN(EncAndShared made, Encapsulate(kem, public_key, random));
  COFFER_ASSIGN_OR_RETURN(HpkeContext context, HpkeContext::Create(static_cast<uint16_t>(kem),
                                                                   made.shared.Expose(), info));
  HpkeSealed sealed{std::move(made.enc), Bytes(plaintext.size() + HpkeContext::kTagSize)};
  COFFER_TRY(context.Seal(aad, plaintext, sealed.ciphertext));
  return sealed;
}

Result<std::optional<SecretBuffer>> HpkeOpen(HpkeKem kem, ByteSpan private_key, ByteSpan enc,
                                             ByteSpan info, ByteSpan aad, ByteSpan ciphertext) {
  if (ciphertext.size() < HpkeContext::kTagSize) {
    return Error(ErrorCode::kInvalidArgument, "the ciphertext is shorter than its tag");
  }
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer shared, Decapsulate(kem, private_key, enc));
  COFFER_ASSIGN_OR_RETURN(HpkeContext context,
                          HpkeContext::Create(static_cast<uint16_t>(kem), shared.Expose(), info));
  SecretBuffer plaintext(ciphertext.size() - HpkeContext::kTagSize);
  COFFER_ASSIGN_OR_RETURN(const bool opened,
                          context.Open(aad, ciphertext, plaintext.ExposeMutable()));
  if (!opened) return std::optional<SecretBuffer>();
  return std::optional<SecretBuffer>(std::move(plaintext));
}

}  // namespace coffer::crypto
