// SPDX-License-Identifier: Apache-2.0
// Argon2id as RFC 9106 section 3 writes it. Names in capitals are the RFC's.
#include "coffer/crypto/argon2id.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "coffer/base/checked.h"
#include "coffer/base/endian.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/blake2b.h"
#include "coffer/crypto/internal/argon2_fill.h"
#include "coffer/crypto/internal/argon2_kernels.h"
#include "coffer/os/cpu.h"
#include "coffer/os/memory.h"

namespace coffer::crypto {
namespace {

using internal::Argon2Block;
using internal::Argon2Fill;
using internal::Argon2Implementation;
using internal::Argon2Shape;
using internal::kArgon2Slices;
using internal::kArgon2Words;

constexpr uint32_t kVersion = 0x13;
constexpr uint32_t kMaxLanes = (uint32_t{1} << 24) - 1;
constexpr size_t kMinSaltSize = 8;
constexpr size_t kMinTagSize = 4;
constexpr size_t kBlockSize = 1024;
static_assert(sizeof(Argon2Block) == kBlockSize);

struct HashRole;
using FirstHash = SecretArray<Blake2b::kMaxDigestSize, HashRole>;  // H_0

Error Invalid(const char* message) { return Error(ErrorCode::kInvalidArgument, message); }

bool Fits32Bits(size_t size) { return size <= std::numeric_limits<uint32_t>::max(); }

// Section 3.1.
Status Check(const Argon2idJob& job) {
  const Argon2idParameters& parameters = job.parameters;
  if (parameters.lanes == 0 || parameters.lanes > kMaxLanes) {
    return Invalid("argon2id takes 1 to 2^24 - 1 lanes");
  }
  if (parameters.passes == 0) return Invalid("argon2id takes at least one pass");
  if (parameters.memory_kib / 8 < parameters.lanes) {
    return Invalid("argon2id takes at least 8 KiB of memory for each lane");
  }
  if (job.input.salt.size() < kMinSaltSize) {
    return Invalid("argon2id takes a salt of at least 8 bytes");
  }
  if (job.tag.size() < kMinTagSize) return Invalid("argon2id gives at least 4 bytes");
  if (!Fits32Bits(job.input.password.size()) || !Fits32Bits(job.input.salt.size()) ||
      !Fits32Bits(job.input.secret.size()) || !Fits32Bits(job.input.associated_data.size()) ||
      !Fits32Bits(job.tag.size())) {
    return Invalid("argon2id takes and gives less than 4 GiB");
  }
  return OkStatus();
}

void UpdateWithNumber(Blake2b& hasher, size_t number) {
  std::array<uint8_t, 4> bytes;
  StoreLittleEndian(static_cast<uint32_t>(number), bytes);
  hasher.Update(bytes);
}

void UpdateWithSized(Blake2b& hasher, ByteSpan bytes) {
  UpdateWithNumber(hasher, bytes.size());
  hasher.Update(bytes);
}

// Section 3.2, step 1.
FirstHash HashInputs(const Argon2idJob& job) {
  Blake2b hasher(FirstHash::kSize);
  UpdateWithNumber(hasher, job.parameters.lanes);
  UpdateWithNumber(hasher, job.tag.size());
  UpdateWithNumber(hasher, job.parameters.memory_kib);
  UpdateWithNumber(hasher, job.parameters.passes);
  UpdateWithNumber(hasher, kVersion);
  UpdateWithNumber(hasher, internal::kArgon2Type);
  UpdateWithSized(hasher, job.input.password);
  UpdateWithSized(hasher, job.input.salt);
  UpdateWithSized(hasher, job.input.secret);
  UpdateWithSized(hasher, job.input.associated_data);
  FirstHash hash;
  hasher.Finish(hash.ExposeMutable());
  return hash;
}

// Section 3.3: H'.
void HashToSize(ByteSpan in, MutableByteSpan out) {
  constexpr size_t kWhole = Blake2b::kMaxDigestSize;
  constexpr size_t kHalf = kWhole / 2;
  Blake2b first(std::min(out.size(), kWhole));
  UpdateWithNumber(first, out.size());
  first.Update(in);
  if (out.size() <= kWhole) return first.Finish(out);
  SecretArray<kWhole, HashRole> v;
  first.Finish(v.ExposeMutable());
  for (;;) {
    std::memcpy(out.data(), v.Expose().data(), kHalf);
    out = out.subspan(kHalf);
    if (out.size() <= kWhole) break;
    Blake2b::Hash(v.Expose(), v.ExposeMutable());
  }
  Blake2b::Hash(v.Expose(), out);
}

void StoreBlock(const Argon2Implementation& implementation, const Argon2Block& block,
                std::span<uint8_t, kBlockSize> bytes) {
  for (size_t i = 0; i < kArgon2Words; ++i) {
    StoreLittleEndian(block.word[implementation.order[i]],
                      std::span<uint8_t, 8>(bytes.data() + 8 * i, 8));
  }
}

void LoadBlock(const Argon2Implementation& implementation,
               std::span<const uint8_t, kBlockSize> bytes, Argon2Block& block) {
  for (size_t i = 0; i < kArgon2Words; ++i) {
    block.word[implementation.order[i]] =
        LoadLittleEndian<uint64_t>(std::span<const uint8_t, 8>(bytes.data() + 8 * i, 8));
  }
}

// Section 3.2, steps 3 and 4.
void SetFirstBlocks(const Argon2Implementation& implementation, const Argon2Shape& shape,
                    const FirstHash& hash, Argon2Block* blocks) {
  struct InputRole;
  SecretArray<FirstHash::kSize + 8, InputRole> input;
  const std::span<uint8_t, FirstHash::kSize + 8> in = input.ExposeMutable();
  std::memcpy(in.data(), hash.Expose().data(), FirstHash::kSize);
  SecretArray<kBlockSize, InputRole> bytes;
  for (uint32_t lane = 0; lane < shape.lanes; ++lane) {
    StoreLittleEndian(lane, in.last<4>());
    for (uint32_t column = 0; column < 2; ++column) {
      StoreLittleEndian(column, in.subspan<FirstHash::kSize, 4>());
      HashToSize(in, bytes.ExposeMutable());
      LoadBlock(implementation, bytes.Expose(), blocks[size_t{lane} * shape.lane_length + column]);
    }
  }
}

// Section 3.2, step 7: C is the sum of the last blocks; the tag is H'(C).
void Finish(const Argon2Implementation& implementation, const Argon2Shape& shape,
            Argon2Block* blocks, MutableByteSpan tag) {
  Argon2Block& sum = blocks[shape.lane_length - 1];
  for (uint32_t lane = 1; lane < shape.lanes; ++lane) {
    const Argon2Block& last = blocks[size_t{lane + 1} * shape.lane_length - 1];
    for (size_t i = 0; i < kArgon2Words; ++i) sum.word[i] ^= last.word[i];
  }
  struct SumRole;
  SecretArray<kBlockSize, SumRole> bytes;
  StoreBlock(implementation, sum, bytes.ExposeMutable());
  HashToSize(bytes.Expose(), tag);
}

// `job` was checked.
Status Compute(const Argon2idJob& job) {
  // Section 3.2, step 2: m' = 4 p floor(m / (4 p)), here as blocks of each lane.
  const uint32_t per_segment = job.parameters.memory_kib / (kArgon2Slices * job.parameters.lanes);
  const Argon2Shape shape = {.lanes = job.parameters.lanes,
                             .lane_length = per_segment * kArgon2Slices,
                             .passes = job.parameters.passes};
  const std::optional<size_t> size = CheckedMultiply(shape.block_count(), kBlockSize);
  if (!size) return Error(ErrorCode::kTooLarge, "argon2id needs more memory than can be addressed");
  Result<os::ScratchMemory> memory = os::ScratchMemory::Create(*size);
  if (!memory.ok()) return std::move(memory).error().WithContext("argon2id");
  auto* const blocks = reinterpret_cast<Argon2Block*>(memory->bytes().data());

  const Argon2Implementation& implementation = internal::Argon2();
  SetFirstBlocks(implementation, shape, HashInputs(job), blocks);
  Argon2Fill fill(implementation, shape, blocks);
  for (uint32_t pass = 0; pass < shape.passes; ++pass) {
    for (uint32_t slice = 0; slice < kArgon2Slices; ++slice) fill.FillSlice(pass, slice);
  }
  Finish(implementation, shape, blocks, job.tag);
  return OkStatus();
}

// The jobs of a batch, which threads take one by one.
class Queue {
 public:
  explicit Queue(std::span<const Argon2idJob> jobs) : jobs_(jobs), statuses_(jobs.size()) {}

