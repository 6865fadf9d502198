// SPDX-License-Identifier: Apache-2.0
// Prompts in a child whose terminal is a pseudo-terminal, with the test at its other end.
#include "coffer/os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "coffer/os/signals.h"
#include "coffer/os/testing/child.h"
#include "coffer/os/testing/matchers.h"

namespace coffer::os {
namespace {

constexpr std::string_view kErase = "\r\n\x1b[F\x1b[K";

// A child with a terminal; `body` is its life and gives its exit status.
class TerminalChild {
 public:
  explicit TerminalChild(const std::function<int()>& body) {
    EXPECT_EQ(openpty(&master_, &slave_, nullptr, nullptr, nullptr), 0);
    child_ = fork();
    EXPECT_GE(child_, 0);
    if (child_ != 0) return;
    close(master_);
    if (login_tty(slave_) != 0) _exit(100);
    InstallSignalHandlers();
    _exit(body());
  }
  TerminalChild(const TerminalChild&) = delete;
  TerminalChild& operator=(const TerminalChild&) = delete;
  ~TerminalChild() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(master_);
    close(slave_);
  }

  void Send(std::string_view text) {
    EXPECT_EQ(write(master_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // Reads what the terminal shows until `text` has come, after what was awaited before.
  void Await(std::string_view text) {
    size_t found;
    while ((found = shown_.find(text, awaited_)) == std::string::npos) {
      if (!ReadMore(20'000)) {
        FAIL() << "\"" << text << "\" does not come after: " << shown_.substr(awaited_);
      }
    }
    awaited_ = found + text.size();
  }

  // All that was ever shown.
  std::string Shown() {
    while (ReadMore(0)) continue;
    return shown_;
  }

  int WaitStatus() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    child_ = 0;
    return status;
  }

  [[nodiscard]] bool EchoIsOn() const {
    termios settings;
    EXPECT_EQ(tcgetattr(slave_, &settings), 0);
    return (settings.c_lflag & ECHO) != 0;
  }
  [[nodiscard]] pid_t pid() const { return child_; }

 private:
  bool ReadMore(int timeout_ms) {
    pollfd waiting = {master_, POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) != 1) return false;
    char buffer[512];
    const ssize_t count = read(master_, buffer, sizeof(buffer));
    if (count <= 0) return false;
    shown_.append(buffer, static_cast<size_t>(count));
    return true;
  }

  int master_ = -1;
  int slave_ = -1;
  pid_t child_ = 0;
  std::string shown_;
  size_t awaited_ = 0;
};

// Asks for a secret and exits with 0 if it is `expected`.
int AskFor(std::string_view expected) {
  auto terminal = Terminal::Open();
  if (!terminal.ok()) return 10;
  const auto secret = (*terminal)->ReadSecret("Enter it:");
  if (!secret.ok()) return 20 + static_cast<int>(secret.error().code());
  return secret->ExposeText() == expected ? 0 : 11;
}

TEST(Terminal, ASecretIsNotShown) {
  TerminalChild child([] { return AskFor("pass word"); });
  child.Await("Enter it: ");
  EXPECT_FALSE(child.EchoIsOn());
  child.Send("pasX\x7fs word\n");  // with a typing mistake
  child.Await(kErase);
  EXPECT_EQ(child.WaitStatus(), 0);
  EXPECT_TRUE(child.EchoIsOn());
  // The terminal puts a carriage return before each new line.
  EXPECT_EQ(child.Shown(), "Enter it: \r" + std::string(kErase));
}

TEST(Terminal, AnswersMayComeAllAtOnce) {
  TerminalChild child([] {
    const int first = AskFor("one");
    return first != 0 ? first : AskFor("");
  });
  child.Await("Enter it: ");
  child.Send("one\r\n");  // Enter twice: the second answer is empty
  EXPECT_EQ(child.WaitStatus(), 0);
}

TEST(Terminal, TheEndOfInputCancels) {
  TerminalChild child([] { return AskFor("x"); });
  child.Await("Enter it: ");
  child.Send("\x04");
  EXPECT_EQ(child.WaitStatus(), (20 + static_cast<int>(ErrorCode::kCancelled)) << 8);
  EXPECT_TRUE(child.EchoIsOn());
}

TEST(Terminal, ALineTooLongIsRefusedAndNotCut) {
  TerminalChild fits([] { return AskFor(std::string(Terminal::kLineLimit, 'a')); });
  fits.Await("Enter it: ");
  fits.Send(std::string(Terminal::kLineLimit, 'a') + "\n");
  EXPECT_EQ(fits.WaitStatus(), 0);
  for (const size_t more : {1u, 2u, 500u}) {
    TerminalChild longer([] { return AskFor("x"); });
    longer.Await("Enter it: ");
    longer.Send(std::string(Terminal::kLineLimit + more, 'a') + "\n");
    EXPECT_EQ(longer.WaitStatus(), (20 + static_cast<int>(ErrorCode::kTooLarge)) << 8) << more;
  }
}

TEST(Terminal, SignalsTurnEchoOnAgain) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    TerminalChild child([] { return AskFor("x"); });
    child.Await("Enter it: ");
    if (signal_number == SIGINT) {
      child.Send("half\x03");
    } else {
      // Nothing was typed: the kernel may come to it only when the echo is on again.
      ASSERT_EQ(kill(child.pid(), signal_number), 0);
    }
    EXPECT_TRUE(EndedBySignal(child.WaitStatus(), signal_number));
    EXPECT_TRUE(child.EchoIsOn());
    EXPECT_EQ(child.Shown().find("half"), std::string::npos);
  }
}

// The session leader plays the shell: it starts a job in the foreground, sees it stop, and
// continues it.
int PlayShell(const std::function<int()>& run_job) {
  signal(SIGTTOU, SIG_IGN);
  const pid_t job = fork();
  if (job == 0) {
    setpgid(0, 0);
    while (tcgetpgrp(STDIN_FILENO) != getpgrp()) usleep(1000);
    signal(SIGTTOU, SIG_DFL);
    _exit(run_job());
  }
  setpgid(job, job);
  if (tcsetpgrp(STDIN_FILENO, job) != 0) return 101;
  int status = 0;
  if (waitpid(job, &status, WUNTRACED) != job || !WIFSTOPPED(status)) return 102;
  termios settings;
  if (tcgetattr(STDIN_FILENO, &settings) != 0 || (settings.c_lflag & ECHO) == 0) return 103;
  if (tcsetpgrp(STDIN_FILENO, job) != 0 || kill(-job, SIGCONT) != 0) return 104;
  do {
    usleep(1000);
    if (tcgetattr(STDIN_FILENO, &settings) != 0) return 106;
  } while ((settings.c_lflag & ECHO) != 0);
  if (write(STDOUT_FILENO, "quiet again", 11) != 11) return 107;
  if (waitpid(job, &status, WUNTRACED) != job || !WIFEXITED(status)) return 105;
  return WEXITSTATUS(status);
}

TEST(Terminal, StoppingGivesTheEchoBackAndContinuingTakesIt) {
  TerminalChild child([] { return PlayShell([] { return AskFor("secret"); }); });
  child.Await("Enter it: ");
  child.Send("ha\x1a");
  child.Await("quiet again");
  child.Send("secret\n");
  EXPECT_EQ(child.WaitStatus(), 0);
  EXPECT_TRUE(child.EchoIsOn());
  EXPECT_EQ(child.Shown().find("secret"), std::string::npos);
}

// No read is there to be interrupted: the handler alone sets the terminal again.
TEST(Terminal, StoppingBetweenPromptAndReadIsTheSame) {
  TerminalChild child([] {
    return PlayShell([] {
      termios normal;
      if (tcgetattr(STDIN_FILENO, &normal) != 0) return 1;
      termios quiet = normal;
      quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
      {
        SignalGuard guard;
        guard.RememberTerminal(STDIN_FILENO, normal, quiet);
      }
      if (tcsetattr(STDIN_FILENO, TCSANOW, &quiet) != 0) return 2;
      raise(SIGTSTP);
      return 0;
    });
  });
  child.Await("quiet again");
  EXPECT_EQ(child.WaitStatus(), 0);
}

TEST(Terminal, LinesAreShown) {
  TerminalChild child([] {
    auto terminal = Terminal::Open();
    if (!terminal.ok() || !(*terminal)->Show("hello\n").ok()) return 1;
    const auto line = (*terminal)->ReadLine("Name?");
    return line.ok() && line->ExposeText() == "me" ? 0 : 2;
  });
  child.Await("hello\r\nName? ");
  EXPECT_TRUE(child.EchoIsOn());
  child.Send("me\n");
  child.Await("me");
  EXPECT_EQ(child.WaitStatus(), 0);
}

TEST(Terminal, OnlyYesIsYes) {
  const auto answer = [](std::string_view typed) {
    TerminalChild child([] {
      auto terminal = Terminal::Open();
      const auto confirmed = (*terminal)->Confirm("Really?");
      return confirmed.ok() && *confirmed ? 1 : 0;
    });
    child.Await("Really? [y/N] ");
    child.Send(typed);
    return WEXITSTATUS(child.WaitStatus()) == 1;
  };
  for (const char* yes : {"y\n", "Y\n", "yes\n", " YES \n"}) EXPECT_TRUE(answer(yes)) << yes;
  for (const char* no : {"\n", "n\n", "yess\n", "ye\n", "yy\n"}) EXPECT_FALSE(answer(no)) << no;
}

TEST(Terminal, KeysNeedNoEnter) {
  const auto pressed = [](std::string_view typed) {
    TerminalChild child([] {
      auto terminal = Terminal::Open();
      const auto key = (*terminal)->ReadKey("[1] or [2]?", "12");
      return key.ok() ? *key : static_cast<int>(key.error().code());
    });
    child.Await("[1] or [2]? ");
    child.Send(typed);
    const int status = child.WaitStatus();
    EXPECT_TRUE(child.EchoIsOn());
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(pressed("2"), '2');
  EXPECT_EQ(pressed("x1"), '1');
  EXPECT_EQ(pressed("\x03"), static_cast<int>(ErrorCode::kCancelled));
  EXPECT_EQ(pressed("\x04"), static_cast<int>(ErrorCode::kCancelled));
}

TEST(Terminal, WithoutATerminalThereIsAnError) {
  EXPECT_EQ(RunInChild([] {
              setsid();
              const int null = open("/dev/null", O_RDONLY);
              if (dup2(null, STDIN_FILENO) != STDIN_FILENO) return 1;
              if (StandardInputIsTerminal()) return 2;
              return MessageOf(Terminal::Open()) ==
                             "standard input is not a terminal, and /dev/tty is not available: "
                             "No such device or address"
                         ? 0
                         : 3;
            }),
            0);
}

TEST(Terminal, StandardInputServesWhereThereIsNoDevice) {
  int master = -1;
  int slave = -1;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(write(master, "typed\n", 6), 6);
  EXPECT_EQ(RunInChild([&] {
              setsid();
              if (dup2(slave, STDIN_FILENO) != STDIN_FILENO) return 1;
              if (!StandardInputIsTerminal()) return 2;
              return AskFor("typed");
            }),
            0);
  close(master);
  close(slave);
}

TEST(Terminal, OtherDescriptorsAreRefused) {
  EXPECT_EQ(ErrnoOf(Terminal::FromDescriptor(-1)), EBADF);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQ(ErrnoOf(Terminal::FromDescriptor(null)), ENOTTY);
  close(null);
}

}  // namespace
}  // namespace coffer::os
