// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/local/testing/whole_trees.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::local {
namespace {

using os::FileSystem;
using vault::Entry;

// Far beyond PATH_MAX, and beyond what a stack of calls could hold.
TEST(RoundTrip, DeepTreesComeBack) {
  constexpr int kDepth = 10'000;
  const os::TemporaryDirectory directory;
  FileSystem& files = os::RealFileSystem();
  ASSERT_TRUE(IsOk(files.MakeDirectory(directory / "from", 0755)));
  {
    const auto view = std::move(files.Beneath(directory / "from")).value();
    std::string path;
    for (int i = 0; i < kDepth; ++i) {
      path += i == 0 ? "d" : "/d";
      ASSERT_TRUE(IsOk(view->MakeDirectory(path, 0755)));
    }
    os::WriteTestFile(*view, path + "/f", "deep");
  }
  const std::vector<Entry> before = ScanAll(files, directory / "from");
  ASSERT_EQ(before.size(), size_t{kDepth} + 1);
  RestoreAll(files, directory / "to", before);
  const std::vector<Entry> after = ScanAll(files, directory / "to");
  EXPECT_TRUE(Comparable(after) == Comparable(before));
  EXPECT_EQ(AsText(after.back().inline_data), "deep");
}

}  // namespace
}  // namespace coffer::local