  void Work() {
    for (size_t i = next_++; i < jobs_.size(); i = next_++) statuses_[i] = Compute(jobs_[i]);
  }

  // Once all is done: the error of the first job that has one.
  Status Outcome() {
    for (Status& status : statuses_) COFFER_TRY(std::move(status));
    return OkStatus();
  }

 private:
  std::span<const Argon2idJob> jobs_;
  std::vector<Status> statuses_;
  std::atomic<size_t> next_ = 0;
};

// Whether another thread was to be had. If not, those that are there do it all.
bool StartThread(std::vector<std::jthread>& threads, Queue& queue) {
  try {
    threads.emplace_back([&queue] { queue.Work(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

Status RunAll(std::span<const Argon2idJob> jobs) {
  for (const Argon2idJob& job : jobs) COFFER_TRY(Check(job));
  Queue queue(jobs);
  {
    const size_t wanted = std::min(jobs.size(), os::CpuCount());
    std::vector<std::jthread> others;
    others.reserve(wanted);
    while (others.size() + 1 < wanted && StartThread(others, queue)) {
    }
    queue.Work();
  }
  return queue.Outcome();
}

}  // namespace

Status Argon2idBatch(std::span<const Argon2idJob> jobs) {
  Status status = RunAll(jobs);
  if (!status.ok()) {
    for (const Argon2idJob& job : jobs) SecureWipe(job.tag);
  }
  return status;
}

Status Argon2id(const Argon2idParameters& parameters, const Argon2idInput& input,
                MutableByteSpan tag) {
  const Argon2idJob job = {.parameters = parameters, .input = input, .tag = tag};
  return Argon2idBatch({&job, 1});
}

}  // namespace coffer::crypto
