// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "coffer/os/testing/child.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/temporary_directory.h"

namespace coffer::os {
namespace {

class InputTest : public testing::Test {
 protected:
  std::string At(const std::string& name) { return directory_ / name; }
  TemporaryDirectory directory_;
  FaultFileSystem fs_{RealFileSystem()};
};

TEST_F(InputTest, ReadsAFileAndKnowsItsSize) {
  WriteTestFile(fs_, At("f"), "hello");
  const auto input = OpenInput(At("f"), fs_);
  ASSERT_TRUE(IsOk(input));
  EXPECT_EQ((*input)->size(), 5u);
  EXPECT_EQ((*input)->stat().kind, FileKind::kRegular);
  uint8_t buffer[8];
  EXPECT_EQ(ReadFull(**input, buffer).value(), 5u);
  EXPECT_EQ(AsText(ByteSpan(buffer).first(5)), "hello");
}

TEST_F(InputTest, SizesThatAreNotKnownAreNotSaid) {
  WriteTestFile(fs_, At("empty"), "");
  EXPECT_EQ((*OpenInput(At("empty"), fs_))->size(), std::nullopt);
  EXPECT_EQ((*OpenInput("/proc/self/status", fs_))->size(), std::nullopt);
  EXPECT_EQ((*OpenInput("/dev/null", fs_))->size(), std::nullopt);
  ASSERT_EQ(mkfifo(At("fifo").c_str(), 0600), 0);
  std::thread writer([&] { WriteTestFile(RealFileSystem(), At("fifo"), "x"); });
  const auto fifo = OpenInput(At("fifo"), fs_);
  writer.join();
  ASSERT_TRUE(IsOk(fifo));
  EXPECT_EQ((*fifo)->size(), std::nullopt);
  EXPECT_EQ(ReadAll(**fifo, 10, "fifo")->ExposeText(), "x");
}

TEST_F(InputTest, RefusesWhatIsNotToBeRead) {
  EXPECT_EQ(MessageOf(OpenInput(At("no"), fs_)),
            "cannot open \"" + At("no") + "\": No such file or directory");
  const auto directory = OpenInput(directory_.path(), fs_);
  EXPECT_EQ(ClassOf(directory), "invalid argument");
  EXPECT_EQ(MessageOf(directory), "cannot read \"" + directory_.path() + "\": it is a directory");
}

TEST_F(InputTest, StandardInputMayBeInTheMiddleOfAFile) {
  WriteTestFile(fs_, At("f"), "0123456789");
  EXPECT_EQ(RunInChild([&] {
              const int file = open(At("f").c_str(), O_RDONLY);
              if (dup2(file, STDIN_FILENO) != STDIN_FILENO) return 1;
              if (lseek(file, 4, SEEK_SET) != 4) return 2;
              const auto input = OpenInput("-");
              if (!input.ok() || (*input)->size() != 6u) return 3;
              const auto content = ReadSecretFile("", 100);
              return content.ok() && content->ExposeText() == "456789" ? 0 : 4;
            }),
            0);
  EXPECT_EQ(RunInChild([&] {
              close(STDIN_FILENO);
              return MessageOf(OpenInput("-")) == "cannot read standard input: Bad file descriptor"
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(InputTest, TheSameFileIsSeenThroughAnyName) {
  WriteTestFile(fs_, At("f"), "x");
  ASSERT_TRUE(IsOk(fs_.Link(At("f"), At("hard"))));
  ASSERT_TRUE(IsOk(fs_.MakeSymlink("hard", At("soft"))));
  const auto input = OpenInput(At("soft"), fs_);
  ASSERT_TRUE(IsOk(input));
  const int descriptor = open(At("f").c_str(), O_RDONLY | O_CLOEXEC);
  const std::string own = "/dev/fd/" + std::to_string(descriptor);
  for (const std::string& path : {At("f"), At("hard"), At("soft"), At("./f"), own}) {
    EXPECT_TRUE(SameFile((*input)->stat(), *fs_.Stat(path))) << path;
  }
  EXPECT_FALSE(SameFile(fs_, "/dev/null", "/dev/null").value());
  close(descriptor);
}

TEST_F(InputTest, ReadsAllUpToTheLimit) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{10'000}}) {
    const std::string content(size, 'c');
    WriteTestFile(fs_, At("f"), content);
    const auto exact = ReadSecretFile(At("f"), size, fs_);
    ASSERT_TRUE(IsOk(exact));
    EXPECT_TRUE(exact->ExposeText() == content);
    if (size == 0) continue;
    const auto over = ReadSecretFile(At("f"), size - 1, fs_);
    EXPECT_EQ(ClassOf(over), "too large");
    EXPECT_EQ(MessageOf(over),
              "\"" + At("f") + "\" is larger than " + std::to_string(size - 1) + " bytes");
  }
}

TEST_F(InputTest, ReadsMayBeShortOrFail) {
  WriteTestFile(fs_, At("f"), "hello");
  fs_.ShortenNthRead(1);
  const auto content = ReadSecretFile(At("f"), 100, fs_);
  ASSERT_TRUE(IsOk(content));
  EXPECT_EQ(content->ExposeText(), "hello");
  fs_.FailNth(Call::kRead, 2, EIO);
  EXPECT_EQ(ErrnoOf(ReadSecretFile(At("f"), 100, fs_)), EIO);
}

TEST_F(InputTest, ReadsInheritedDescriptors) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(write(ends[1], "secret", 6), 6);
  close(ends[1]);
  const auto content = ReadSecretDescriptor(ends[0], 6);
  ASSERT_TRUE(IsOk(content));
  EXPECT_EQ(content->ExposeText(), "secret");
  close(ends[0]);
  EXPECT_EQ(MessageOf(ReadSecretDescriptor(ends[0], 6)),
            "cannot open \"/dev/fd/" + std::to_string(ends[0]) + "\": Bad file descriptor");
}

}  // namespace
}  // namespace coffer::os
