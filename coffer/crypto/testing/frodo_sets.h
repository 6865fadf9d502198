// SPDX-License-Identifier: Apache-2.0
// All sets of FrodoKEM, for typed tests.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "coffer/crypto/frodo_kem.h"

namespace coffer::crypto::testing {

using AllFrodoKems =
    ::testing::Types<FrodoKem640Shake, FrodoKem976Shake, FrodoKem1344Shake, FrodoKem640Aes,
                     FrodoKem976Aes, FrodoKem1344Aes, EFrodoKem640Shake, EFrodoKem976Shake,
                     EFrodoKem1344Shake, EFrodoKem640Aes, EFrodoKem976Aes, EFrodoKem1344Aes>;

// Names a typed test by its set, e.g. "eFrodoKEM_976_SHAKE".
struct FrodoSetName {
  template <class Kem>
  static std::string GetName(int) {
    std::string name(Kem::Parameters::kName);
    for (char& c : name) {
      if (c == '-') c = '_';
    }
    return name;
  }
};

}  // namespace coffer::crypto::testing
