// SPDX-License-Identifier: Apache-2.0
// Outputs when calls fail, when the power goes, and when signals come, at every step of their life.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/output_file.h"
#include "coffer/os/signals.h"
#include "coffer/os/testing/child.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

using Names = std::vector<std::string>;

constexpr std::string_view kOld = "the old content";
constexpr std::string_view kNew = "what is new, in two writes";

struct Scenario {
  std::string name;
  bool exists = false;  // kOld is there
  bool named = false;   // no O_TMPFILE
  OutputKind kind = OutputKind::kReplaceable;
  bool sync = false;
};

std::vector<Scenario> Scenarios() {
  std::vector<Scenario> all;
  for (const bool named : {false, true}) {
    const std::string suffix = named ? "Named" : "Unnamed";
    all.push_back({"New" + suffix, false, named, OutputKind::kReplaceable, false});
    all.push_back({"NewSynced" + suffix, false, named, OutputKind::kReplaceable, true});
    all.push_back({"Replace" + suffix, true, named, OutputKind::kReplaceable, false});
    all.push_back({"ReplaceSynced" + suffix, true, named, OutputKind::kReplaceable, true});
    all.push_back({"Key" + suffix, false, named, OutputKind::kKeyFile, true});
  }
  return all;
}

class OutputLife : public testing::TestWithParam<Scenario> {
 protected:
  static Status Run(FileSystem& files, const std::string& path) {
    OutputOptions options;
    options.kind = GetParam().kind;
    options.sync = GetParam().sync;
    COFFER_ASSIGN_OR_RETURN(const auto output, OutputFile::Create(path, options, files));
    COFFER_TRY(output->Write(AsBytes(kNew.substr(0, 10))));
    COFFER_TRY(output->Write(AsBytes(kNew.substr(10))));
    return output->Commit();
  }

  // The content under `path`, or nothing.
  static std::string ContentOf(FileSystem& files, const std::string& path) {
    return TestFileExists(files, path) ? ReadTestFile(files, path) : "(none)";
  }
  static std::string OldContent() { return GetParam().exists ? std::string(kOld) : "(none)"; }

  static void Prepare(FileSystem& files, const std::string& directory) {
    if (GetParam().exists) WriteTestFile(files, JoinPath(directory, "f"), kOld);
  }
  static void Configure(FaultFileSystem& files) {
    if (GetParam().named) files.FailAlways(Call::kCreateUnnamed, ENOTSUP);
  }
};

INSTANTIATE_TEST_SUITE_P(All, OutputLife, testing::ValuesIn(Scenarios()),
                         [](const auto& param_info) { return param_info.param.name; });

// Every call fails once. Either the output says so, and all is as it was; or it got by without.
TEST_P(OutputLife, AnyCallMayFail) {
  for (const int error : {ENOSPC, EIO}) {
    size_t failures = 0;
    for (size_t n = 1;; ++n) {
      const TemporaryDirectory directory;
      FaultFileSystem files(RealFileSystem());
      Prepare(files, directory.path());
      Configure(files);
      files.ResetCounts();
      files.FailNthOfAny(n, error);
      const Status status = Run(files, directory / "f");
      if (!files.struck()) {
        EXPECT_TRUE(IsOk(status));
        EXPECT_GT(failures, 3u);
        break;
      }
      const bool failed_after_naming =
          files.Count(Call::kSyncDirectory) == 1 || files.Count(Call::kClose) == 1;
      const std::string content = ContentOf(RealFileSystem(), directory / "f");
      if (!status.ok()) ++failures;
      EXPECT_EQ(content, status.ok() || failed_after_naming ? kNew : OldContent()) << n;
      EXPECT_EQ(ListTestDirectory(RealFileSystem(), directory.path()),
                content == "(none)" ? Names{} : Names{"f"})
          << n;
    }
  }
}

