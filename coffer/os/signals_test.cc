// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/os/file_system.h"
#include "coffer/os/output_file.h"
#include "coffer/os/testing/child.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

TEST(Signals, RegisteredTemporariesAreRemoved) {
  const TemporaryDirectory directory;
  for (const std::string name : {"kept", "removed", "unregistered"}) {
    WriteTestFile(RealFileSystem(), directory / name, "");
  }
  EXPECT_TRUE(EndedBySignal(RunInChild([&] {
                              InstallSignalHandlers();
                              {
                                SignalGuard guard;
                                (void)guard.Register(directory / "removed");
                                guard.Unregister(guard.Register(directory / "unregistered"));
                                guard.Unregister(SignalGuard::kNoSlot);
                              }
                              raise(SIGTERM);
                              return 0;
                            }),
                            SIGTERM));
  EXPECT_EQ(ListTestDirectory(RealFileSystem(), directory.path()),
            (std::vector<std::string>{"kept", "unregistered"}));
}

TEST(Signals, AGuardHoldsThemBack) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(EndedBySignal(RunInChild([&] {
                              InstallSignalHandlers();
                              {
                                SignalGuard guard;
                                raise(SIGINT);
                                WriteTestFile(RealFileSystem(), directory / "reached", "");
                                (void)guard.Register(directory / "reached");
                                WriteTestFile(RealFileSystem(), directory / "also", "");
                              }
                              return 0;
                            }),
                            SIGINT));
  EXPECT_EQ(ListTestDirectory(RealFileSystem(), directory.path()),
            std::vector<std::string>{"also"});
}

// The handler runs in a thread without the guard, and waits for the one that has it.
TEST(Signals, AGuardOfAnotherThreadHoldsThemBack) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(EndedBySignal(RunInChild([&] {
                              InstallSignalHandlers();
                              std::atomic<bool> guarded = false;
                              std::thread other([&] {
                                SignalGuard guard;
                                guarded = true;
                                usleep(100'000);
                                WriteTestFile(RealFileSystem(), directory / "removed", "");
                                (void)guard.Register(directory / "removed");
                                WriteTestFile(RealFileSystem(), directory / "reached", "");
                              });
                              while (!guarded) sched_yield();
                              pthread_kill(pthread_self(), SIGHUP);
                              other.join();
                              return 0;
                            }),
                            SIGHUP));
  EXPECT_EQ(ListTestDirectory(RealFileSystem(), directory.path()),
            std::vector<std::string>{"reached"});
}

TEST(Signals, AFullTableIsSaid) {
  EXPECT_EQ(RunInChild([] {
              SignalGuard guard;
              size_t count = 0;
              while (count < 100'000 && guard.Register("x") != SignalGuard::kNoSlot) ++count;
              if (count < 256 || count == 100'000) return 1;
              guard.Unregister(7);
              return guard.Register("y") == 7 ? 0 : 2;
            }),
            0);
}

TEST(Signals, WhatIsIgnoredAtTheStartStaysIgnored) {
  EXPECT_EQ(RunInChild([] {
              signal(SIGHUP, SIG_IGN);
              signal(SIGINT, SIG_IGN);
              InstallSignalHandlers();
              raise(SIGHUP);
              raise(SIGINT);
              return 0;
            }),
            0);
}

TEST(Signals, AFileTooLargeForTheLimitIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_EQ(RunInChild([&] {
              InstallSignalHandlers();
              const rlimit limit = {4096, 4096};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
              auto output = OutputFile::Create(directory / "f", {});
              if (!output.ok()) return 2;
              const std::vector<uint8_t> bytes(5000);
              const Status status = (*output)->Write(bytes);
              return ErrnoOf(status) == EFBIG ? 0 : 3;
            }),
            0);
  EXPECT_EQ(ListTestDirectory(RealFileSystem(), directory.path()), std::vector<std::string>{});
}

TEST(Signals, PipesWithoutReaders) {
  const auto write_to_closed_pipe = [](bool ignore) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return 1;
    close(ends[0]);
    if (ignore) IgnoreSigpipe();
    const Status status = StandardOutput().Write(AsBytes("x"));
    if (ClassOf(status) != "closed pipe") return 2;
    DieBySigpipe();
  };
  EXPECT_TRUE(EndedBySignal(RunInChild([&] { return write_to_closed_pipe(true); }), SIGPIPE));
  EXPECT_TRUE(EndedBySignal(RunInChild([&] {
                              signal(SIGPIPE, SIG_DFL);
                              return write_to_closed_pipe(false);
                            }),
                            SIGPIPE));
}

}  // namespace
}  // namespace coffer::os
