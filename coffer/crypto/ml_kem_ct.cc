// SPDX-License-Identifier: Apache-2.0
// Keccak and ML-KEM with every secret marked: memcheck speaks up if a branch or an address depends
// on one. And the mistakes of other implementations, which it must catch.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "coffer/base/ct.h"
#include "coffer/crypto/internal/k_pke.h"
#include "coffer/crypto/internal/ml_kem_kernels.h"
#include "coffer/crypto/kt128.h"
#include "coffer/crypto/ml_kem.h"
#include "coffer/crypto/sha3.h"
#include "coffer/crypto/testing/poisoned.h"

namespace coffer::crypto {
namespace {

using testing::PoisonedSecret;

Bytes PoisonedBytes(size_t size) {
  Bytes bytes(size, 0x5c);
  ct::Poison(bytes.data(), bytes.size());
  return bytes;
}

// The test itself may look.
bool SameSecrets(const MlKemShared& a, const MlKemShared& b) {
  return ct::Equal(a.Expose(), b.Expose());
}

void HashSecrets() {
  Bytes out(500);
  for (size_t size : {size_t{0}, size_t{33}, size_t{136}, size_t{1000}}) {
    const Bytes message = PoisonedBytes(size);
    Shake128 shake128;
    shake128.Absorb(message);
    shake128.Squeeze(out);
    Shake256 shake256;
    shake256.Absorb(message);
    shake256.Squeeze(out);
    std::array<uint8_t, 64> digest;
    Sha3_512::Hash({message}, digest);
    Shake256X4 four;
    four.Absorb({message, message, message, message});
    const MutableByteSpan all(out);
    four.Squeeze(
        {all.first(100), all.subspan(100, 100), all.subspan(200, 100), all.subspan(300, 100)});
  }
  const Bytes long_message = PoisonedBytes(10 * Kt128::kChunkSize + 5);
  Kt128Hash(long_message, {}, out);
}

bool KemDoesNotLeak() {
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(PoisonedSecret<MlKemSeed>(1));
  const MlKemEncapsulation made =
      key.encapsulation_key().EncapsulateWith(PoisonedSecret<MlKemMessage>(2));
  const bool right = SameSecrets(key.Decapsulate(made.ciphertext), made.shared);
  MlKemCiphertext changed = made.ciphertext;
  changed[7] ^= 1;
  const bool rejected = !SameSecrets(key.Decapsulate(changed), made.shared);
  changed.fill(0xff);
  const bool rejected_too = !SameSecrets(key.Decapsulate(changed), made.shared);

  // The expanded form comes in as secret as a whole; reading it says what of it is public.
  Bytes expanded(key.ExposeExpanded().begin(), key.ExposeExpanded().end());
  ct::Poison(expanded.data(), expanded.size());
  const Result<MlKemDecapsulationKey> again = MlKemDecapsulationKey::FromExpanded(expanded);
  const bool read = again.ok() && SameSecrets(again->Decapsulate(made.ciphertext), made.shared);
  return right && rejected && rejected_too && read;
}

// Control: an honest ciphertext told from another by a branch.
[[gnu::noinline]] int LeakByRejection() {
  const MlKemDecapsulationKey key = MlKemDecapsulationKey::FromSeed(PoisonedSecret<MlKemSeed>(1));
  const MlKemEncapsulation made =
      key.encapsulation_key().EncapsulateWith(PoisonedSecret<MlKemMessage>(2));
  const MlKemShared shared = key.Decapsulate(made.ciphertext);
  if (ct::EqualMask(shared.Expose(), made.shared.Expose()) != 0) std::puts("honest");
  return 0;
}

// Control: the bits of a message turned into coefficients by a branch, as compilers have done.
[[gnu::noinline]] int LeakByMessageBit() {
  const MlKemMessage m = PoisonedSecret<MlKemMessage>(3);
  static volatile int16_t coefficient;
  for (size_t i = 0; i < 8; ++i) {
    if ((m.Expose()[0] >> i & 1) != 0) coefficient = (internal::kQ + 1) / 2;
  }
  return coefficient != 0 ? 0 : 1;
}

// Control: noise looked up in a table in memory.
[[gnu::noinline]] int LeakByNoiseTable() {
  static volatile const int8_t table[16] = {0, 1, 1, 2, -1, 0, 0, 1, -1, 0, 0, 1, -2, -1, -1, 0};
  const Bytes noise = PoisonedBytes(internal::kNoiseSize);
  int sum = 0;
  for (uint8_t byte : noise) sum += table[byte & 15] + table[byte >> 4];
  ct::Unpoison(&sum, sizeof(sum));
  return sum < 1000 ? 0 : 1;
}

int Run(std::string_view leak) {
  if (leak == "rejection") return LeakByRejection();
  if (leak == "message_bit") return LeakByMessageBit();
  if (leak == "noise_table") return LeakByNoiseTable();
  if (!leak.empty()) return 2;
  HashSecrets();
  return KemDoesNotLeak() ? 0 : 1;
}

}  // namespace
}  // namespace coffer::crypto

int main(int argc, char** argv) { return coffer::crypto::Run(argc > 1 ? argv[1] : ""); }