// The power goes after every operation; what is left is the old or the new, and whole, or, for a
// new file that nobody synced, whatever; but never half of it under a name that had the old.
TEST_P(OutputLife, ThePowerMayGo) {
  for (size_t operations = 0;; ++operations) {
    MemoryFileSystem memory;
    FaultFileSystem files(memory);
    ASSERT_TRUE(IsOk(memory.MakeDirectory("/d", 0755)));
    Prepare(memory, "/d");
    OpenOptions options;
    if (GetParam().exists) {
      ASSERT_TRUE(IsOk((*memory.Open("/d/f", options))->Sync()));
    }
    ASSERT_TRUE(IsOk(memory.SyncDirectory("/d")));
    ASSERT_TRUE(IsOk(memory.SyncDirectory("/")));
    Configure(files);
    memory.CutAfter(operations);
    const Status status = Run(files, "/d/f");
    const bool acknowledged = status.ok() && GetParam().sync;
    const bool may_be_torn = !GetParam().exists && !GetParam().sync;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const auto left = seed == 0 ? memory.CrashDroppingUnsynced() : memory.CrashKeepingSome(seed);
      const std::string content = ContentOf(*left, "/d/f");
      if (acknowledged) {
        EXPECT_EQ(content, kNew) << operations << ' ' << seed;
      }
      EXPECT_TRUE(may_be_torn || content == kNew || content == OldContent()) << content;
      // The next run clears away what is left over.
      ASSERT_TRUE(IsOk((*OutputFile::Create("/d/g", {}, *left))->Commit()));
      const Names names = ListTestDirectory(*left, "/d");
      EXPECT_EQ(names, content == "(none)" ? Names{"g"} : (Names{"f", "g"}));
    }
    if (!memory.cut()) break;
  }
}

// A signal before every call. The process ends by it, and no temporary stays.
TEST_P(OutputLife, ASignalMayCome) {
  constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  size_t killed = 0;
  for (size_t n = 1;; ++n) {
    const int signal_number = kSignals[n % kSignals.size()];
    const TemporaryDirectory directory;
    Prepare(RealFileSystem(), directory.path());
    const int status = RunInChild([&] {
      signal(signal_number, SIG_DFL);
      InstallSignalHandlers();
      FaultFileSystem files(RealFileSystem());
      Configure(files);
      files.BeforeNthOfAny(n, [&] { (void)kill(getpid(), signal_number); });
      return Run(files, directory / "f").ok() ? 0 : 1;
    });
    const std::string content = ContentOf(RealFileSystem(), directory / "f");
    EXPECT_TRUE(content == kNew || content == OldContent()) << content;
    EXPECT_EQ(ListTestDirectory(RealFileSystem(), directory.path()),
              content == "(none)" ? Names{} : Names{"f"})
        << n;
    if (status == 0) break;
    EXPECT_TRUE(EndedBySignal(status, signal_number));
    ++killed;
  }
  EXPECT_GT(killed, 5u);
}

// The same from outside, at moments of the scheduler's choice.
TEST_P(OutputLife, ASignalMayComeFromOutside) {
  const TemporaryDirectory directory;
  for (int round = 0; round < 25; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      InstallSignalHandlers();
      FaultFileSystem files(RealFileSystem());
      Configure(files);
      (void)!write(ready[1], "x", 1);
      for (int i = 0;; ++i) {
        const std::string path = directory / ("f" + std::to_string(i % 3));
        if (!Run(files, path).ok()) _exit(1);
        if (GetParam().kind == OutputKind::kKeyFile && !files.Unlink(path).ok()) _exit(2);
      }
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(static_cast<useconds_t>(round) * 137 % 3000);
    ASSERT_EQ(kill(child, SIGTERM), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    for (const std::string& name : ListTestDirectory(RealFileSystem(), directory.path())) {
      EXPECT_EQ(name.substr(0, 1), "f");
      EXPECT_EQ(ReadTestFile(RealFileSystem(), directory / name), kNew);
      if (GetParam().kind == OutputKind::kKeyFile) {
        ASSERT_TRUE(IsOk(RealFileSystem().Unlink(directory / name)));
      }
    }
    close(ready[0]);
    close(ready[1]);
  }
}

}  // namespace
}  // namespace coffer::os
