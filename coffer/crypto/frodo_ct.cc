// SPDX-License-Identifier: Apache-2.0
// FrodoKEM with its secrets marked for memcheck: s, seedSE and mu, and so all that comes from them
// (S, E, S', E', E'', k, the outcome of the comparison). z, seedA, public keys and their hashes,
// salts and ciphertexts are public, and are said to be where they come up.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "coffer/base/bytes.h"
#include "coffer/base/ct.h"
#include "coffer/crypto/frodo_kem.h"
#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/frodo_scheme.h"
#include "coffer/os/cpu.h"

namespace coffer::crypto {
namespace {

// Bytes that differ from their neighbours.
void Fill(MutableByteSpan bytes, uint8_t seed) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(7 * i + seed);
}

void Declassify(ByteSpan bytes) { ct::Unpoison(bytes.data(), bytes.size()); }
void Classify(ByteSpan bytes) { ct::Poison(bytes.data(), bytes.size()); }

bool SameOnceDeclassified(ByteSpan a, ByteSpan b) {
  Declassify(a);
  Declassify(b);
  return std::ranges::equal(a, b);
}

template <class P>
class Runs {
 public:
  // Key generation, encapsulation with and without the hash of the key, and decapsulation of the
  // ciphertext and of changed ones. Returns whether the secrets were the same and not the same as
  // they should be.
  bool Run() {
    MakeKey();
    Encapsulate(key().last(P::kSecuritySize));
    Encapsulate({});
    bool right = Decapsulate() && SameOnceDeclassified(received_, sent_);
    for (size_t place : {size_t{0}, P::kC1Size - 1, P::kC1Size, P::kCiphertextSize - 1}) {
      ciphertext_[place] ^= 0x80;
      right = Decapsulate() && !SameOnceDeclassified(received_, sent_) && right;
      ciphertext_[place] ^= 0x80;
    }
    return right;
  }

 private:
  using Scheme = internal::FrodoScheme<P>;

  [[nodiscard]] ByteSpan key() const { return private_key_; }
  [[nodiscard]] std::span<const uint8_t, P::kPublicKeySize> public_key() const {
    return key().template subspan<P::kSecuritySize, P::kPublicKeySize>();
  }

  void MakeKey() {
    std::array<uint8_t, P::kSeedsSize> seeds;
    Fill(seeds, 1);
    Classify(ByteSpan(seeds).first(P::kSecuritySize + P::kSeedSeSize));
    ok_ = Scheme::GenerateKey(internal::Frodo(), seeds, private_key_).ok();
    Declassify(public_key());
    Declassify(key().last(P::kSecuritySize));
  }

  void Encapsulate(ByteSpan pkh) {
    std::array<uint8_t, P::kCoinsSize> coins;
    Fill(coins, 2);
    Classify(ByteSpan(coins).first(P::kSecuritySize));
    ok_ =
        Scheme::Encapsulate(internal::Frodo(), public_key(), pkh, coins, ciphertext_, sent_).ok() &&
        ok_;
    Declassify(ciphertext_);
  }

  bool Decapsulate() {
    return Scheme::Decapsulate(internal::Frodo(), private_key_, ciphertext_, received_).ok() && ok_;
  }

  std::array<uint8_t, P::kPrivateKeySize> private_key_{};
  std::array<uint8_t, P::kCiphertextSize> ciphertext_{};
  std::array<uint8_t, P::kSharedSecretSize> sent_{};
  std::array<uint8_t, P::kSharedSecretSize> received_{};
  bool ok_ = false;
};

// The comparison that stops at the first difference, which gave away private keys elsewhere.
[[gnu::noinline]] int LeakByComparison(const std::array<uint16_t, 64>& a,
                                       const std::array<uint16_t, 64>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return static_cast<int>(i);
  }
  return 0;
}

// Sampling that stops in the table of the distribution.
[[gnu::noinline]] int LeakBySampling(uint16_t r) {
  int e = 0;
  for (uint16_t entry : kFrodoErrorTable<640>) {
    if (r >> 1 <= entry) break;
    ++e;
  }
  return e;
}

int Leak(std::string_view leak) {
  std::array<uint16_t, 64> a{};
  a[63] = 1;
  std::array<uint16_t, 64> b{};
  ct::Poison(a.data(), sizeof(a));
  if (leak == "compare") return LeakByComparison(a, b);
  if (leak == "sample") return LeakBySampling(a[63]);
  return 2;
}

int RunAll() {
  bool right = true;
  // Emulated AVX-512 takes memcheck many times as long. The kernels do not know the set but for its
  // n, and this one's ends in the middle of a vector.
  const bool one_set = os::CpuLevel() == os::SimdLevel::kAvx512;
#define COFFER_FRODO_RUN(P)                                                                \
  if ((!one_set || std::is_same_v<P, FrodoKem976Shake::Parameters>) && !Runs<P>().Run()) { \
    std::fprintf(stderr, "%s is wrong\n", std::string(P::kName).c_str());                  \
    right = false;                                                                         \
  }
  COFFER_FRODO_FOR_EACH_SET(COFFER_FRODO_RUN)
#undef COFFER_FRODO_RUN
  return right ? 0 : 1;
}

}  // namespace
}  // namespace coffer::crypto

int main(int argc, char** argv) {
  return argc > 1 ? coffer::crypto::Leak(argv[1]) : coffer::crypto::RunAll();
}
