// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/internal/sponge_chain.h"

#include <algorithm>
#include <cstring>

#include "coffer/base/check.h"
#include "coffer/base/endian.h"
#include "coffer/base/secret.h"

namespace coffer::crypto::internal {

SpongeChain::~SpongeChain() { SecureWipe(block_.data(), block_.size()); }

size_t SpongeChain::Add(std::initializer_list<ByteSpan> pieces, MutableByteSpan output) {
  COFFER_CHECK(job_count_ < kMaxJobs && pieces.size() <= kMaxPieces && !output.empty());
  Job& job = jobs_[job_count_];
  std::copy(pieces.begin(), pieces.end(), job.pieces.begin());
  for (ByteSpan piece : pieces) job.input_size += piece.size();
  job.ready = job.input_size;
  job.output = output;
  return job_count_++;
}

void SpongeChain::Hold(size_t job, size_t size) {
  COFFER_CHECK(size < jobs_[job].input_size);
  jobs_[job].ready = size;
}

void SpongeChain::Release(size_t job) { jobs_[job].ready = jobs_[job].input_size; }

bool SpongeChain::CanAbsorb(const Job& job) const {
  return job.ready == job.input_size || job.ready >= job.absorbed + kind_.rate;
}

size_t SpongeChain::Permutations(size_t limit) const {
  size_t count = 0;
  for (size_t i = current_; i < job_count_ && count < limit; ++i) {
    const Job& job = jobs_[i];
    const bool released = job.ready == job.input_size;
    // A last block, with the padding, makes the first block of output.
    if (job.absorbed <= job.input_size) {
      if (job.ready > job.absorbed) count += (job.ready - job.absorbed) / kind_.rate;
      if (released) count += 1;
    }
    if (!released) break;
    const size_t left = (job.output.size() - job.written + kind_.rate - 1) / kind_.rate;
    count += job.absorbed <= job.input_size ? left - 1 : left;
  }
  return std::min(count, limit);
}

void SpongeChain::Board(KeccakLane lane) const {
  for (size_t w = 0; w < kKeccakWords; ++w) lane[w] = state_.word[w][0];
}

void SpongeChain::Leave(KeccakLane lane) {
  for (size_t w = 0; w < kKeccakWords; ++w) state_.word[w][0] = lane[w];
}

void SpongeChain::CopyInput(const Job& job, size_t offset, MutableByteSpan out) const {
  for (ByteSpan piece : job.pieces) {
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const size_t size = std::min(piece.size() - offset, out.size());
    if (size != 0) std::memcpy(out.data(), piece.data() + offset, size);
    out = out.subspan(size);
    offset = 0;
    if (out.empty()) return;
  }
  COFFER_CHECK(out.empty());
}

void SpongeChain::AbsorbBlock(Job& job, KeccakLane lane) {
  if (job.absorbed == 0) {
    for (size_t w = 0; w < kKeccakWords; ++w) lane[w] = 0;
  }
  const size_t left = job.input_size - job.absorbed;
  const size_t size = std::min(left, kind_.rate);
  CopyInput(job, job.absorbed, MutableByteSpan(block_).first(size));
  job.absorbed += size;
  if (size < kind_.rate) {  // pad10*1 and the suffix (FIPS 202 sections 5.1, 6.2)
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(size), block_.end(), uint8_t{0});
    block_[size] = kind_.suffix;
    block_[kind_.rate - 1] |= 0x80;
    job.absorbed = job.input_size + 1;
  }
  for (size_t w = 0; w < kind_.rate / 8; ++w) {
    lane[w] ^= LoadLittleEndian<uint64_t>(std::span<const uint8_t, 8>(block_.data() + 8 * w, 8));
  }
}

bool SpongeChain::BeforePermutation(KeccakLane lane) {
  if (current_ == job_count_) return false;
  Job& job = jobs_[current_];
  if (job.absorbed > job.input_size) return true;
  if (!CanAbsorb(job)) return false;
  AbsorbBlock(job, lane);
  return true;
}

void SpongeChain::SqueezeBlock(Job& job, KeccakLane lane) {
  const size_t size = std::min(kind_.rate, job.output.size() - job.written);
  uint8_t* const out = job.output.data() + job.written;
  size_t offset = 0;
  for (; offset + 8 <= size; offset += 8) {
    StoreLittleEndian(lane[offset / 8], std::span<uint8_t, 8>(out + offset, 8));
  }
  for (; offset < size; ++offset) {
    out[offset] = static_cast<uint8_t>(lane[offset / 8] >> (8 * (offset % 8)));
  }
  job.written += size;
}

void SpongeChain::AfterPermutation(KeccakLane lane) {
  Job& job = jobs_[current_];
  if (job.absorbed <= job.input_size) return;
  SqueezeBlock(job, lane);
  if (Finished(current_)) ++current_;
}

void SpongeChain::Run(size_t job, size_t size) {
  const KeccakLane lane{&state_.word[0][0], 1};
  while (jobs_[job].written < size) {
    COFFER_CHECK(BeforePermutation(lane));
    keccak_.permute_x1(state_, KeccakRounds::k24);
    AfterPermutation(lane);
  }
}

}  // namespace coffer::crypto::internal
