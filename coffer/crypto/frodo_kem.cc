// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/frodo_kem.h"

#include <algorithm>
#include <string>

#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/frodo_scheme.h"

namespace coffer::crypto {
namespace {

template <class P>
Status CheckSize(std::string_view what, size_t size, size_t wanted) {
  if (size == wanted) return OkStatus();
  return Error(ErrorCode::kInvalidArgument, std::string(P::kName) + " " + std::string(what) +
                                                " has " + std::to_string(size) + " bytes, not " +
                                                std::to_string(wanted));
}

}  // namespace

template <class P>
auto FrodoKem<P>::PublicKey::Create(ByteSpan bytes) -> Result<PublicKey> {
  COFFER_TRY(CheckSize<P>("public key", bytes.size(), P::kPublicKeySize));
  PublicKey key;
  key.bytes_.assign(bytes.begin(), bytes.end());
  return key;
}

template <class P>
void FrodoKem<P>::PublicKey::CacheHash() {
  if (hash_) return;
  std::array<uint8_t, P::kSecuritySize> hash;
  internal::FrodoScheme<P>::HashPublicKey(
      internal::Frodo(), ByteSpan(bytes_).template first<P::kPublicKeySize>(), hash);
  hash_ = hash;
}

template <class P>
auto FrodoKem<P>::PrivateKey::FromSeeds(const Seeds& seeds) -> Result<PrivateKey> {
  PrivateKey key;
  key.expanded_ = SecretBuffer(P::kPrivateKeySize);
  COFFER_TRY(internal::FrodoScheme<P>::GenerateKey(
      internal::Frodo(), seeds.Expose(),
      key.expanded_.ExposeMutable().template first<P::kPrivateKeySize>()));
  return key;
}

template <class P>
auto FrodoKem<P>::PrivateKey::Create(ByteSpan expanded) -> Result<PrivateKey> {
  COFFER_TRY(CheckSize<P>("private key", expanded.size(), P::kPrivateKeySize));
  PrivateKey key;
  key.expanded_ = SecretBuffer::CopyOf(expanded);
  return key;
}

template <class P>
auto FrodoKem<P>::PrivateKey::PublicKeyOf() const -> PublicKey {
  const ByteSpan expanded = expanded_.Expose();
  PublicKey key;
  const ByteSpan bytes = expanded.subspan(P::kSecuritySize, P::kPublicKeySize);
  key.bytes_.assign(bytes.begin(), bytes.end());
  key.hash_.emplace();
  std::ranges::copy(expanded.last(P::kSecuritySize), key.hash_->begin());
  return key;
}

template <class P>
auto FrodoKem<P>::GenerateKey(os::Random& random) -> Result<PrivateKey> {
  Seeds seeds;
  random.Fill(seeds.ExposeMutable());
  return PrivateKey::FromSeeds(seeds);
}

template <class P>
auto FrodoKem<P>::Encapsulate(const PublicKey& key, os::Random& random) -> Result<Encapsulated> {
  Coins coins;
  random.Fill(coins.ExposeMutable());
  return EncapsulateWith(key, coins);
}

template <class P>
auto FrodoKem<P>::EncapsulateWith(const PublicKey& key, const Coins& coins)
    -> Result<Encapsulated> {
  Encapsulated result;
  result.ciphertext.resize(P::kCiphertextSize);
  COFFER_TRY(internal::FrodoScheme<P>::Encapsulate(
      internal::Frodo(), ByteSpan(key.bytes_).template first<P::kPublicKeySize>(), key.hash(),
      coins.Expose(), MutableByteSpan(result.ciphertext).template first<P::kCiphertextSize>(),
      result.shared_secret.ExposeMutable()));
  return result;
}

template <class P>
auto FrodoKem<P>::Decapsulate(const PrivateKey& key, ByteSpan ciphertext) -> Result<SharedSecret> {
  COFFER_TRY(CheckSize<P>("ciphertext", ciphertext.size(), P::kCiphertextSize));
  COFFER_CHECK(!key.expanded_.empty());
  SharedSecret shared_secret;
  COFFER_TRY(internal::FrodoScheme<P>::Decapsulate(
      internal::Frodo(), key.expanded_.Expose().template first<P::kPrivateKeySize>(),
      ciphertext.template first<P::kCiphertextSize>(), shared_secret.ExposeMutable()));
  return shared_secret;
}

#define COFFER_FRODO_DEFINE(P) template class FrodoKem<P>;
COFFER_FRODO_FOR_EACH_SET(COFFER_FRODO_DEFINE)
#undef COFFER_FRODO_DEFINE

}  // namespace coffer::crypto
