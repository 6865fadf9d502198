// SPDX-License-Identifier: Apache-2.0
// What was seen of a vault, in two files of which the newer whole one counts (grammar:
// installation.h). Nothing is synced: a crash loses the newest of it at worst.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/os/file_system.h"
#include "coffer/vault/installation.h"

namespace coffer::local::internal {

struct SeenState {
  uint64_t generation = 0;                    // 0: nothing was kept yet
  std::vector<vault::SeenCommit> commits;     // ascending by writer, one each
  std::vector<vault::FirstNoticed> absences;  // ascending by absence
};

// Takes over what is newer in `commits`; returns whether anything was.
bool MergeCommits(SeenState& state, std::span<const vault::SeenCommit> commits);
// Makes `now` the absences, those already known with their times; returns whether that changed
// anything.
bool SetAbsences(SeenState& state, std::span<const vault::FirstNoticed> now);

Result<Bytes> EncodeSeen(const SeenState& state);
// kDamaged for bytes that are not whole.
Result<SeenState> DecodeSeen(ByteSpan bytes);

struct LoadedSeen {
  SeenState state;
  bool damaged = false;  // there are files, and none of them is whole
};

// Fails only if a file that is there cannot be read.
Result<LoadedSeen> LoadSeen(os::FileSystem& file_system, const std::string& directory);
// Under the next generation, in place of the older file.
Status StoreSeen(os::FileSystem& file_system, const std::string& directory, SeenState& state);

}  // namespace coffer::local::internal
