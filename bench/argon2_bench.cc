// SPDX-License-Identifier: Apache-2.0
// Argon2id: two hashes at the same time, as the unlocking of a key file makes them, by this project
// and by the library of Argon2's authors, whose two hashes run on a thread each.
//
//   argon2_bench [ROUNDS [MEMORY_KIB PASSES LANES]]
//
// The two take turns within one process, so that a machine whose speed changes does not favour
// either. COFFER_CPU caps what the implementation of this project is chosen from.
#include <argon2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/crypto/argon2id.h"
#include "coffer/crypto/internal/argon2_kernels.h"
#include "coffer/os/cpu.h"

namespace coffer::crypto {
namespace {

constexpr size_t kTagSize = 32;
using Tag = std::array<uint8_t, kTagSize>;
using Tags = std::array<Tag, 2>;

struct Run {
  const char* name;
  Tags (*hash)(const Argon2idParameters& parameters);
  std::vector<double> milliseconds;
};

constexpr std::string_view kPassphrase = "correct horse battery staple";
constexpr std::array<std::array<uint8_t, 16>, 2> kSalts = {{{1}, {2}}};

Tags Batch(const Argon2idParameters& parameters) {
  Tags tags;
  std::array<Argon2idJob, 2> jobs;
  for (size_t i = 0; i < 2; ++i) {
    jobs[i] = {parameters, {AsBytes(kPassphrase), kSalts[i]}, tags[i]};
  }
  if (!Argon2idBatch(jobs).ok()) std::abort();
  return tags;
}

Tags OneAfterTheOther(const Argon2idParameters& parameters) {
  Tags tags;
  for (size_t i = 0; i < 2; ++i) {
    if (!Argon2id(parameters, {AsBytes(kPassphrase), kSalts[i]}, tags[i]).ok()) std::abort();
  }
  return tags;
}

void LibraryHash(const Argon2idParameters& parameters, size_t i, Tag& tag) {
  if (argon2id_hash_raw(parameters.passes, parameters.memory_kib, parameters.lanes,
                        kPassphrase.data(), kPassphrase.size(), kSalts[i].data(), kSalts[i].size(),
                        tag.data(), tag.size()) != ARGON2_OK) {
    std::abort();
  }
}

// The library starts a thread for each lane, so there are more threads than processors.
Tags LibraryTwoThreads(const Argon2idParameters& parameters) {
  Tags tags;
  std::thread other([&] { LibraryHash(parameters, 1, tags[1]); });
  LibraryHash(parameters, 0, tags[0]);
  other.join();
  return tags;
}

// One thread for each hash, in which its lanes run one after the other.
void LibraryHashOneThread(const Argon2idParameters& parameters, size_t i, Tag& tag) {
  argon2_context context = {};
  std::array<uint8_t, 16> salt = kSalts[i];
  std::vector<uint8_t> password(kPassphrase.begin(), kPassphrase.end());
  context.out = tag.data();
  context.outlen = kTagSize;
  context.pwd = password.data();
  context.pwdlen = static_cast<uint32_t>(password.size());
  context.salt = salt.data();
  context.saltlen = static_cast<uint32_t>(salt.size());
  context.t_cost = parameters.passes;
  context.m_cost = parameters.memory_kib;
  context.lanes = parameters.lanes;
  context.threads = 1;
  context.version = ARGON2_VERSION_13;
  if (argon2_ctx(&context, Argon2_id) != ARGON2_OK) std::abort();
}

Tags LibraryOneThreadEach(const Argon2idParameters& parameters) {
  Tags tags;
  std::thread other([&] { LibraryHashOneThread(parameters, 1, tags[1]); });
  LibraryHashOneThread(parameters, 0, tags[0]);
  other.join();
  return tags;
}

double Quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

void Compare(const Argon2idParameters& parameters, size_t rounds) {
  std::array<Run, 4> runs = {{{"coffer, batch", Batch, {}},
                              {"libargon2, a thread each", LibraryOneThreadEach, {}},
                              {"libargon2, its own threads", LibraryTwoThreads, {}},
                              {"coffer, one after the other", OneAfterTheOther, {}}}};
  const Tags expected = runs[0].hash(parameters);
  for (size_t round = 0; round < rounds; ++round) {
    for (Run& run : runs) {
      const auto start = std::chrono::steady_clock::now();
      const Tags tags = run.hash(parameters);
      const std::chrono::duration<double, std::milli> spent =
          std::chrono::steady_clock::now() - start;
      run.milliseconds.push_back(spent.count());
      if (tags != expected) {
        std::printf("%s gives other tags\n", run.name);
        std::exit(1);
      }
    }
  }
  std::printf("two hashes, %u KiB, %u passes, %u lanes, %zu rounds, coffer: %s\n",
              parameters.memory_kib, parameters.passes, parameters.lanes, rounds,
              std::string(internal::Argon2().name).c_str());
  std::printf("%-28s %9s %9s %9s %14s\n", "ms", "least", "median", "p90", "ratio (median)");
  for (const Run& run : runs) {
    std::printf("%-28s %9.1f %9.1f %9.1f %14.3f\n", run.name, Quantile(run.milliseconds, 0),
                Quantile(run.milliseconds, 0.5), Quantile(run.milliseconds, 0.9),
                Quantile(runs[0].milliseconds, 0.5) / Quantile(run.milliseconds, 0.5));
  }
}

}  // namespace
}  // namespace coffer::crypto

int main(int argc, char** argv) {
  const auto argument = [&](int i, uint32_t otherwise) {
    return argc > i ? static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)) : otherwise;
  };
  coffer::crypto::Compare(
      {.memory_kib = argument(2, 65536), .passes = argument(3, 3), .lanes = argument(4, 4)},
      std::max<uint32_t>(argument(1, 15), 1));
  return 0;
}
