// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/frodo_scheme.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>

#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/internal/frodo_rows.h"
#include "coffer/crypto/internal/sponge_chain.h"

namespace coffer::crypto::internal {
namespace {

constexpr uint8_t kKeyDomain = 0x5f;      // in front of seedSE for S and E
constexpr uint8_t kMessageDomain = 0x96;  // in front of seedSE for S', E' and E''

Error AesFailed() {
  return Error(ErrorCode::kCrypto,
               "openssl failed at AES-128-ECB, which expands the matrix of FrodoKEM");
}

// Values that were written or are to be read as little-endian bytes.
void SwapIfBigEndian(uint16_t* values, size_t count) {
  if constexpr (std::endian::native == std::endian::little) return;
  for (size_t i = 0; i < count; ++i) values[i] = ByteSwap(values[i]);
}

void AddTo(uint16_t* sum, const uint16_t* more, size_t count) {
  for (size_t i = 0; i < count; ++i) sum[i] = static_cast<uint16_t>(sum[i] + more[i]);
}

// Section 7.3, which adds ec(val) for the 64 substrings of B bits to `c`.
template <class P>
void AddEncoded(std::span<const uint8_t, P::kSecuritySize> mu, uint16_t* c) {
  for (size_t i = 0; i < P::kNBar * P::kNBar; ++i) {
    uint32_t val = 0;
    for (size_t k = 0; k < P::kB; ++k) {
      const size_t bit = i * P::kB + k;
      val |= (uint32_t{mu[bit / 8]} >> (bit % 8) & 1) << k;
    }
    c[i] = static_cast<uint16_t>(c[i] + (val << (P::kD - P::kB)));
  }
}

template <class P>
void Decode(const uint16_t* m, std::span<uint8_t, P::kSecuritySize> mu) {
  std::fill(mu.begin(), mu.end(), uint8_t{0});
  for (size_t i = 0; i < P::kNBar * P::kNBar; ++i) {
    // dc(c) = round(c * 2^B / q) mod 2^B; what is above the D bits of c falls to the modulus.
    const uint32_t rounded = m[i] + (uint32_t{1} << (P::kD - P::kB - 1));
    const uint32_t val = rounded >> (P::kD - P::kB) & ((1U << P::kB) - 1);
    for (size_t k = 0; k < P::kB; ++k) {
      const size_t bit = i * P::kB + k;
      mu[bit / 8] = static_cast<uint8_t>(mu[bit / 8] | (val >> k & 1) << (bit % 8));
    }
  }
}

template <class P>
constexpr size_t kMatrixCount = P::kN * P::kNBar;  // elements of S, E, S', E', B, B'
template <class P>
constexpr size_t kSmallCount = P::kNBar * P::kNBar;  // elements of E'', V, C, M

// What encapsulation computes and decapsulation computes again, wiped at the end.
template <class P>
struct Encryption {
  // The random string, and from it S', E' and E'', one after the other.
  alignas(64) uint16_t samples[2 * kMatrixCount<P> + kSmallCount<P>];
  alignas(64) uint16_t b_prime[kMatrixCount<P>];          // B' = S' * A + E'
  alignas(64) uint16_t b[kMatrixCount<P>];                // B of the public key
  alignas(64) uint16_t c[kSmallCount<P>];                 // C = S' * B + E'' + Encode(mu)
  uint8_t seed_and_k[P::kSeedSeSize + P::kSecuritySize];  // seedSE || k
  uint8_t pkh[P::kSecuritySize];
  uint8_t mu[P::kSecuritySize];

  Encryption() = default;
  Encryption(const Encryption&) = delete;
  Encryption& operator=(const Encryption&) = delete;
  ~Encryption() { SecureWipe(this, sizeof(*this)); }

