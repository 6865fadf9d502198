// SPDX-License-Identifier: Apache-2.0
// 10,000 operations of each FrodoKEM set on every implementation, in parts that end in time without
// optimisation too.
#include <gtest/gtest.h>

#include "coffer/crypto/testing/frodo_agreement.h"
#include "coffer/crypto/testing/frodo_sets.h"

namespace coffer::crypto {
namespace {

constexpr int kRounds = 834;  // of three operations, in each of four parts

template <class Kem>
class FrodoSlowTest : public ::testing::Test {};
TYPED_TEST_SUITE(FrodoSlowTest, testing::AllFrodoKems, testing::FrodoSetName);

TYPED_TEST(FrodoSlowTest, ImplementationsAgreePart0) {
  testing::ExpectAgreement<typename TypeParam::Parameters>(100, kRounds);
}
TYPED_TEST(FrodoSlowTest, ImplementationsAgreePart1) {
  testing::ExpectAgreement<typename TypeParam::Parameters>(101, kRounds);
}
TYPED_TEST(FrodoSlowTest, ImplementationsAgreePart2) {
  testing::ExpectAgreement<typename TypeParam::Parameters>(102, kRounds);
}
TYPED_TEST(FrodoSlowTest, ImplementationsAgreePart3) {
  testing::ExpectAgreement<typename TypeParam::Parameters>(103, kRounds);
}

}  // namespace
}  // namespace coffer::crypto
