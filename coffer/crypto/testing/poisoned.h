// SPDX-License-Identifier: Apache-2.0
// Secrets whose bytes are known and marked for memcheck.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coffer/base/ct.h"

namespace coffer::crypto::testing {

template <class Secret>
Secret PoisonedSecret(uint8_t first) {
  Secret secret;
  for (size_t i = 0; i < Secret::kSize; ++i) {
    secret.ExposeMutable()[i] = static_cast<uint8_t>(first + i);
  }
  ct::Poison(secret.Expose().data(), Secret::kSize);
  return secret;
}

}  // namespace coffer::crypto::testing
