// SPDX-License-Identifier: Apache-2.0
// Questions to the person at the terminal. They go to /dev/tty, so that standard input, output and
// error stay free; where there is none, to standard input if that is a terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::os {

bool StandardInputIsTerminal();
bool StandardOutputIsTerminal();
bool StandardErrorIsTerminal();

class Terminal {
 public:
  // The longest line that is taken. The kernel's own limit is one byte more, and it does not tell
  // when it cuts a line there.
  static constexpr size_t kLineLimit = 4094;

  static Result<std::unique_ptr<Terminal>> Open();
  // On a terminal that is already open; the descriptor stays the caller's.
  static Result<std::unique_ptr<Terminal>> FromDescriptor(int descriptor);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Writes as it is: the caller has made foreign text harmless.
  Status Show(std::string_view text);

  // Shows `prompt` and a space, reads a line that does not show while it is typed, and erases the
  // prompt. Echo is on again afterwards, also when a signal ends or stops the process. The end of
  // input before the first byte is kCancelled; a line beyond kLineLimit is kTooLarge.
  Result<SecretBuffer> ReadSecret(std::string_view prompt);
  // The same with echo, and the prompt stays.
  Result<SecretBuffer> ReadLine(std::string_view prompt);

  // Shows `prompt` and waits for one key of `keys`, without echo or Enter, then erases the prompt.
  // Ctrl-C and the end of input are kCancelled.
  Result<char> ReadKey(std::string_view prompt, std::string_view keys);

  // Asks "`question` [y/N]". Only y or yes, in any case, is yes.
  Result<bool> Confirm(std::string_view question);

 private:
  Terminal(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {}

  // `on_resume` runs when the process was stopped and goes on.
  Result<SecretBuffer> ReadLineFromDescriptor(const std::function<Status()>& on_resume);
  Status EraseLine();

  int descriptor_;
  bool owned_;
};

}  // namespace coffer::os
