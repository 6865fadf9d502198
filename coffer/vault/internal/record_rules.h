// SPDX-License-Identifier: Apache-2.0
// What the format asks of a record beyond the form of its fields (docs/format/vault.md): the same
// rules hold readers, and writers before they encode. Each gives kDamaged with the rule broken.
#pragma once

#include "coffer/base/result.h"
#include "coffer/vault/records.h"

namespace coffer::vault::internal {

inline constexpr uint64_t kMaxObjectSize = uint64_t{1} << 48;
inline constexpr uint32_t kNanosecondsPerSecond = 1'000'000'000;

struct TableSizes {
  size_t segments = 0;
  size_t referred_commits = 0;
};

Status CheckEntry(const Entry& entry, const TableSizes& tables);
Status CheckCommit(const Commit& commit);
Status CheckCheckpoint(const Checkpoint& checkpoint);
Status CheckSegmentIndex(const SegmentIndex& index);

}  // namespace coffer::vault::internal
