// SPDX-License-Identifier: Apache-2.0
// What is wrong, or noteworthy, in a vault.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coffer::vault {

enum class FindingClass : uint8_t {
  kDamaged,        // not what was written
  kForged,         // whole, and no writer of this vault wrote it
  kMissing,        // referred to, and not there
  kPending,        // the same, but so recently that it may be on its way
  kFork,           // two commits of one writer with one number
  kOutOfSequence,  // a commit does not name the one before it
  kStranger,       // nothing of a vault
  kNeedsNewer,     // a newer coffer made it
  kUnreferenced,   // nothing refers to it: left by an interrupted command
  kNote,
};

struct Finding {
  FindingClass what = FindingClass::kNote;
  std::string key;                 // the object or name it is about
  std::string message;             // a sentence without it
  std::vector<std::string> paths;  // files of the current state that it hits
};

// "damaged", "forged", ...
std::string_view FindingWord(FindingClass what);

// Whether a finding means damage or forgery, so that a command ends with 5.
bool IsDamage(FindingClass what);
// Whether it means that part of the vault cannot be seen at the moment.
inline bool IsPending(FindingClass what) { return what == FindingClass::kPending; }

}  // namespace coffer::vault
