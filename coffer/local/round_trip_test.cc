// SPDX-License-Identifier: Apache-2.0
// Trees that are scanned and restored elsewhere.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/local/testing/whole_trees.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::local {
namespace {

using os::FileSystem;
using os::JoinPath;
using vault::Entry;

class Gardener {
 public:
  Gardener(FileSystem& files, unsigned seed) : files_(files), random_(seed) {}

  void Plant(const std::string& directory, int depth) {
    const size_t count = Below(6);
    for (size_t i = 0; i < count; ++i) PlantOne(JoinPath(directory, Name(i)), depth);
    const auto file = std::move(files_.Open(directory, {})).value();
    EXPECT_TRUE(IsOk(file->SetMode(0700 | Mode())));
    EXPECT_TRUE(IsOk(file->SetTimes(Time(), Time())));
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }
  uint32_t Mode() { return static_cast<uint32_t>(Below(01000)); }

  os::FileTime Time() {
    const int64_t seconds[] = {-2'000'000'000, -1, 0, 1'700'000'000, 9'300'000'000};
    return {seconds[Below(5)], static_cast<uint32_t>(Below(1'000'000'000))};
  }

  std::string Name(size_t i) {
    std::string name = std::to_string(i);
    for (size_t n = Below(20); n > 0; --n) {
      const char byte = static_cast<char>(1 + Below(255));
      if (byte != '/') name += byte;
    }
    return name;
  }

  void PlantOne(const std::string& path, int depth) {
    switch (Below(depth > 0 ? 8 : 6)) {
      case 0:
        EXPECT_TRUE(IsOk(files_.MakeSymlink("../" + Name(1), path)));
        EXPECT_TRUE(IsOk(files_.SetTimesNoFollow(path, Time(), Time())));
        return;
      case 1:
        EXPECT_TRUE(IsOk(files_.MakeFifo(path, 0600)));
        return;
      case 2:
        if (!last_file_.empty()) {
          EXPECT_TRUE(IsOk(files_.Link(last_file_, path)));
          return;
        }
        [[fallthrough]];
      case 3:
      case 4:
      case 5:
        PlantFile(path);
        return;
      default:
        EXPECT_TRUE(IsOk(files_.MakeDirectory(path, 0700)));
        Plant(path, depth - 1);
    }
  }

  void PlantFile(const std::string& path) {
    os::WriteTestFile(files_, path, "");
    os::OpenOptions options;
    options.access = os::Access::kReadWrite;
    const auto file = std::move(files_.Open(path, options)).value();
    uint64_t offset = 0;
    for (size_t stretches = Below(4); stretches > 0; --stretches) {
      if (Below(2) == 0) offset += Below(3) * 65536;
      const std::string data(1 + Below(30'000), static_cast<char>(Below(256)));
      EXPECT_TRUE(IsOk(file->WriteAt(offset, AsBytes(data))));
      offset += data.size();
    }
    EXPECT_TRUE(IsOk(file->Truncate(offset + Below(2) * 100'000)));
    if (Below(3) == 0) (void)file->SetAttribute("user.random", AsBytes(Name(2)));
    EXPECT_TRUE(IsOk(file->SetMode(Mode())));
    EXPECT_TRUE(IsOk(file->SetTimes(Time(), Time())));
    last_file_ = path;
  }

  FileSystem& files_;
  std::minstd_rand random_;
  std::string last_file_;
};

void RoundTrip(FileSystem& files, const std::string& root, unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  ASSERT_TRUE(IsOk(files.MakeDirectory(root, 0755)));
  ASSERT_TRUE(IsOk(files.MakeDirectory(root + "/from", 0755)));
  Gardener(files, seed).Plant(root + "/from", 4);
  const std::vector<Entry> before = ScanAll(files, root + "/from");
  RestoreAll(files, root + "/to", before);
  EXPECT_EQ(Comparable(ScanAll(files, root + "/to")), Comparable(before));
}

TEST(RoundTrip, RandomTreesComeBack) {
  const os::TemporaryDirectory directory;
  for (unsigned seed = 1; seed <= 25; ++seed) {
    RoundTrip(os::RealFileSystem(), directory / std::to_string(seed), seed);
  }
}

TEST(RoundTrip, RandomTreesComeBackInMemory) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    os::MemoryFileSystem memory;
    RoundTrip(memory, "/root", seed);
  }
}

}  // namespace
}  // namespace coffer::local
