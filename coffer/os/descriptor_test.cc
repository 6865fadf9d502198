// SPDX-License-Identifier: Apache-2.0
// Reads and writes of descriptors that are interrupted, that move less than asked for, and that
// were left non-blocking.
#include "coffer/os/internal/descriptor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "coffer/os/file_system.h"
#include "coffer/os/testing/matchers.h"

namespace coffer::os {
namespace {

std::atomic<int> g_alarm_count = 0;

// Interrupts the process every half millisecond while it lives.
class Alarms {
 public:
  Alarms() {
    struct sigaction action = {};
    action.sa_handler = [](int) { ++g_alarm_count; };
    EXPECT_EQ(sigaction(SIGALRM, &action, &before_), 0);  // without SA_RESTART
    Set(500);
  }
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;
  ~Alarms() {
    Set(0);
    EXPECT_EQ(sigaction(SIGALRM, &before_, nullptr), 0);
  }

 private:
  static void Set(suseconds_t microseconds) {
    const itimerval timer = {{0, microseconds}, {0, microseconds}};
    EXPECT_EQ(setitimer(ITIMER_REAL, &timer, nullptr), 0);
  }
  struct sigaction before_ = {};
};

class PipeTransfer : public testing::TestWithParam<bool> {};

TEST_P(PipeTransfer, EverythingArrives) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC | (GetParam() ? O_NONBLOCK : 0)), 0);
  auto reader = RealFileSystem().OpenDescriptor(ends[0]);
  auto writer = RealFileSystem().OpenDescriptor(ends[1]);
  ASSERT_TRUE(IsOk(reader));
  ASSERT_TRUE(IsOk(writer));
  close(ends[0]);
  close(ends[1]);
  Bytes sent(3'000'000);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 31 >> 3);

  g_alarm_count = 0;
  const Alarms alarms;
  std::thread sender([&] {
    usleep(5000);  // the reader waits first
    for (size_t done = 0; done < sent.size(); done += 1'000'000) {
      EXPECT_TRUE(IsOk((*writer)->Write(ByteSpan(sent).subspan(done, 1'000'000))));
      usleep(2000);
    }
    EXPECT_TRUE(IsOk((*writer)->Close()));
  });
  Bytes received;
  for (;;) {
    uint8_t buffer[50'000];
    const auto count = (*reader)->Read(buffer);
    ASSERT_TRUE(IsOk(count));
    if (*count == 0) break;
    Append(received, ByteSpan(buffer, *count));
    usleep(300);  // the writer waits
  }
  sender.join();
  EXPECT_TRUE(received == sent);
  EXPECT_GT(g_alarm_count, 5);
}

INSTANTIATE_TEST_SUITE_P(All, PipeTransfer, testing::Bool(), [](const auto& param_info) {
  return param_info.param ? "NonBlocking" : "Blocking";
});

TEST(Descriptor, ClosesOnce) {
  const int raw = open("/dev/null", O_RDONLY | O_CLOEXEC);
  internal::Descriptor first(raw);
  internal::Descriptor second(std::move(first));
  EXPECT_EQ(second.get(), raw);
  EXPECT_EQ(second.Close(), 0);
  EXPECT_EQ(fcntl(raw, F_GETFD), -1);
  EXPECT_EQ(second.Close(), 0);
  EXPECT_EQ(internal::Descriptor(raw).Close(), EBADF);
}

}  // namespace
}  // namespace coffer::os
