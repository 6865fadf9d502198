// SPDX-License-Identifier: Apache-2.0
// The public matrix A of FrodoKEM (draft-longa-cfrg-frodokem-03 section 7.7), made row by row as it
// is used and never held as a whole.
//
// With SHAKE128 the rows are made in the lanes of a parallel Keccak, and a chain of serial hashes
// rides in one lane as long as it has work: then it costs one lane of a permutation where alone it
// would cost a whole one of its own. To let the hashes go first that the multiplication waits for,
// some rows can be made ahead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "coffer/crypto/frodo_parameters.h"
#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/sponge_chain.h"

namespace coffer::crypto::internal {

class FrodoRows {
 public:
  // `chain` outlives this.
  FrodoRows(const FrodoImplementation& implementation, FrodoGenerator generator, size_t n,
            std::span<const uint8_t, 16> seed, SpongeChain& chain);
  FrodoRows(const FrodoRows&) = delete;
  FrodoRows& operator=(const FrodoRows&) = delete;
  ~FrodoRows();

  // Makes rows ahead as long as that helps the chain to `size` bytes of output of `job`, then does
  // what is left of that by the chain alone.
  void Advance(size_t job, size_t size);

  // The next eight rows, valid until the next call; null when there are no more, or when the
  // cryptographic library failed.
  const uint16_t* Next();
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  static constexpr size_t kMaxLanes = 8;

  // Rows begin with cache lines where n allows it: vectors that cross from one to the next are
  // slow.
  static constexpr std::align_val_t kAlignment{64};
  struct AlignedDelete {
    void operator()(uint16_t* elements) const { ::operator delete[](elements, kAlignment); }
  };

  [[nodiscard]] uint16_t* Row(size_t index) { return buffer_.get() + index * n_; }
  [[nodiscard]] bool Riding() const;
  void MakeSome();
  template <size_t kLanes>
  void MakeWithShake(size_t count, bool ride);

  const FrodoImplementation& implementation_;
  FrodoGenerator generator_;
  size_t n_;
  SpongeChain& chain_;
  size_t blocks_;  // of SHAKE128 in a row
  FrodoAesKey aes_key_;
  const FrodoAes* aes_ = nullptr;
  std::array<uint8_t, 16> seed_;

  // Rows [begin_, end_) of the buffer are made and not yet handed out; made_ of A's are made.
  std::unique_ptr<uint16_t[], AlignedDelete> buffer_;
  size_t capacity_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t made_ = 0;
  bool failed_ = false;
  std::array<uint8_t, kShake128Kind.rate> unused_;  // what lanes without a row leave
};

}  // namespace coffer::crypto::internal
