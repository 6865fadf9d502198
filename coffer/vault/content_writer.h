// SPDX-License-Identifier: Apache-2.0
// The data of files, into segments of a store: cut into pieces, each stored once
// (docs/format/vault.md, "Data", "Segments").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coffer/age/coffer_recipient.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/os/random.h"
#include "coffer/store/store.h"
#include "coffer/vault/entry.h"
#include "coffer/vault/object.h"
#include "coffer/vault/piece_catalogue.h"
#include "coffer/vault/segment.h"
#include "coffer/vault/segment_table.h"

namespace coffer::vault {

// Of one file's data.
struct StoredContent {
  uint64_t size = 0;  // bytes read
  Id content_hash{};
  std::vector<Blob> blobs;       // numbers of the SegmentTable
  std::vector<Id> piece_hashes;  // if there are two or more
  uint64_t new_size = 0;         // bytes that were not in the vault before
};

struct ContentWriterOptions {
  uint64_t segment_size = uint64_t{16} << 20;  // of data; a piece that is larger has its own
  bool padding = true;
  size_t thread_count = 0;  // 0: as many as there are processors, at most 4
};

// Reads on the thread that calls, hashes and encrypts on others, each of which has a segment of its
// own. Little data goes to the first of them alone, so that it ends in few segments. Segments are
// published by one more thread while the next ones are written, several at a time; and by Flush.
//
// Holds at most three buffers of 4 MiB and one for each thread, wiped at the end, and for each
// thread what a segment that is open takes: an index of up to 512 KiB and two chunks. With four
// threads that is below 32 MiB; while an index is encoded it is there up to three times.
// Besides there are about 60 bytes for each piece of what was not taken yet.
//
// All but read_size and new_size is called from one thread at a time.
class ContentWriter {
 public:
  // Everything that is passed outlives the writer; store and random are used from several threads
  // at once. What is in the catalogue already is not stored again. The writer adds pieces to it as
  // it writes them: if it fails, or ends before all segments were published, catalogue and table
  // speak of segments that never come to be, and are of no further use.
  static Result<std::unique_ptr<ContentWriter>> Create(
      store::Store& store, const age::CofferRecipient& recipient, os::Random& random,
      const SegmentAuthor& author, SegmentTable& segments, PieceCatalogue& catalogue,
      const ContentWriterOptions& options);
  // Stops. Segments that were not published vanish.
  ~ContentWriter();
  ContentWriter(const ContentWriter&) = delete;
  ContentWriter& operator=(const ContentWriter&) = delete;

  // Reads `source` to its end; returns a ticket. Tickets ascend from 0, with a gap where a source
  // failed. An error of the source is returned and forgotten: only that file is lost. An error of
  // the store ends the writer: every later call returns it, and failed() says so.
  Result<size_t> Add(ByteSource& source);

  // Returns when all that was added is in segments that are published, and so on stable storage.
  // Their numbers in the table are set. The writer can go on afterwards.
  Status Flush();

  // The content of a ticket, once for each, after a Flush that succeeded.
  StoredContent Take(size_t ticket);

  [[nodiscard]] bool failed() const;

  // So far, files that were lost included.
  [[nodiscard]] uint64_t read_size() const;
  [[nodiscard]] uint64_t new_size() const;

 private:
  class Impl;
  explicit ContentWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace coffer::vault
