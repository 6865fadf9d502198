// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <array>

#include "coffer/os/error.h"
#include "coffer/os/internal/descriptor.h"
#include "coffer/os/signals.h"

namespace coffer::os {
namespace {

using internal::Descriptor;
using internal::Retry;

Error TerminalError(const char* what) {
  return SystemError(std::string("cannot ") + what + " the terminal", errno);
}

// The settings for a prompt while it lives. Handlers of signals know what to go back to.
class ScopedSettings {
 public:
  static Result<std::unique_ptr<ScopedSettings>> Create(int descriptor, tcflag_t cleared,
                                                        tcflag_t set) {
    termios normal;
    if (tcgetattr(descriptor, &normal) != 0) return TerminalError("set up");
    termios quiet = normal;
    quiet.c_lflag = (quiet.c_lflag & ~cleared) | set;
    quiet.c_iflag |= ICRNL;
    quiet.c_cc[VMIN] = 1;  // for reads of single keys
    quiet.c_cc[VTIME] = 0;
    std::unique_ptr<ScopedSettings> settings(new ScopedSettings(descriptor, normal, quiet));
    COFFER_TRY(settings->Set());
    return settings;
  }

  ScopedSettings(const ScopedSettings&) = delete;
  ScopedSettings& operator=(const ScopedSettings&) = delete;
  ~ScopedSettings() {
    // One step for handlers: a stop in between would have them set the prompt's settings again.
    SignalGuard guard;
    (void)Retry([&] { return tcsetattr(descriptor_, TCSANOW, &normal_); });
    guard.ForgetTerminal();
  }

  // Sets the prompt's settings, also again after the process was stopped. What was typed ahead
  // stays (scripts send all their answers at once).
  Status Set() {
    if (Retry([&] { return tcsetattr(descriptor_, TCSANOW, &quiet_); }) == 0) return OkStatus();
    return TerminalError("set up");
  }

 private:
  ScopedSettings(int descriptor, const termios& normal, const termios& quiet)
      : descriptor_(descriptor), normal_(normal), quiet_(quiet) {
    SignalGuard guard;
    guard.RememberTerminal(descriptor, normal, quiet);
  }

  int descriptor_;
  termios normal_;
  termios quiet_;
};

Error EndOfInput() { return Error(ErrorCode::kCancelled, "the terminal was closed at the prompt"); }

}  // namespace

bool StandardInputIsTerminal() { return isatty(STDIN_FILENO) == 1; }
bool StandardOutputIsTerminal() { return isatty(STDOUT_FILENO) == 1; }
bool StandardErrorIsTerminal() { return isatty(STDERR_FILENO) == 1; }

Result<std::unique_ptr<Terminal>> Terminal::Open() {
  Descriptor opened(Retry([] { return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY); }));
  if (opened.valid()) return std::unique_ptr<Terminal>(new Terminal(opened.Release(), true));
  const int error = errno;
  if (StandardInputIsTerminal()) return FromDescriptor(STDIN_FILENO);
  return SystemError("standard input is not a terminal, and /dev/tty is not available", error);
}

Result<std::unique_ptr<Terminal>> Terminal::FromDescriptor(int descriptor) {
  if (isatty(descriptor) != 1) return TerminalError("use");
  return std::unique_ptr<Terminal>(new Terminal(descriptor, false));
}

Terminal::~Terminal() {
  if (owned_) Descriptor(descriptor_).Close();
}

Status Terminal::Show(std::string_view text) {
  const int error = internal::WriteAll(descriptor_, AsBytes(text));
  if (error != 0) return SystemError("cannot write to the terminal", error);
  return OkStatus();
}

// A fresh line works everywhere; then, where the terminal knows how, the line above is erased. Its
// end was not shown, but what stood before it was.
Status Terminal::EraseLine() { return Show("\r\n\x1b[F\x1b[K"); }

// One line in canonical mode, where the kernel edits it and hands it over with Enter. It drops what
// goes beyond 4095 bytes without a word, so a line of that size is taken for a longer one.
Result<SecretBuffer> Terminal::ReadLineFromDescriptor(const std::function<Status()>& on_resume) {
  SecretBuffer line;
  line.Reserve(kLineLimit + 1);
  std::array<uint8_t, kLineLimit + 1> buffer;
  Status failed;
  bool done = false;
  while (!done && failed.ok()) {
    const ssize_t count = read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      failed = on_resume();
    } else if (count < 0) {
      failed = TerminalError("read from");
    } else if (count == 0) {
      done = true;
      if (line.empty()) failed = EndOfInput();
    } else {
      const ByteSpan read_bytes = ByteSpan(buffer).first(static_cast<size_t>(count));
      done = read_bytes.back() == '\n';
      line.Append(done ? read_bytes.first(read_bytes.size() - 1) : read_bytes);
      if (line.size() > kLineLimit) failed = Error(ErrorCode::kTooLarge, "the line is too long");
    }
  }
  SecureWipe(buffer);
  if (!failed.ok()) return std::move(failed).error();
  return line;
}

Result<SecretBuffer> Terminal::ReadSecret(std::string_view prompt) {
  COFFER_ASSIGN_OR_RETURN(const auto settings,
                          ScopedSettings::Create(descriptor_, ECHO | ECHONL, ICANON | ISIG));
  const auto show_prompt = [&] { return Show(std::string(prompt) + ' '); };
  COFFER_TRY(show_prompt());
  Result<SecretBuffer> line = ReadLineFromDescriptor([&]() -> Status {
    COFFER_TRY(settings->Set());
    return show_prompt();
  });
  COFFER_TRY(EraseLine());
  return line;
}

Result<SecretBuffer> Terminal::ReadLine(std::string_view prompt) {
  COFFER_ASSIGN_OR_RETURN(const auto settings,
                          ScopedSettings::Create(descriptor_, 0, ECHO | ICANON | ISIG));
  const auto show_prompt = [&] { return Show(std::string(prompt) + ' '); };
  COFFER_TRY(show_prompt());
  return ReadLineFromDescriptor([&]() -> Status {
    COFFER_TRY(settings->Set());
    return show_prompt();
  });
}

Result<char> Terminal::ReadKey(std::string_view prompt, std::string_view keys) {
  constexpr char kCtrlC = 3;
  constexpr char kCtrlD = 4;
  COFFER_ASSIGN_OR_RETURN(const auto settings,
                          ScopedSettings::Create(descriptor_, ECHO | ECHONL | ICANON | ISIG, 0));
  COFFER_TRY(Show(std::string(prompt) + ' '));
  for (;;) {
    char key = 0;
    const ssize_t count = read(descriptor_, &key, 1);
    if (count < 0 && errno == EINTR) {
      COFFER_TRY(settings->Set());
    } else if (count < 0) {
      return TerminalError("read from");
    } else if (count == 0 || key == kCtrlC || key == kCtrlD) {
      COFFER_TRY(EraseLine());
      return Error(ErrorCode::kCancelled, "cancelled at the prompt");
    } else if (keys.find(key) != std::string_view::npos) {
      COFFER_TRY(EraseLine());
      return key;
    }
  }
}

Result<bool> Terminal::Confirm(std::string_view question) {
  COFFER_ASSIGN_OR_RETURN(const SecretBuffer answer, ReadLine(std::string(question) + " [y/N]"));
  std::string lower;
  for (const char c : answer.ExposeText()) {
    if (c != ' ') lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower == "y" || lower == "yes";
}

}  // namespace coffer::os
