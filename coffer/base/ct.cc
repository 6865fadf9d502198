// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/ct.h"

namespace coffer::ct {

bool Equal(ByteSpan a, ByteSpan b) {
  if (a.size() != b.size()) return false;
  uint32_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference = ValueBarrier(difference | static_cast<uint32_t>(a[i] ^ b[i]));
  }
  return Declassify(MaskIfZero(difference)) != 0;
}

bool IsAllZero(ByteSpan bytes) {
  uint32_t any = 0;
  for (uint8_t byte : bytes) any = ValueBarrier(any | byte);
  return Declassify(MaskIfZero(any)) != 0;
}

}  // namespace coffer::ct