  [[nodiscard]] std::span<const uint8_t, P::kSecuritySize> k() const {
    return std::span<const uint8_t, P::kSecuritySize>(seed_and_k + P::kSeedSeSize,
                                                      P::kSecuritySize);
  }
  [[nodiscard]] MutableByteSpan SampleBytes() {
    return {reinterpret_cast<uint8_t*>(samples), sizeof(samples)};
  }
};

// Queues the hashes that give seedSE || k and then the samples; returns the number of the last.
template <class P>
size_t AddSeedAndSamples(SpongeChain& chain, ByteSpan pkh, ByteSpan salt, Encryption<P>& work) {
  static constexpr uint8_t kDomain[1] = {kMessageDomain};
  const ByteSpan seed_se = ByteSpan(work.seed_and_k).first(P::kSeedSeSize);
  chain.Add({pkh, work.mu, salt}, work.seed_and_k);
  return chain.Add({kDomain, seed_se}, work.SampleBytes());
}

// Steps 5 to 13 of section 8.2: fills b_prime and c, modulo 2^16. `samples` is the chain's job that
// writes the samples.
template <class P>
Status Encrypt(const FrodoImplementation& implementation, ByteSpan public_key, SpongeChain& chain,
               size_t samples, Encryption<P>& work) {
  const FrodoKernels& kernels = *implementation.kernels;
  uint16_t* const s = work.samples;
  uint16_t* const e = s + kMatrixCount<P>;
  FrodoRows rows(implementation, P::kGenerator, P::kN, public_key.first<P::kSeedASize>(), chain);
  rows.Advance(samples, 2 * kMatrixCount<P>);
  SwapIfBigEndian(s, kMatrixCount<P>);
  kernels.sample(s, kMatrixCount<P>, P::kErrorTable);

  std::fill_n(work.b_prime, kMatrixCount<P>, uint16_t{0});
  for (size_t first = 0; first < P::kN; first += kFrodoGroup) {
    const uint16_t* const group = rows.Next();
    if (group == nullptr) return AesFailed();
    kernels.accumulate_sa(s, first, group, P::kN, work.b_prime);
  }

  chain.Run(samples);
  SwapIfBigEndian(e, kMatrixCount<P> + kSmallCount<P>);
  kernels.sample(e, kMatrixCount<P> + kSmallCount<P>, P::kErrorTable);
  AddTo(work.b_prime, e, kMatrixCount<P>);

  kernels.unpack(public_key.data() + P::kSeedASize, kMatrixCount<P>, P::kD, work.b);
  std::copy_n(e + kMatrixCount<P>, kSmallCount<P>, work.c);
  kernels.accumulate_sb(s, work.b, P::kN, work.c);
  AddEncoded<P>(std::span<const uint8_t, P::kSecuritySize>(work.mu), work.c);
  return OkStatus();
}

// What key generation computes, wiped at the end.
template <class P>
struct KeyWork {
  // The random string, and from it S^T (8 x n) and E (n x 8).
  alignas(64) uint16_t samples[2 * kMatrixCount<P>];
  alignas(64) uint16_t b[kMatrixCount<P>];  // A * S, and then B

  KeyWork() = default;
  KeyWork(const KeyWork&) = delete;
  KeyWork& operator=(const KeyWork&) = delete;
  ~KeyWork() { SecureWipe(this, sizeof(*this)); }

