// SPDX-License-Identifier: Apache-2.0
// That the other tests of this program, which run what may run here, run the code for AVX-512.
#include <gtest/gtest.h>

#include "coffer/crypto/internal/frodo_kernels.h"
#include "coffer/crypto/internal/keccak.h"
#include "coffer/os/cpu.h"

namespace coffer::crypto::internal {
namespace {

TEST(EmulatedAvx512Test, IsChosen) {
  ASSERT_EQ(os::CpuLevel(), os::SimdLevel::kAvx512) << "the processor must have AVX2";
  EXPECT_EQ(&Keccak(), &kKeccakAvx512);
  EXPECT_EQ(Frodo().keccak, &kKeccakAvx512);
  EXPECT_EQ(Frodo().kernels, &kFrodoKernelsAvx512);
  if (os::Cpu().aes) {
    EXPECT_EQ(&FrodoBestAes(os::SimdLevel::kAvx512), &kFrodoAesVaes512);
  }
}

}  // namespace
}  // namespace coffer::crypto::internal
