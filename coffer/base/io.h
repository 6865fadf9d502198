// SPDX-License-Identifier: Apache-2.0
// Where bytes come from and where they go.
#pragma once

#include <cstddef>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads between 1 and out.size() bytes into the front of `out` and returns how many; 0 means the
  // end, and stays so. `out` is not empty.
  virtual Result<size_t> Read(MutableByteSpan out) = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Takes all of `bytes`, or fails. After a failure the sink is not written to again.
  virtual Status Write(ByteSpan bytes) = 0;
};

class RandomAccessSource {
 public:
  virtual ~RandomAccessSource() = default;

  [[nodiscard]] virtual uint64_t size() const = 0;
  // Reads from `offset` on until `out` is full or the source ends; returns how many bytes.
  virtual Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) = 0;
};

// Reads until `out` is full or the source ends; returns how many bytes were read.
inline Result<size_t> ReadFull(ByteSource& source, MutableByteSpan out) {
  size_t done = 0;
  while (done < out.size()) {
    COFFER_ASSIGN_OR_RETURN(const size_t count, source.Read(out.subspan(done)));
    if (count == 0) break;
    done += count;
  }
  return done;
}

}  // namespace coffer
