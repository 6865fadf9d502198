// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/users.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace coffer::os {
namespace {

TEST(Users, NumbersHaveNamesOrNone) {
  for (int i = 0; i < 2; ++i) {  // asked, and remembered
    EXPECT_EQ(SystemUsers().UserName(0), "root");
    EXPECT_EQ(SystemUsers().GroupName(0), "root");
    EXPECT_EQ(SystemUsers().UserName(3'999'999'999), "");
    EXPECT_EQ(SystemUsers().GroupName(3'999'999'999), "");
  }
}

TEST(Users, OnlyTheSuperuserGivesFilesAway) { EXPECT_EQ(MaySetOwners(), geteuid() == 0); }

}  // namespace
}  // namespace coffer::os
