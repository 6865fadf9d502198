// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM, SIGHUP and SIGQUIT at any moment: temporaries that have a name are removed, the
// terminal shows again what is typed, and the process ends by that signal, as its parent expects.
#pragma once

#include <cstddef>
#include <string>

#include "coffer/base/result.h"

struct termios;

namespace coffer::os {

// Called once, by main. Signals that are ignored at the start (nohup) stay ignored. A write beyond
// the limit of file sizes becomes an error in place of SIGXFSZ.
void InstallSignalHandlers();

// Writing to a pipe without a reader becomes ErrorCode::kClosedPipe in place of SIGPIPE.
void IgnoreSigpipe();
// Ends the process as SIGPIPE would have (141 in a shell): what a program of a pipeline does,
// without a message, when nobody reads on.
[[noreturn]] void DieBySigpipe();

// While one lives, no handler runs: a system call that makes or removes a temporary and the call
// that registers or unregisters it are one step. Kept for a few system calls only; at most one at a
// time lives in a thread, and threads wait for each other.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // `path` is unlinked by a handler from now on, until Unregister with the same slot. Returns
  // kNoSlot if the table is full: then a temporary survives a signal, and a later run sweeps it.
  size_t Register(const std::string& path);
  void Unregister(size_t slot);
  static constexpr size_t kNoSlot = SIZE_MAX;

  // The terminal `descriptor` is set to `normal` by a handler; `quiet` is what is set again when
  // the process goes on after Ctrl-Z. Forgotten with ForgetTerminal.
  void RememberTerminal(int descriptor, const termios& normal, const termios& quiet);
  void ForgetTerminal();

 private:
  alignas(16) unsigned char saved_mask_[128];  // sigset_t
};

}  // namespace coffer::os
