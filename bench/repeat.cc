// SPDX-License-Identifier: Apache-2.0
// Runs one operation a number of times, to count what it costs in what does not wobble:
//
//   valgrind --tool=callgrind repeat 976-SHAKE/encaps 1     "Collected" of the second run less that
//   of valgrind --tool=callgrind repeat 976-SHAKE/encaps 11    the first, by 10, is one operation
//
// Names with liboqs in them are there where CMake found that. Without arguments it lists the names.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "coffer/age/coffer_recipient.h"
#include "coffer/crypto/frodo_kem.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/ml_kem.h"
#include "coffer/os/random.h"

#ifdef COFFER_BENCH_LIBOQS
#include <oqs/oqs.h>
#endif

namespace coffer {
namespace {

// An operation's set-up gives what is to be repeated.
using Operations = std::map<std::string, std::function<std::function<void()>()>>;

template <class Kem>
void AddFrodo(const std::string& set, Operations& operations) {
  operations[set + "/keygen"] = [] {
    return [] { static_cast<void>(Kem::GenerateKey(os::SystemRandom()).ok()); };
  };
  operations[set + "/encaps"] = [] {
    const auto key =
        std::make_shared<typename Kem::PrivateKey>(Kem::GenerateKey(os::SystemRandom()).value());
    return
        [key] { static_cast<void>(Kem::Encapsulate(key->PublicKeyOf(), os::SystemRandom()).ok()); };
  };
  operations[set + "/decaps"] = [] {
    const auto key =
        std::make_shared<typename Kem::PrivateKey>(Kem::GenerateKey(os::SystemRandom()).value());
    const Bytes sent = Kem::Encapsulate(key->PublicKeyOf(), os::SystemRandom())->ciphertext;
    return [key, sent] { static_cast<void>(Kem::Decapsulate(*key, sent).ok()); };
  };
#ifdef COFFER_BENCH_LIBOQS
  struct Peer {
    explicit Peer(const std::string& name) : kem(OQS_KEM_new(name.c_str()), OQS_KEM_free) {
      public_key.resize(kem->length_public_key);
      private_key.resize(kem->length_secret_key);
      ciphertext.resize(kem->length_ciphertext);
      secret.resize(kem->length_shared_secret);
      OQS_KEM_keypair(kem.get(), public_key.data(), private_key.data());
      OQS_KEM_encaps(kem.get(), ciphertext.data(), secret.data(), public_key.data());
    }
    std::unique_ptr<OQS_KEM, void (*)(OQS_KEM*)> kem;
    Bytes public_key, private_key, ciphertext, secret;
  };
  operations[set + "/encaps/liboqs"] = [set] {
    const auto peer = std::make_shared<Peer>("FrodoKEM-" + set);
    return [peer] {
      OQS_KEM_encaps(peer->kem.get(), peer->ciphertext.data(), peer->secret.data(),
                     peer->public_key.data());
    };
  };
  operations[set + "/decaps/liboqs"] = [set] {
    const auto peer = std::make_shared<Peer>("FrodoKEM-" + set);
    return [peer] {
      OQS_KEM_decaps(peer->kem.get(), peer->secret.data(), peer->ciphertext.data(),
                     peer->private_key.data());
    };
  };
#endif
}

void AddMlKem(Operations& operations) {
  operations["ML-KEM-768/keygen"] = [] {
    return [] { static_cast<void>(crypto::MlKemDecapsulationKey::FromSeed(crypto::MlKemSeed())); };
  };
  const auto key = std::make_shared<crypto::MlKemDecapsulationKey>(
      crypto::MlKemDecapsulationKey::FromSeed(crypto::MlKemSeed()));
  operations["ML-KEM-768/encaps"] = [key] {
    return [key] {
      static_cast<void>(key->encapsulation_key().EncapsulateWith(crypto::MlKemMessage()));
    };
  };
  operations["ML-KEM-768/decaps"] = [key] {
    const auto sent = key->encapsulation_key().EncapsulateWith(crypto::MlKemMessage()).ciphertext;
    return [key, sent] { static_cast<void>(key->Decapsulate(sent)); };
  };
}

void AddRecipient(Operations& operations) {
  const auto identity = std::make_shared<age::CofferIdentity>(
      age::CofferIdentity::Generate(os::SystemRandom()).value());
  operations["recipient/wrap"] = [identity] {
    const std::shared_ptr<age::Recipient> recipient = identity->ToRecipient().value();
    return [recipient] {
      static_cast<void>(recipient->Wrap(age::FileKey(), os::SystemRandom()).ok());
    };
  };
  operations["recipient/unwrap"] = [identity] {
    const std::unique_ptr<age::Recipient> recipient = identity->ToRecipient().value();
    const auto stanzas = recipient->Wrap(age::FileKey(), os::SystemRandom())->stanzas;
    return [identity, stanzas] { static_cast<void>(identity->Unwrap(stanzas).ok()); };
  };
}

template <size_t kLanes>
void AddPermutation(Operations& operations,
                    void (*permute)(crypto::KeccakStates<kLanes>&, crypto::KeccakRounds)) {
  operations["permutation/x" + std::to_string(kLanes)] = [permute] {
    const auto states = std::make_shared<crypto::KeccakStates<kLanes>>();
    return [states, permute] { permute(*states, crypto::KeccakRounds::k24); };
  };
}

int Main(int argc, char** argv) {
  Operations operations;
  AddFrodo<crypto::FrodoKem640Shake>("640-SHAKE", operations);
  AddFrodo<crypto::FrodoKem976Shake>("976-SHAKE", operations);
  AddFrodo<crypto::FrodoKem1344Shake>("1344-SHAKE", operations);
  AddFrodo<crypto::FrodoKem640Aes>("640-AES", operations);
  AddFrodo<crypto::FrodoKem976Aes>("976-AES", operations);
  AddFrodo<crypto::FrodoKem1344Aes>("1344-AES", operations);
  AddMlKem(operations);
  AddRecipient(operations);
  AddPermutation<1>(operations, crypto::internal::Keccak().permute_x1);
  AddPermutation<4>(operations, crypto::internal::Keccak().permute_x4);
  AddPermutation<8>(operations, crypto::internal::Keccak().permute_x8);
  const auto found = argc == 3 ? operations.find(argv[1]) : operations.end();
  if (found == operations.end()) {
    for (const auto& [name, setup] : operations) std::printf("%s\n", name.c_str());
    return 2;
  }
  const std::function<void()> run = found->second();
  for (auto i = std::strtoul(argv[2], nullptr, 10); i > 0; --i) run();
  return 0;
}

}  // namespace
}  // namespace coffer

int main(int argc, char** argv) { return coffer::Main(argc, argv); }
