// SPDX-License-Identifier: Apache-2.0
// Keys, stores and tables for tests of what stores and reads files' data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coffer/base/check.h"
#include "coffer/base/testing/memory_io.h"
#include "coffer/store/testing/fault_store.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/vault/content_reader.h"
#include "coffer/vault/content_writer.h"

namespace coffer::vault {

// Bytes that do not repeat within a file; those of two seeds differ in every piece.
inline Bytes NoiseOf(size_t size, uint64_t seed) {
  Bytes bytes(size);
  uint64_t state = seed * 0x9e3779b97f4a7c15U + 1;
  for (uint8_t& byte : bytes) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<uint8_t>(state >> 56);
  }
  return bytes;
}

// What a test needs fails it at once: see COFFER_CHECK.
struct ContentVault {
  ContentVault() {
    std::ranges::fill(seed.ExposeMutable(), uint8_t{7});
    author.vault.fill(1);
    author.writer.fill(2);
    author.seed = &seed;
    COFFER_CHECK(store.Prepare(SegmentPrefixes()).ok());
  }

  // What a store has to be prepared for.
  static std::vector<std::string> SegmentPrefixes() {
    std::vector<std::string> prefixes;
    for (int i = 0; i < 256; ++i) {
      Id id{};
      id[0] = static_cast<uint8_t>(i);
      const std::string key = ObjectKey(ObjectClass::kSegment, id);
      prefixes.push_back(key.substr(0, key.rfind('/')));
    }
    return prefixes;
  }

  std::unique_ptr<ContentWriter> Writer(const ContentWriterOptions& options = {}) {
    return ContentWriter::Create(faults, recipient, os::SystemRandom(), author, segments, pieces,
                                 options)
        .value();
  }

  // The segments of the store, in ascending order.
  [[nodiscard]] std::vector<Id> Published() {
    std::vector<Id> ids;
    const std::vector<store::ObjectInfo> listed = store.List("segments").value();
    for (const store::ObjectInfo& info : listed) {
      const std::optional<Id> id = IdOfKey(ObjectClass::kSegment, info.key);
      if (id) ids.push_back(*id);
    }
    return ids;
  }

  static Result<size_t> Add(ContentWriter& writer, ByteSpan data) {
    testing::MemorySource source(data);
    return writer.Add(source);
  }

  // What reading `content` gives.
  Result<Bytes> Read(const StoredContent& content) {
    Entry entry;
    entry.size = content.size;
    entry.content_hash = content.content_hash;
    entry.blobs = content.blobs;
    entry.piece_hashes = content.piece_hashes;
    Bytes out;
    COFFER_TRY(reader.Read(entry, [&](uint64_t offset, ByteSpan bytes) {
      COFFER_CHECK(offset == out.size());
      Append(out, bytes);
      return OkStatus();
    }));
    return out;
  }

  crypto::CofferSeed seed;
  SegmentAuthor author;
  age::CofferIdentity identity = age::CofferIdentity::Generate(os::SystemRandom()).value();
  age::CofferRecipient recipient =
      age::CofferRecipient::Parse(identity.ToRecipient().value()->ToString()).value();
  store::MemoryStore store;
  store::FaultStore faults{store};
  SegmentTable segments;
  PieceCatalogue pieces;
  ContentReader reader{faults, segments};
};

}  // namespace coffer::vault
