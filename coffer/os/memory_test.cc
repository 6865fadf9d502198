// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "coffer/os/output_file.h"
#include "coffer/os/testing/child.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

// Whether the mapping around `address` has a flag in /proc/self/smaps (proc(5), VmFlags).
bool HasFlag(const uint8_t* address, const std::string& flag) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0;
    uintptr_t last = 0;
    char dash = 0;
    std::istringstream range(line);
    if (line.find('-') < 20 && range >> std::hex >> first >> dash >> last && dash == '-') {
      inside = first <= wanted && wanted < last;
    } else if (inside && line.starts_with("VmFlags:")) {
      return line.find(' ' + flag) != std::string::npos;
    }
  }
  ADD_FAILURE() << "no such mapping";
  return false;
}

bool IsLocked(const uint8_t* address) { return HasFlag(address, "lo"); }
bool IsLeftOutOfDumps(const uint8_t* address) { return HasFlag(address, "dd"); }

class MemoryTest : public testing::Test {
 protected:
  static constexpr size_t kPage = 4096;
  MemoryTest() {
    void* pages =
        mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    pages_ = static_cast<uint8_t*>(pages);
  }
  ~MemoryTest() override { munmap(pages_, 4 * kPage); }
  uint8_t* pages_;
};

TEST_F(MemoryTest, LocksThePagesOfARegion) {
  {
    const MemoryLock lock(ByteSpan(pages_ + kPage - 1, kPage + 2));  // a byte, a page, a byte
    ASSERT_TRUE(lock.locked());
    for (size_t page = 0; page < 3; ++page) {
      EXPECT_TRUE(IsLocked(pages_ + page * kPage));
      EXPECT_TRUE(IsLeftOutOfDumps(pages_ + page * kPage));
    }
    EXPECT_FALSE(IsLocked(pages_ + 3 * kPage));
  }
  EXPECT_FALSE(IsLocked(pages_));
  EXPECT_FALSE(IsLeftOutOfDumps(pages_ + kPage));
}

TEST_F(MemoryTest, RegionsMayShareAPage) {
  MemoryLock first(ByteSpan(pages_, 32));
  {
    const MemoryLock second(ByteSpan(pages_ + 64, 32));
    first = MemoryLock();
    EXPECT_TRUE(IsLocked(pages_));
    EXPECT_FALSE(first.locked());
  }
  EXPECT_FALSE(IsLocked(pages_));
}

TEST_F(MemoryTest, LocksMove) {
  MemoryLock first(ByteSpan(pages_, 32));
  const MemoryLock second(std::move(first));
  EXPECT_TRUE(second.locked());
  EXPECT_TRUE(IsLocked(pages_));
}

TEST_F(MemoryTest, NothingDependsOnTheLimit) {
  EXPECT_EQ(RunInChild([&] {
              const rlimit none = {0, 0};
              if (setrlimit(RLIMIT_MEMLOCK, &none) != 0) return 1;
              if (geteuid() == 0 && setuid(65534) != 0) return 2;
              const MemoryLock lock(ByteSpan(pages_, 32));
              if (lock.locked()) return 3;
              return IsLeftOutOfDumps(pages_) ? 0 : 4;
            }),
            0);
  EXPECT_FALSE(MemoryLock(ByteSpan()).locked());
}

TEST(ScratchMemory, IsLeftOutOfDumps) {
  const Result<ScratchMemory> memory = ScratchMemory::Create(size_t{5} << 20);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(IsLeftOutOfDumps(memory->bytes().data()));
  EXPECT_TRUE(IsLeftOutOfDumps(&memory->bytes().back()));
}

TEST(HardenProcess, LeavesNoCoreAndLetsOutputsWork) {
  const TemporaryDirectory directory;
  ASSERT_EQ(chown(directory.path().c_str(), 65534, 65534), geteuid() == 0 ? 0 : -1);
  EXPECT_EQ(RunInChild([&] {
              if (geteuid() == 0 && setuid(65534) != 0) return 1;
              HardenProcess();
              rlimit limit = {};
              if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_max != 0) return 2;
              if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) return 3;
              // The kernel gives /proc/self of such a process to root; we must still reach it.
              auto output = OutputFile::Create(directory / "f", {});
              if (!output.ok() || !(*output)->Commit().ok()) return 4;
              const int log = open((directory / "log").c_str(), O_WRONLY | O_CREAT, 0600);
              auto shared = OutputFile::Create("/dev/fd/" + std::to_string(log), {});
              return shared.ok() && (*shared)->Commit().ok() ? 0 : 5;
            }),
            0);
  EXPECT_TRUE(TestFileExists(RealFileSystem(), directory / "f"));
}

}  // namespace
}  // namespace coffer::os
