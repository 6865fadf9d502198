// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/findings.h"

#include "coffer/base/check.h"

namespace coffer::vault {

std::string_view FindingWord(FindingClass what) {
  switch (what) {
    case FindingClass::kDamaged:
      return "damaged";
    case FindingClass::kForged:
      return "forged";
    case FindingClass::kMissing:
      return "missing";
    case FindingClass::kPending:
      return "pending";
    case FindingClass::kFork:
      return "fork";
    case FindingClass::kOutOfSequence:
      return "out of sequence";
    case FindingClass::kStranger:
      return "unknown";
    case FindingClass::kNeedsNewer:
      return "needs a newer coffer";
    case FindingClass::kUnreferenced:
      return "unreferenced";
    case FindingClass::kNote:
      return "note";
  }
  COFFER_CHECK(false && "no such class");
}

bool IsDamage(FindingClass what) {
  switch (what) {
    case FindingClass::kDamaged:
    case FindingClass::kForged:
    case FindingClass::kMissing:
    case FindingClass::kFork:
    case FindingClass::kOutOfSequence:
      return true;
    case FindingClass::kPending:
    case FindingClass::kStranger:
    case FindingClass::kNeedsNewer:
    case FindingClass::kUnreferenced:
    case FindingClass::kNote:
      return false;
  }
  return false;
}

}  // namespace coffer::vault
