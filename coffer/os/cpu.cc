// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/cpu.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "coffer/base/quote.h"
#include "coffer/os/environment.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace coffer::os {

#if defined(__x86_64__)

namespace {

// XCR0: which registers the system saves (Intel SDM volume 1, 13.3).
uint64_t SavedRegisters() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr uint64_t kSavesYmm = 0x06;  // XMM and the upper halves of YMM
constexpr uint64_t kSavesZmm = 0xe6;  // those, mask registers and both parts of ZMM

bool Bit(uint32_t word, int bit) { return (word >> bit & 1) != 0; }

}  // namespace

// Leaves 1 and 7 of CPUID (Intel SDM volume 2, CPUID).
CpuFeatures DetectCpu() {
  CpuFeatures found;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
  found.ssse3 = Bit(c, 9);
  found.sse41 = Bit(c, 19);
  found.aes = Bit(c, 25);
  const bool has_xgetbv = Bit(c, 27);
  const uint64_t saved = has_xgetbv ? SavedRegisters() : 0;
  const bool ymm = (saved & kSavesYmm) == kSavesYmm;
  const bool zmm = (saved & kSavesZmm) == kSavesZmm;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  found.bmi1 = Bit(b, 3);
  found.bmi2 = Bit(b, 8);
  found.sha_ni = Bit(b, 29);
  found.avx2 = ymm && Bit(b, 5);
  found.vaes = ymm && Bit(c, 9);
  found.avx512f = zmm && Bit(b, 16);
  found.avx512dq = zmm && Bit(b, 17);
  found.avx512ifma = zmm && Bit(b, 21);
  found.avx512bw = zmm && Bit(b, 30);
  found.avx512vl = zmm && Bit(b, 31);
  found.avx512vbmi = zmm && Bit(c, 1);
  found.avx512vbmi2 = zmm && Bit(c, 6);
  found.avx512vnni = zmm && Bit(c, 11);
#ifdef COFFER_EMULATED_AVX512  // a test build in which all that needs these is plain C++
  found.avx512f = true;
  found.avx512dq = true;
  found.avx512bw = true;
  found.avx512vl = true;
  found.avx512vnni = true;
#endif
  return found;
}

#else

CpuFeatures DetectCpu() { return {}; }

#endif

CpuFeatures CapFeatures(const CpuFeatures& features, SimdLevel cap) {
  if (cap == SimdLevel::kPortable) return {};
  CpuFeatures capped = features;
  if (cap == SimdLevel::kAvx2) {
    capped.vaes = false;
    capped.avx512f = false;
    capped.avx512bw = false;
    capped.avx512vl = false;
    capped.avx512dq = false;
    capped.avx512vbmi = false;
    capped.avx512vbmi2 = false;
    capped.avx512ifma = false;
    capped.avx512vnni = false;
  }
  return capped;
}

SimdLevel LevelOf(const CpuFeatures& features) {
  if (!features.ssse3 || !features.sse41 || !features.avx2 || !features.bmi1 || !features.bmi2) {
    return SimdLevel::kPortable;
  }
  const bool avx512 =
      features.avx512f && features.avx512bw && features.avx512vl && features.avx512dq;
  return avx512 ? SimdLevel::kAvx512 : SimdLevel::kAvx2;
}

Result<SimdLevel> ParseCpuCap(std::string_view text) {
  for (const SimdLevel level : {SimdLevel::kPortable, SimdLevel::kAvx2, SimdLevel::kAvx512}) {
    if (text == SimdLevelName(level)) return level;
  }
  return Error(ErrorCode::kInvalidArgument,
               "COFFER_CPU is " + Quote(text) + ", not portable, avx2 or avx512");
}

const CpuFeatures& Cpu() {
  static const CpuFeatures features = [] {
    const std::optional<std::string> text = GetEnvironment("COFFER_CPU");
    if (!text) return DetectCpu();
    const Result<SimdLevel> cap = ParseCpuCap(*text);
    return CapFeatures(DetectCpu(), cap.ok() ? *cap : SimdLevel::kPortable);
  }();
  return features;
}

SimdLevel CpuLevel() {
  static const SimdLevel level = LevelOf(Cpu());
  return level;
}

std::string_view SimdLevelName(SimdLevel level) {
  switch (level) {
    case SimdLevel::kPortable:
      return "portable";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
  }
  COFFER_CHECK(false && "no such level");
}

size_t CpuCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return static_cast<size_t>(std::max(CPU_COUNT(&set), 1));
  }
  // There are more processors than a set holds.
  return static_cast<size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

}  // namespace coffer::os
