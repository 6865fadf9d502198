// SPDX-License-Identifier: Apache-2.0
// Looking for damage. Nothing here changes anything.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "coffer/base/result.h"
#include "coffer/os/random.h"
#include "coffer/store/store.h"
#include "coffer/vault/findings.h"
#include "coffer/vault/vault.h"

namespace coffer::vault {

struct CheckCounts {
  uint64_t object_count = 0;  // segments, commits and checkpoints that were read
  uint64_t size = 0;          // bytes of them
};

// Called with the bytes that were read since the last call, from several threads.
using CheckProgress = std::function<void(uint64_t size)>;

// Whether an object's bytes are to be read.
using ObjectFilter = std::function<bool(ObjectClass object_class, const Id& id)>;
ObjectFilter AllObjects();
// All but segments, of which each is taken with a chance of `percent` in 100.
ObjectFilter SomeSegments(int percent, os::Random& random);

// Compares what is in the store with its names, which takes no key: every object against the
// SHA-256 that it is named by, coffer-vault and key files against their checksums, and what is no
// part of a vault. Goes on to the end; an error is only what says nothing about the vault.
Result<CheckCounts> CheckNames(store::Store& store, const ObjectFilter& filter,
                               const CheckProgress& progress, std::vector<Finding>& findings);

// What a loaded vault says beyond that: segments that are missing or of another size, with the
// files they hit, and segments that nothing refers to. Findings about segments that are there get
// the files that they hit.
Status CheckReferences(Vault& vault, std::vector<Finding>& findings);

// Reads the data of every current file through its hashes, except in segments that `filter` leaves
// out. Each file that does not come out is a finding.
Status CheckData(Vault& vault, const ObjectFilter& filter, const CheckProgress& progress,
                 std::vector<Finding>& findings);

}  // namespace coffer::vault
