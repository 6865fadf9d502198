// SPDX-License-Identifier: Apache-2.0
// What of ML-KEM takes too long for every run.
#include <gtest/gtest.h>

#include "coffer/crypto/testing/ml_kem_accumulated.h"

namespace coffer::crypto {
namespace {

TEST(MlKemSlowTest, TenThousandOperationsHaveThePublishedHash) {
  EXPECT_EQ(testing::AccumulateMlKem(10000, testing::WithExpandedKeys::kYes),
            "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1");
  EXPECT_EQ(testing::AccumulateMlKem(10000, testing::WithExpandedKeys::kNo),
            "8a518cc63da366322a8e7a818c7a0d63483cb3528d34a4cf42f35d5ad73f22fc");
}

}  // namespace
}  // namespace coffer::crypto
