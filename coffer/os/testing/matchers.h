// SPDX-License-Identifier: Apache-2.0
// Looking at results in tests of GoogleTest.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "coffer/base/result.h"

namespace coffer {

template <class T>
testing::AssertionResult IsOk(const Result<T>& result) {
  if (result.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.error().message();
}

// The errno of a failure; 0 if it succeeded.
template <class T>
int ErrnoOf(const Result<T>& result) {
  return result.ok() ? 0 : result.error().system_errno();
}

// The word of the failure's class; "ok" if it succeeded.
template <class T>
std::string ClassOf(const Result<T>& result) {
  return result.ok() ? "ok" : std::string(ErrorCodeName(result.error().code()));
}

template <class T>
std::string MessageOf(const Result<T>& result) {
  return result.ok() ? "" : result.error().message();
}

}  // namespace coffer
