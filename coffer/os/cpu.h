// SPDX-License-Identifier: Apache-2.0
// What the processor and the system can run. A feature is set only if the system also saves the
// registers it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coffer/base/result.h"

namespace coffer::os {

struct CpuFeatures {
  bool ssse3 = false;
  bool sse41 = false;
  bool avx2 = false;
  bool bmi1 = false;
  bool bmi2 = false;
  bool aes = false;
  bool vaes = false;
  bool sha_ni = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512vl = false;
  bool avx512dq = false;
  bool avx512vbmi = false;
  bool avx512vbmi2 = false;
  bool avx512ifma = false;
  bool avx512vnni = false;
};

// Ordered: a level includes those below it. kPortable is plain C++; kAvx2 needs ssse3, sse4.1,
// avx2, bmi1 and bmi2; kAvx512 needs those and avx512 f, bw, vl and dq. The rest is asked for one
// by one.
enum class SimdLevel : uint8_t { kPortable, kAvx2, kAvx512 };

// What this process may use: the machine's features, capped by COFFER_CPU. A cap of portable hides
// all of them, avx2 hides vaes and avx512*. Found once.
const CpuFeatures& Cpu();
SimdLevel CpuLevel();

// "portable", "avx2" or "avx512". The program reports a COFFER_CPU that is none of them; the choice
// of level takes it as portable.
Result<SimdLevel> ParseCpuCap(std::string_view text);

// The features under a cap, and the level that features make. For tests of the choice.
CpuFeatures CapFeatures(const CpuFeatures& features, SimdLevel cap);
SimdLevel LevelOf(const CpuFeatures& features);
// The machine's features, whatever COFFER_CPU says.
CpuFeatures DetectCpu();

std::string_view SimdLevelName(SimdLevel level);

// How many processors this process may run on, at least 1.
size_t CpuCount();

}  // namespace coffer::os
