// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/cpu.h"

#include <stdlib.h>

#include <gtest/gtest.h>

#include "coffer/os/testing/child.h"
#include "coffer/os/testing/matchers.h"

namespace coffer::os {
namespace {

CpuFeatures AllFeatures() {
  CpuFeatures all;
  all.ssse3 = all.sse41 = all.avx2 = all.bmi1 = all.bmi2 = all.aes = all.vaes = all.sha_ni = true;
  all.avx512f = all.avx512bw = all.avx512vl = all.avx512dq = true;
  all.avx512vbmi = all.avx512vbmi2 = all.avx512ifma = all.avx512vnni = true;
  return all;
}

TEST(Cpu, CapsAreParsed) {
  EXPECT_EQ(ParseCpuCap("portable").value(), SimdLevel::kPortable);
  EXPECT_EQ(ParseCpuCap("avx2").value(), SimdLevel::kAvx2);
  EXPECT_EQ(ParseCpuCap("avx512").value(), SimdLevel::kAvx512);
  for (const char* text : {"", "AVX2", "avx2 ", "sse2"}) {
    EXPECT_EQ(ClassOf(ParseCpuCap(text)), "invalid argument") << text;
  }
  EXPECT_EQ(MessageOf(ParseCpuCap("a\nb")),
            "COFFER_CPU is \"a\\nb\", not portable, avx2 or avx512");
}

TEST(Cpu, LevelsNeedAllTheirFeatures) {
  EXPECT_EQ(LevelOf({}), SimdLevel::kPortable);
  EXPECT_EQ(LevelOf(AllFeatures()), SimdLevel::kAvx512);
  for (bool CpuFeatures::* needed : {&CpuFeatures::ssse3, &CpuFeatures::sse41, &CpuFeatures::avx2,
                                     &CpuFeatures::bmi1, &CpuFeatures::bmi2}) {
    CpuFeatures features = AllFeatures();
    features.*needed = false;
    EXPECT_EQ(LevelOf(features), SimdLevel::kPortable);
  }
  for (bool CpuFeatures::* needed : {&CpuFeatures::avx512f, &CpuFeatures::avx512bw,
                                     &CpuFeatures::avx512vl, &CpuFeatures::avx512dq}) {
    CpuFeatures features = AllFeatures();
    features.*needed = false;
    EXPECT_EQ(LevelOf(features), SimdLevel::kAvx2);
  }
}

TEST(Cpu, CapsHideFeatures) {
  EXPECT_EQ(LevelOf(CapFeatures(AllFeatures(), SimdLevel::kAvx512)), SimdLevel::kAvx512);
  const CpuFeatures avx2 = CapFeatures(AllFeatures(), SimdLevel::kAvx2);
  EXPECT_EQ(LevelOf(avx2), SimdLevel::kAvx2);
  EXPECT_TRUE(avx2.aes && avx2.sha_ni);
  EXPECT_FALSE(avx2.vaes || avx2.avx512f || avx2.avx512bw || avx2.avx512vl || avx2.avx512dq ||
               avx2.avx512vbmi || avx2.avx512vbmi2 || avx2.avx512ifma || avx2.avx512vnni);
  const CpuFeatures none = CapFeatures(AllFeatures(), SimdLevel::kPortable);
  EXPECT_FALSE(none.ssse3 || none.sse41 || none.avx2 || none.bmi1 || none.bmi2 || none.aes ||
               none.sha_ni);
}

TEST(Cpu, TheEnvironmentCaps) {
  const auto level_with = [](const char* cap) {
    return RunInChild([&] {
      setenv("COFFER_CPU", cap, 1);
      return static_cast<int>(CpuLevel());
    });
  };
  const auto machine = LevelOf(DetectCpu());
  EXPECT_EQ(level_with("portable"), 0);
  EXPECT_EQ(level_with("nonsense"), 0);
  const auto status_of = [](SimdLevel level) { return static_cast<int>(level) << 8; };
  EXPECT_EQ(level_with("avx2"), status_of(std::min(machine, SimdLevel::kAvx2)));
  EXPECT_EQ(level_with("avx512"), status_of(machine));
}

#if defined(__x86_64__)
// The compiler's run-time library looks at the same bits by its own code.
TEST(Cpu, AgreesWithTheCompiler) {
  const CpuFeatures found = DetectCpu();
  EXPECT_EQ(found.ssse3, __builtin_cpu_supports("ssse3") != 0);
  EXPECT_EQ(found.sse41, __builtin_cpu_supports("sse4.1") != 0);
  EXPECT_EQ(found.avx2, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(found.bmi1, __builtin_cpu_supports("bmi") != 0);
  EXPECT_EQ(found.bmi2, __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(found.aes, __builtin_cpu_supports("aes") != 0);
  EXPECT_EQ(found.avx512f, __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(found.avx512bw, __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(found.avx512vl, __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ(found.avx512dq, __builtin_cpu_supports("avx512dq") != 0);
  EXPECT_EQ(found.avx512vbmi, __builtin_cpu_supports("avx512vbmi") != 0);
  EXPECT_EQ(found.avx512vbmi2, __builtin_cpu_supports("avx512vbmi2") != 0);
  EXPECT_EQ(found.avx512ifma, __builtin_cpu_supports("avx512ifma") != 0);
  EXPECT_EQ(found.avx512vnni, __builtin_cpu_supports("avx512vnni") != 0);
}
#endif

TEST(Cpu, ThereIsOneAtLeast) { EXPECT_GE(CpuCount(), 1u); }

}  // namespace
}  // namespace coffer::os
