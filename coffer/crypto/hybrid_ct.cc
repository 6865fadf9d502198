// SPDX-License-Identifier: Apache-2.0
// X-Wing, the coffer combination and HPKE with their secrets marked for memcheck: the seed of a
// key, all that an encapsulation draws, and the message. What comes of them is public where it is
// sent: public keys, ciphertexts, and whether a message opens.
//
// OpenSSL does X25519, HMAC-SHA256 and ChaCha20-Poly1305 with these secrets in the same run. Where
// its code branches on what is public by then, hybrid_ct.supp says so.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "coffer/base/ct.h"
#include "coffer/crypto/coffer_kem.h"
#include "coffer/crypto/hpke.h"
#include "coffer/crypto/testing/poisoned.h"
#include "coffer/crypto/xwing.h"

namespace coffer::crypto {
namespace {

using testing::PoisonedSecret;

class PoisonedRandom : public os::Random {
 public:
  void Fill(MutableByteSpan out) override {
    for (uint8_t& byte : out) byte = ++next_;
    ct::Poison(out.data(), out.size());
  }

 private:
  uint8_t next_ = 0;
};

template <class BytesLike>
BytesLike Declassified(BytesLike bytes) {
  ct::Unpoison(bytes.data(), bytes.size());
  return bytes;
}

// Encapsulates to a key made of a secret seed, opens that, and a changed one too.
template <class Decapsulation, class Encapsulation, class Seed>
bool KemDoesNotLeak() {
  PoisonedRandom random;
  const auto key = Decapsulation::FromSeed(PoisonedSecret<Seed>(1));
  if (!key.ok()) return false;
  const auto sent_to = Encapsulation::Parse(Declassified(key->encapsulation_key().bytes()));
  if (!sent_to.ok()) return false;
  const auto made = sent_to->Encapsulate(random);
  if (!made.ok()) return false;
  auto ciphertext = Declassified(made->ciphertext);
  const auto received = key->Decapsulate(ciphertext);
  const bool same = received.ok() && ct::Equal(received->Expose(), made->shared.Expose());
  ciphertext[3] ^= 1;
  const auto changed = key->Decapsulate(ciphertext);
  return same && changed.ok() && !ct::Equal(changed->Expose(), made->shared.Expose());
}

bool HpkeDoesNotLeak() {
  struct SharedRole;
  const auto shared = PoisonedSecret<SecretArray<32, SharedRole>>(9);
  auto sender = HpkeContext::Create(kCofferKemHpkeId, shared.Expose(), AsBytes("info"));
  auto receiver = HpkeContext::Create(kCofferKemHpkeId, shared.Expose(), AsBytes("info"));
  if (!sender.ok() || !receiver.ok()) return false;
  const auto message = PoisonedSecret<SecretArray<16, SharedRole>>(5);
  Bytes sealed(16 + HpkeContext::kTagSize);
  if (!sender->Seal({}, message.Expose(), sealed).ok()) return false;
  ct::Unpoison(sealed.data(), sealed.size());
  SecretArray<16, SharedRole> opened;
  const Result<bool> right = receiver->Open({}, sealed, opened.ExposeMutable());
  const bool same = right.ok() && *right && ct::Equal(opened.Expose(), message.Expose());
  sealed[16] ^= 1;
  const Result<bool> wrong = receiver->Open({}, sealed, opened.ExposeMutable());
  return same && wrong.ok() && !*wrong;
}

// Control: a combiner that leaves out the part that is zero.
[[gnu::noinline]] int LeakByCombining() {
  const auto shared = PoisonedSecret<XWingShared>(1);
  static volatile uint8_t combined = 0;
  for (uint8_t byte : shared.Expose()) {
    if (byte != 0) combined = 1;
  }
  return combined == 0 ? 0 : 1;
}

int Run(std::string_view leak) {
  if (leak == "combine") return LeakByCombining();
  if (!leak.empty()) return 2;
  const bool right = KemDoesNotLeak<XWingDecapsulationKey, XWingEncapsulationKey, XWingSeed>() &&
                     KemDoesNotLeak<CofferDecapsulationKey, CofferEncapsulationKey, CofferSeed>() &&
                     HpkeDoesNotLeak();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace coffer::crypto

int main(int argc, char** argv) { return coffer::crypto::Run(argc > 1 ? argv[1] : ""); }
