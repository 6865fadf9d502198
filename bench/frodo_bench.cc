// SPDX-License-Identifier: Apache-2.0
// FrodoKEM: every set, and liboqs beside it where CMake found that; and what the coffer recipient
// makes of it, from an identity's text to a file key. To compare rows on a machine that is not
// quiet, let them take turns:
//
//   frodo_bench --benchmark_repetitions=15 --benchmark_enable_random_interleaving=true
//               --benchmark_report_aggregates_only=true --benchmark_filter=976-SHAKE
//
// COFFER_CPU caps what the implementation of this project is chosen from; liboqs chooses by itself.
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "coffer/age/coffer_recipient.h"
#include "coffer/crypto/frodo_kem.h"
#include "coffer/os/random.h"

#ifdef COFFER_BENCH_LIBOQS
#include <oqs/oqs.h>
#endif

namespace coffer::crypto {
namespace {

template <class Kem>
void GenerateKey(benchmark::State& bench) {
  for (auto _ : bench) benchmark::DoNotOptimize(Kem::GenerateKey(os::SystemRandom()).ok());
}

// `cached` is whether the hash of the public key is known, as for a recipient that is used often.
template <class Kem>
void Encapsulate(benchmark::State& bench, bool cached) {
  auto key = Kem::PublicKey::Create(Kem::GenerateKey(os::SystemRandom())->PublicKeyOf().bytes());
  if (cached) key->CacheHash();
  for (auto _ : bench) benchmark::DoNotOptimize(Kem::Encapsulate(*key, os::SystemRandom()).ok());
}

template <class Kem>
void Decapsulate(benchmark::State& bench) {
  const auto key = Kem::GenerateKey(os::SystemRandom());
  const auto sent = Kem::Encapsulate(key->PublicKeyOf(), os::SystemRandom());
  for (auto _ : bench) benchmark::DoNotOptimize(Kem::Decapsulate(*key, sent->ciphertext).ok());
}

#ifdef COFFER_BENCH_LIBOQS
enum class Operation { kGenerateKey, kEncapsulate, kDecapsulate };

void Liboqs(benchmark::State& bench, const std::string& set, Operation operation) {
  const std::unique_ptr<OQS_KEM, void (*)(OQS_KEM*)> kem(OQS_KEM_new(set.c_str()), OQS_KEM_free);
  if (kem == nullptr) {
    bench.SkipWithError("liboqs was built without this set");
    return;
  }
  Bytes public_key(kem->length_public_key);
  Bytes private_key(kem->length_secret_key);
  Bytes ciphertext(kem->length_ciphertext);
  Bytes secret(kem->length_shared_secret);
  OQS_KEM_keypair(kem.get(), public_key.data(), private_key.data());
  OQS_KEM_encaps(kem.get(), ciphertext.data(), secret.data(), public_key.data());
  for (auto _ : bench) {
    switch (operation) {
      case Operation::kGenerateKey:
        OQS_KEM_keypair(kem.get(), public_key.data(), private_key.data());
        break;
      case Operation::kEncapsulate:
        OQS_KEM_encaps(kem.get(), ciphertext.data(), secret.data(), public_key.data());
        break;
      case Operation::kDecapsulate:
        OQS_KEM_decaps(kem.get(), secret.data(), ciphertext.data(), private_key.data());
        break;
    }
  }
}

void RegisterLiboqs(const std::string& set) {
  benchmark::RegisterBenchmark((set + "/keygen/liboqs").c_str(), Liboqs, set,
                               Operation::kGenerateKey);
  benchmark::RegisterBenchmark((set + "/encaps/liboqs").c_str(), Liboqs, set,
                               Operation::kEncapsulate);
  benchmark::RegisterBenchmark((set + "/decaps/liboqs").c_str(), Liboqs, set,
                               Operation::kDecapsulate);
}
#else
void RegisterLiboqs(const std::string& /*set*/) {}
#endif

template <class Kem>
void Register() {
  const std::string set(Kem::Parameters::kName);
  benchmark::RegisterBenchmark((set + "/keygen/coffer").c_str(), GenerateKey<Kem>);
  benchmark::RegisterBenchmark((set + "/encaps/coffer").c_str(), Encapsulate<Kem>, false);
  benchmark::RegisterBenchmark((set + "/encaps/coffer/hash_known").c_str(), Encapsulate<Kem>, true);
  benchmark::RegisterBenchmark((set + "/decaps/coffer").c_str(), Decapsulate<Kem>);
  RegisterLiboqs(set);
}

// The recipient's key is held, as where one is used for a whole run.
void RecipientWrap(benchmark::State& bench) {
  const auto recipient = *age::CofferIdentity::Generate(os::SystemRandom())->ToRecipient();
  const age::FileKey file_key;
  for (auto _ : bench) {
    benchmark::DoNotOptimize(recipient->Wrap(file_key, os::SystemRandom()).ok());
  }
}
BENCHMARK(RecipientWrap);

void RecipientUnwrap(benchmark::State& bench) {
  auto identity = age::CofferIdentity::Generate(os::SystemRandom());
  const auto wrapped = (*identity->ToRecipient())->Wrap(age::FileKey(), os::SystemRandom());
  for (auto _ : bench) benchmark::DoNotOptimize(identity->Unwrap(wrapped->stanzas)->has_value());
}
BENCHMARK(RecipientUnwrap);

// Both public keys from the seed in the text of an identity.
void RecipientFromSeed(benchmark::State& bench) {
  const SecretBuffer text = age::CofferIdentity::Generate(os::SystemRandom())->ToString();
  for (auto _ : bench) {
    const auto identity = age::CofferIdentity::Parse(text.ExposeText());
    benchmark::DoNotOptimize(identity->ToRecipient().ok());
  }
}
BENCHMARK(RecipientFromSeed);

const bool kRegistered = [] {
  Register<FrodoKem640Shake>();
  Register<FrodoKem976Shake>();
  Register<FrodoKem1344Shake>();
  Register<FrodoKem640Aes>();
  Register<FrodoKem976Aes>();
  Register<FrodoKem1344Aes>();
  Register<EFrodoKem640Shake>();
  Register<EFrodoKem976Shake>();
  Register<EFrodoKem1344Shake>();
  Register<EFrodoKem640Aes>();
  Register<EFrodoKem976Aes>();
  Register<EFrodoKem1344Aes>();
  return true;
}();

}  // namespace
}  // namespace coffer::crypto
