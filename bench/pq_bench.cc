// SPDX-License-Identifier: Apache-2.0
// Keccak, SHAKE, KT128, ML-KEM and X-Wing. COFFER_CPU caps what the last four choose.
#include <array>
#include <string>

#include <benchmark/benchmark.h>

#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/kt128.h"
#include "coffer/crypto/ml_kem.h"
#include "coffer/crypto/sha3.h"
#include "coffer/crypto/xwing.h"
#include "coffer/os/random.h"

namespace coffer::crypto {
namespace {

template <size_t kLanes>
void Permute(benchmark::State& bench, void (*permute)(KeccakStates<kLanes>&, KeccakRounds)) {
  KeccakStates<kLanes> states;
  for (auto _ : bench) permute(states, KeccakRounds::k24);
  bench.SetItemsProcessed(bench.iterations() * static_cast<int64_t>(kLanes));
}

void Shake128Squeeze(benchmark::State& bench) {
  Bytes out(static_cast<size_t>(bench.range(0)));
  for (auto _ : bench) {
    Shake128 shake;
    shake.Absorb(AsBytes("benchmark"));
    shake.Squeeze(out);
    benchmark::DoNotOptimize(out.data());
  }
  bench.SetBytesProcessed(bench.iterations() * bench.range(0));
}
BENCHMARK(Shake128Squeeze)->Arg(32)->Arg(168 * 100);

template <size_t kLanes>
void ParallelShake128Squeeze(benchmark::State& bench) {
  const size_t size = static_cast<size_t>(bench.range(0));
  Bytes out(size * kLanes);
  Bytes in(34);
  std::array<ByteSpan, kLanes> inputs;
  std::array<MutableByteSpan, kLanes> outputs;
  for (size_t i = 0; i < kLanes; ++i) {
    inputs[i] = in;
    outputs[i] = MutableByteSpan(out).subspan(i * size, size);
  }
  for (auto _ : bench) {
    ParallelShake128<kLanes> shake;
    shake.Absorb(inputs);
    shake.Squeeze(outputs);
    benchmark::DoNotOptimize(out.data());
  }
  bench.SetBytesProcessed(bench.iterations() * bench.range(0) * static_cast<int64_t>(kLanes));
}
BENCHMARK(ParallelShake128Squeeze<4>)->Arg(168)->Arg(168 * 100);
BENCHMARK(ParallelShake128Squeeze<8>)->Arg(168)->Arg(168 * 100);

void Kt128Message(benchmark::State& bench) {
  const Bytes message(static_cast<size_t>(bench.range(0)));
  std::array<uint8_t, 32> digest;
  for (auto _ : bench) {
    Kt128Hash(message, {}, digest);
    benchmark::DoNotOptimize(digest);
  }
  bench.SetBytesProcessed(bench.iterations() * bench.range(0));
}
BENCHMARK(Kt128Message)->Arg(64)->Arg(8192)->Arg(1 << 16)->Arg(1 << 22);

void MlKemKeyGen(benchmark::State& bench) {
  const MlKemSeed seed;
  for (auto _ : bench) benchmark::DoNotOptimize(MlKemDecapsulationKey::FromSeed(seed));
}
BENCHMARK(MlKemKeyGen);

// From the bytes of the public key, with the check of them.
void MlKemEncaps(benchmark::State& bench) {
  const MlKemMessage m;
  const auto key = MlKemDecapsulationKey::FromSeed(MlKemSeed()).encapsulation_key();
  for (auto _ : bench) {
    const auto parsed = MlKemEncapsulationKey::Parse(key.bytes());
    benchmark::DoNotOptimize(parsed->EncapsulateWith(m));
  }
}
BENCHMARK(MlKemEncaps);

void MlKemDecaps(benchmark::State& bench) {
  const auto key = MlKemDecapsulationKey::FromSeed(MlKemSeed());
  const auto made = key.encapsulation_key().EncapsulateWith(MlKemMessage());
  for (auto _ : bench) benchmark::DoNotOptimize(key.Decapsulate(made.ciphertext));
}
BENCHMARK(MlKemDecaps);

// From the expanded form in bytes, with the check of it.
void MlKemDecapsExpanded(benchmark::State& bench) {
  const auto key = MlKemDecapsulationKey::FromSeed(MlKemSeed());
  const auto made = key.encapsulation_key().EncapsulateWith(MlKemMessage());
  for (auto _ : bench) {
    const auto read = MlKemDecapsulationKey::FromExpanded(key.ExposeExpanded());
    benchmark::DoNotOptimize(read->Decapsulate(made.ciphertext));
  }
}
BENCHMARK(MlKemDecapsExpanded);

void XWingKeyGen(benchmark::State& bench) {
  const XWingSeed seed;
  for (auto _ : bench) benchmark::DoNotOptimize(XWingDecapsulationKey::FromSeed(seed));
}
BENCHMARK(XWingKeyGen);

void XWingEncaps(benchmark::State& bench) {
  const auto key = XWingDecapsulationKey::FromSeed(XWingSeed())->encapsulation_key();
  for (auto _ : bench) benchmark::DoNotOptimize(key.Encapsulate(os::SystemRandom()));
}
BENCHMARK(XWingEncaps);

void XWingDecaps(benchmark::State& bench) {
  const auto key = XWingDecapsulationKey::FromSeed(XWingSeed());
  const auto made = key->encapsulation_key().Encapsulate(os::SystemRandom());
  for (auto _ : bench) benchmark::DoNotOptimize(key->Decapsulate(made->ciphertext));
}
BENCHMARK(XWingDecaps);

// One row for each lane count of each implementation that may run here.
const bool kPermutationsRegistered = [] {
  for (const internal::KeccakImplementation* keccak : internal::KeccakImplementations()) {
    if (keccak->level > os::CpuLevel()) continue;
    const std::string name = "Permute/" + std::string(keccak->name);
    benchmark::RegisterBenchmark((name + "/x1").c_str(), Permute<1>, keccak->permute_x1);
    benchmark::RegisterBenchmark((name + "/x4").c_str(), Permute<4>, keccak->permute_x4);
    benchmark::RegisterBenchmark((name + "/x8").c_str(), Permute<8>, keccak->permute_x8);
  }
  return true;
}();

}  // namespace
}  // namespace coffer::crypto
