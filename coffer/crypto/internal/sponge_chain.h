// SPDX-License-Identifier: Apache-2.0
// A queue of sponge hashes, done one after the other, one permutation at a time, in whatever lane
// of a vector the caller has to spare: serial hashing that costs a fraction of a permutation of its
// own.
//
// Inputs and outputs are spans into memory of the caller, which outlives the chain; an input may be
// an earlier job's output. Input that does not exist yet is held back with Hold and given with
// Release. Everything is taken for secret: only sizes show in time and addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "coffer/base/bytes.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/crypto/keccak_states.h"
#include "coffer/crypto/sha3.h"

namespace coffer::crypto::internal {

// One of the interleaved states of a KeccakStates.
struct KeccakLane {
  uint64_t* first;
  size_t stride;
  uint64_t& operator[](size_t word) const { return first[word * stride]; }
};

class SpongeChain {
 public:
  static constexpr size_t kMaxJobs = 4;
  static constexpr size_t kMaxPieces = 4;

  SpongeChain(const KeccakImplementation& keccak, const SpongeKind& kind)
      : keccak_(keccak), kind_(kind) {}
  SpongeChain(const SpongeChain&) = delete;
  SpongeChain& operator=(const SpongeChain&) = delete;
  ~SpongeChain();

  // Appends a hash of the pieces, one after the other, and returns its number, from 0 on.
  size_t Add(std::initializer_list<ByteSpan> pieces, MutableByteSpan output);
  // Only the first `size` bytes of the input of `job` may be read for now.
  void Hold(size_t job, size_t size);
  // All of the input of `job` may be read.
  void Release(size_t job);

  // How many permutations the work at hand amounts to, before held input is met; at most `limit`.
  [[nodiscard]] size_t Permutations(size_t limit) const;
  // How many bytes of the output of `job` are written.
  [[nodiscard]] size_t Written(size_t job) const { return jobs_[job].written; }
  [[nodiscard]] bool Finished(size_t job) const {
    return jobs_[job].written == jobs_[job].output.size();
  }

  // Between Board and Leave the state of the chain is `lane`. Around each permutation of it come
  // BeforePermutation and AfterPermutation. If the former returns false there is nothing to do for
  // now, and the lane must not be permuted before Leave.
  void Board(KeccakLane lane) const;
  [[nodiscard]] bool BeforePermutation(KeccakLane lane);
  void AfterPermutation(KeccakLane lane);
  void Leave(KeccakLane lane);

  // Does by itself what is left of the jobs up to `job`, at least until `size` bytes of its output
  // are written. None of it may be held.
  void Run(size_t job, size_t size);
  void Run(size_t job) { Run(job, jobs_[job].output.size()); }

 private:
  struct Job {
    std::array<ByteSpan, kMaxPieces> pieces;
    size_t input_size = 0;
    size_t ready = 0;     // bytes of the input that may be read
    size_t absorbed = 0;  // input_size + 1 after the padding
    size_t written = 0;
    MutableByteSpan output;
  };

  [[nodiscard]] bool CanAbsorb(const Job& job) const;
  void AbsorbBlock(Job& job, KeccakLane lane);
  void CopyInput(const Job& job, size_t offset, MutableByteSpan out) const;
  void SqueezeBlock(Job& job, KeccakLane lane);

  const KeccakImplementation& keccak_;
  SpongeKind kind_;
  std::array<Job, kMaxJobs> jobs_{};
  size_t job_count_ = 0;
  size_t current_ = 0;
  KeccakStates<1> state_;
  alignas(8) std::array<uint8_t, 200> block_{};
};

}  // namespace coffer::crypto::internal
