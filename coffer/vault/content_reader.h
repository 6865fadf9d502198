// SPDX-License-Identifier: Apache-2.0
// The data of files, from the segments of a store. No byte is handed on before the hash of its
// piece was right.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "coffer/base/result.h"
#include "coffer/store/store.h"
#include "coffer/vault/entry.h"
#include "coffer/vault/object.h"
#include "coffer/vault/segment_table.h"

namespace coffer::vault {

// May be used by several threads at once. Holds at most kOpenSegments objects open, and for each
// Read two pieces (4 MiB) and a thread of its own that reads ahead, or one piece and none for a
// file that has no more; besides the buffers of ObjectReader.
class ContentReader {
 public:
  // Takes the next bytes of a file's data, which start at `offset` in the data without its holes.
  using Take = std::function<Status(uint64_t offset, ByteSpan bytes)>;

  static constexpr size_t kOpenSegments = 16;

  // Both outlive the reader. Blobs of entries refer to `segments`.
  ContentReader(store::Store& store, const SegmentTable& segments)
      : store_(store), segments_(segments) {}

  // Hands on all data of a file, in order, piece by piece. kDamaged if a segment is, or if data and
  // hashes of the entry do not belong together; an error of `take` ends the reading. `take` is
  // called on the thread that calls.
  Status Read(const Entry& entry, const Take& take);

 private:
  struct Open {
    uint32_t number;
    std::shared_ptr<ObjectReader> reader;
  };

  Result<std::shared_ptr<ObjectReader>> Segment(uint32_t number);
  Status ReadPiece(const Blob& blob, const Id& hash, MutableByteSpan out);

  store::Store& store_;
  const SegmentTable& segments_;
  std::mutex mutex_;
  std::list<Open> open_;  // guarded by mutex_; the one used last in front
};

}  // namespace coffer::vault
