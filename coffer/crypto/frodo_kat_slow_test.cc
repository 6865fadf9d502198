// SPDX-License-Identifier: Apache-2.0
// A hundred answers of each FrodoKEM set against the hash of the reference implementation's file.
#include <gtest/gtest.h>

#include "coffer/crypto/testing/frodo_answers.h"
#include "coffer/crypto/testing/frodo_sets.h"

namespace coffer::crypto {
namespace {

template <class Kem>
class FrodoKatSlowTest : public ::testing::Test {};
TYPED_TEST_SUITE(FrodoKatSlowTest, testing::AllFrodoKems, testing::FrodoSetName);

TYPED_TEST(FrodoKatSlowTest, HundredAnswersHashAsInLiboqs) {
  EXPECT_EQ(testing::Sha256InHex(testing::FrodoAnswers<TypeParam>(100)),
            testing::FrodoAnswerHash(TypeParam::Parameters::kName, "all"));
}

}  // namespace
}  // namespace coffer::crypto
