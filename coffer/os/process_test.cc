// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "coffer/os/environment.h"
#include "coffer/os/file_system.h"
#include "coffer/os/input.h"
#include "coffer/os/signals.h"
#include "coffer/os/testing/child.h"
#include "coffer/os/testing/matchers.h"

namespace coffer::os {
namespace {

std::string OutputOf(ChildProcess& child) {
  const auto output = ReadAll(child.output(), 100'000, "output");
  EXPECT_TRUE(IsOk(output));
  return std::string(output->ExposeText());
}

TEST(ChildProcess, TalksThroughPipes) {
  auto child = ChildProcess::Start({"cat"}, {});
  ASSERT_TRUE(IsOk(child));
  EXPECT_TRUE(IsOk((*child)->input().Write(AsBytes("hello"))));
  (*child)->CloseInput();
  EXPECT_EQ(OutputOf(**child), "hello");
  const auto status = (*child)->Wait();
  ASSERT_TRUE(IsOk(status));
  EXPECT_TRUE(status->success());
}

TEST(ChildProcess, ProgramsThatAreNotThere) {
  for (const std::string name : {"coffer-no-such-program", "/no/such/program"}) {
    const auto child = ChildProcess::Start({name}, {});
    EXPECT_EQ(ClassOf(child), "not found");
    EXPECT_EQ(MessageOf(child), "cannot run \"" + name + "\": No such file or directory");
  }
  EXPECT_EQ(ErrnoOf(ChildProcess::Start({"/dev/null"}, {})), EACCES);
}

TEST(ChildProcess, GetsArgumentsAndEnvironment) {
  setenv("COFFER_TEST_A", "old", 1);
  setenv("COFFER_TEST_B", "kept", 1);
  ChildOptions options;
  options.environment = {"COFFER_TEST_A=new value"};
  auto child = ChildProcess::Start(
      {"sh", "-c", "echo \"$1|$COFFER_TEST_A|$COFFER_TEST_B\"; exit 7", "sh", "a b"}, options);
  ASSERT_TRUE(IsOk(child));
  EXPECT_EQ(OutputOf(**child), "a b|new value|kept\n");
  EXPECT_EQ((*child)->Wait()->code, 7);
}

TEST(ChildProcess, InheritsNothingElse) {
  const auto file = RealFileSystem().Open("/dev/null", {});
  auto other = ChildProcess::Start({"cat"}, {});
  ASSERT_TRUE(IsOk(other));
  IgnoreSigpipe();
  ChildOptions options;
  options.standard_error = ChildStderr::kDiscard;
  auto child =
      ChildProcess::Start({"sh", "-c",
                           "for f in 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$f ] && echo $f; done; "
                           "readlink /proc/$$/fd/2; kill -PIPE $$; echo alive"},
                          options);
  ASSERT_TRUE(IsOk(child));
  EXPECT_EQ(OutputOf(**child), "/dev/null\n");
  EXPECT_EQ((*child)->Wait()->signal, SIGPIPE);
  signal(SIGPIPE, SIG_DFL);
}

TEST(ChildProcess, OneThatIsNotWaitedForIsEnded) {
  for (const std::string script :
       {"echo $$; exec sleep 1000", "trap '' TERM; echo $$; while :; do sleep 0.1; done"}) {
    auto child = ChildProcess::Start({"sh", "-c", script}, {});
    ASSERT_TRUE(IsOk(child));
    uint8_t buffer[32];
    const auto count = (*child)->output().Read(buffer);
    ASSERT_TRUE(IsOk(count));
    const pid_t process = std::stoi(std::string(AsText(ByteSpan(buffer, *count))));
    EXPECT_EQ(kill(process, 0), 0);
    child->reset();
    EXPECT_EQ(kill(process, 0), -1);
    EXPECT_EQ(errno, ESRCH);
  }
}

TEST(CaptureCommand, ReturnsWhatIsWritten) {
  const auto output = CaptureCommand("printf 'pass phrase\\n'", 12);
  ASSERT_TRUE(IsOk(output));
  EXPECT_EQ(output->ExposeText(), "pass phrase\n");
  EXPECT_EQ(CaptureCommand("true", 0)->size(), 0u);
}

TEST(CaptureCommand, FailuresDoNotShowTheCommand) {
  EXPECT_EQ(MessageOf(CaptureCommand("echo hunter2; exit 3", 100)),
            "the command failed with status 3");
  EXPECT_EQ(MessageOf(CaptureCommand("kill -KILL $$", 100)), "the command was ended by signal 9");
  const auto too_much = CaptureCommand("yes", 1000);
  EXPECT_EQ(ClassOf(too_much), "too large");
  EXPECT_EQ(MessageOf(too_much), "what the command writes is larger than 1000 bytes");
}

TEST(CaptureCommand, ReadsOurStandardInput) {
  EXPECT_EQ(RunInChild([] {
              int ends[2];
              if (pipe(ends) != 0 || write(ends[1], "in", 2) != 2) return 1;
              close(ends[1]);
              if (dup2(ends[0], STDIN_FILENO) != STDIN_FILENO) return 2;
              const auto output = CaptureCommand("cat", 100);
              return output.ok() && output->ExposeText() == "in" ? 0 : 3;
            }),
            0);
}

TEST(OpenStandardDescriptors, TakesTheLowNumbers) {
  EXPECT_EQ(RunInChild([] {
              for (const int descriptor : {0, 1, 2}) close(descriptor);
              OpenStandardDescriptors();
              if (open("/dev/null", O_RDWR) <= 2) return 1;
              char byte = 0;
              if (read(0, &byte, 1) != -1 || errno != EBADF) return 2;
              if (write(1, &byte, 1) != -1 || errno != EBADF) return 3;
              if (write(2, &byte, 1) != -1 || errno != EBADF) return 4;
              return 0;
            }),
            0);
  EXPECT_EQ(RunInChild([] {
              int ends[2];
              if (pipe(ends) != 0 || dup2(ends[1], 1) != 1) return 1;
              OpenStandardDescriptors();
              return write(1, "x", 1) == 1 ? 0 : 2;
            }),
            0);
}

TEST(Environment, IsRead) {
  setenv("COFFER_TEST_A", "", 1);
  unsetenv("COFFER_TEST_B");
  EXPECT_EQ(GetEnvironment("COFFER_TEST_A"), "");
  EXPECT_EQ(GetEnvironment("COFFER_TEST_B"), std::nullopt);
}

}  // namespace
}  // namespace coffer::os
