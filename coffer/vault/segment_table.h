// SPDX-License-Identifier: Apache-2.0
// The segments that a process knows of, by small numbers that stay: what Blob::segment refers to
// outside a record. May be used by several threads at once.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "coffer/vault/records.h"

namespace coffer::vault {

class SegmentTable {
 public:
  // The number of a segment that is known, or is now.
  uint32_t Add(KnownSegment segment);
  // A number for a segment that is being written; at() fails until Set.
  uint32_t Reserve();
  void Set(uint32_t number, KnownSegment segment);

  // Stays valid as long as the table. The number was given out by this table, and set.
  [[nodiscard]] const KnownSegment& at(uint32_t number) const;
  [[nodiscard]] std::optional<uint32_t> Find(const Id& id) const;
  [[nodiscard]] size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::optional<KnownSegment>> segments_;
  std::map<Id, uint32_t> numbers_;
};

}  // namespace coffer::vault