  [[nodiscard]] MutableByteSpan SampleBytes() {
    return {reinterpret_cast<uint8_t*>(samples), sizeof(samples)};
  }
};

// The parts of a private key.
template <class P, class Byte>
struct KeyParts {
  explicit KeyParts(std::span<Byte, P::kPrivateKeySize> key)
      : s(key.template first<P::kSecuritySize>()),
        public_key(key.template subspan<P::kSecuritySize, P::kPublicKeySize>()),
        s_transposed(
            key.template subspan<P::kSecuritySize + P::kPublicKeySize, P::kSecretMatrixSize>()),
        pkh(key.template last<P::kSecuritySize>()) {}
  std::span<Byte, P::kSecuritySize> s;
  std::span<Byte, P::kPublicKeySize> public_key;
  std::span<Byte, P::kSecretMatrixSize> s_transposed;
  std::span<Byte, P::kSecuritySize> pkh;
};

// B = A * S + E, packed into the public key of `key`, and pkh. `samples` and `pkh` are the chain's
// jobs.
template <class P>
Status MakePublicKey(const FrodoImplementation& implementation, KeyParts<P, uint8_t>& key,
                     SpongeChain& chain, size_t samples, size_t pkh, KeyWork<P>& work) {
  constexpr size_t kGroupCount = kFrodoGroup * P::kNBar;
  const FrodoKernels& kernels = *implementation.kernels;
  uint16_t* const s_transposed = work.samples;
  uint16_t* const e = s_transposed + kMatrixCount<P>;
  FrodoRows rows(implementation, P::kGenerator, P::kN,
                 key.public_key.template first<P::kSeedASize>(), chain);
  rows.Advance(samples, 2 * kMatrixCount<P>);
  SwapIfBigEndian(s_transposed, kMatrixCount<P>);
  kernels.sample(s_transposed, kMatrixCount<P>, P::kErrorTable);

  // Rows of B are finished and packed as soon as E is known, so that the hash of the public key can
  // go along.
  bool e_known = false;
  size_t finished = 0;
  for (size_t first = 0; first < P::kN; first += kFrodoGroup) {
    const uint16_t* const group = rows.Next();
    if (group == nullptr) return AesFailed();
    kernels.multiply_rows(group, s_transposed, P::kN, work.b + first * P::kNBar);
    if (first + kFrodoGroup == P::kN) chain.Run(samples);
    if (!e_known && chain.Finished(samples)) {
      SwapIfBigEndian(e, kMatrixCount<P>);
      kernels.sample(e, kMatrixCount<P>, P::kErrorTable);
      e_known = true;
    }
    if (!e_known) continue;
    const size_t count = first * P::kNBar + kGroupCount - finished;
    AddTo(work.b + finished, e + finished, count);
    kernels.pack(work.b + finished, count, P::kD,
                 key.public_key.data() + P::kSeedASize + finished / P::kNBar * P::kPackedRowSize);
    finished += count;
    if (finished < kMatrixCount<P>) {
      chain.Hold(pkh, P::kSeedASize + finished / P::kNBar * P::kPackedRowSize);
    }
  }
  chain.Release(pkh);
  chain.Run(pkh);
  return OkStatus();
}

}  // namespace

template <class P>
Status FrodoScheme<P>::GenerateKey(const FrodoImplementation& implementation,
                                   std::span<const uint8_t, P::kSeedsSize> seeds,
                                   std::span<uint8_t, P::kPrivateKeySize> private_key) {
  static constexpr uint8_t kDomain[1] = {kKeyDomain};
  const auto s = seeds.template first<P::kSecuritySize>();
  const auto seed_se = seeds.template subspan<P::kSecuritySize, P::kSeedSeSize>();
  const auto z = seeds.template last<P::kSeedASize>();
  KeyParts<P, uint8_t> key(private_key);
  auto work = std::make_unique_for_overwrite<KeyWork<P>>();

  SpongeChain chain(*implementation.keccak, P::kHash);
  chain.Run(chain.Add({z}, key.public_key.template first<P::kSeedASize>()));
  const size_t samples = chain.Add({kDomain, seed_se}, work->SampleBytes());
  const size_t pkh = chain.Add({key.public_key}, key.pkh);
  chain.Hold(pkh, P::kSeedASize);
  Status made = MakePublicKey<P>(implementation, key, chain, samples, pkh, *work);
  if (!made.ok()) {
    SecureWipe(private_key);
    return made;
  }
  std::copy(s.begin(), s.end(), key.s.begin());
  SwapIfBigEndian(work->samples, kMatrixCount<P>);
  std::memcpy(key.s_transposed.data(), work->samples, P::kSecretMatrixSize);
  return OkStatus();
}

template <class P>
void FrodoScheme<P>::HashPublicKey(const FrodoImplementation& implementation, PublicKey public_key,
                                   std::span<uint8_t, P::kSecuritySize> pkh) {
  SpongeChain chain(*implementation.keccak, P::kHash);
  chain.Run(chain.Add({public_key}, pkh));
}

template <class P>
Status FrodoScheme<P>::Encapsulate(const FrodoImplementation& implementation, PublicKey public_key,
                                   ByteSpan pkh, std::span<const uint8_t, P::kCoinsSize> coins,
                                   std::span<uint8_t, P::kCiphertextSize> ciphertext,
                                   SharedSecret shared_secret) {
  const auto salt = coins.template last<P::kSaltSize>();
  auto work = std::make_unique_for_overwrite<Encryption<P>>();
  std::copy_n(coins.begin(), P::kSecuritySize, work->mu);

  SpongeChain chain(*implementation.keccak, P::kHash);
  if (pkh.empty()) {
    chain.Add({public_key}, work->pkh);
  } else {
    COFFER_CHECK(pkh.size() == P::kSecuritySize);
    std::copy(pkh.begin(), pkh.end(), work->pkh);
  }
  const size_t samples = AddSeedAndSamples<P>(chain, work->pkh, salt, *work);
  Status encrypted = Encrypt<P>(implementation, public_key, chain, samples, *work);
  if (!encrypted.ok()) {
    SecureWipe(ciphertext);
    SecureWipe(shared_secret);
    return encrypted;
  }
  const FrodoKernels& kernels = *implementation.kernels;
  kernels.pack(work->b_prime, kMatrixCount<P>, P::kD, ciphertext.data());
  kernels.pack(work->c, kSmallCount<P>, P::kD, ciphertext.data() + P::kC1Size);
  std::copy(salt.begin(), salt.end(), ciphertext.template last<P::kSaltSize>().begin());
  chain.Run(chain.Add({ciphertext, work->k()}, shared_secret));
  return OkStatus();
}

template <class P>
Status FrodoScheme<P>::Decapsulate(const FrodoImplementation& implementation,
                                   PrivateKey private_key, Ciphertext ciphertext,
                                   SharedSecret shared_secret) {
  struct Received {
    alignas(64) uint16_t b_prime[kMatrixCount<P>];  // B'
    alignas(64) uint16_t c[kSmallCount<P>];         // C
    alignas(64) uint16_t s_transposed[kMatrixCount<P>];
    alignas(64) uint16_t m[kSmallCount<P>];  // B' * S, and then M
    uint8_t k_hat[P::kSecuritySize];
    ~Received() { SecureWipe(this, sizeof(*this)); }
  };
  const KeyParts<P, const uint8_t> key(private_key);
  const FrodoKernels& kernels = *implementation.kernels;
  auto work = std::make_unique_for_overwrite<Encryption<P>>();
  auto received = std::make_unique_for_overwrite<Received>();

  kernels.unpack(ciphertext.data(), kMatrixCount<P>, P::kD, received->b_prime);
  kernels.unpack(ciphertext.data() + P::kC1Size, kSmallCount<P>, P::kD, received->c);
  std::memcpy(received->s_transposed, key.s_transposed.data(), P::kSecretMatrixSize);
  SwapIfBigEndian(received->s_transposed, kMatrixCount<P>);
  kernels.multiply_rows(received->b_prime, received->s_transposed, P::kN, received->m);
  for (size_t i = 0; i < kSmallCount<P>; ++i) {
    received->m[i] = static_cast<uint16_t>(received->c[i] - received->m[i]);
  }
  Decode<P>(received->m, std::span<uint8_t, P::kSecuritySize>(work->mu));

  // The hash of the ciphertext as it was received goes along with A too, up to kHat at its end.
  SpongeChain chain(*implementation.keccak, P::kHash);
  const auto salt = ciphertext.template last<P::kSaltSize>();
  const size_t samples = AddSeedAndSamples<P>(chain, key.pkh, salt, *work);
  const size_t final_hash = chain.Add({ciphertext, received->k_hat}, shared_secret);
  chain.Hold(final_hash, ciphertext.size());
  Status encrypted = Encrypt<P>(implementation, key.public_key, chain, samples, *work);
  if (!encrypted.ok()) {
    SecureWipe(shared_secret);
    return encrypted;
  }

  // Both comparisons always run, over all of B' and C modulo q, and one mask selects. (Leaving
  // early gives away the private key, eprint 2020/743; so does a test of the or-ed difference that
  // is wrong for its top bit.)
  const uint16_t difference = static_cast<uint16_t>(
      kernels.difference(received->b_prime, work->b_prime, kMatrixCount<P>, P::kModulusMask) |
      kernels.difference(received->c, work->c, kSmallCount<P>, P::kModulusMask));
  const auto equal = static_cast<uint8_t>(ct::MaskIfZero(uint32_t{difference}));
  ct::SelectBytes(equal, work->k(), key.s, received->k_hat);
  chain.Release(final_hash);
  chain.Run(final_hash);
  return OkStatus();
}

#define COFFER_FRODO_DEFINE(P) template struct FrodoScheme<P>;
COFFER_FRODO_FOR_EACH_SET(COFFER_FRODO_DEFINE)
#undef COFFER_FRODO_DEFINE

}  // namespace coffer::crypto::internal
