// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/signals.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <type_traits>

#include "coffer/base/check.h"

namespace coffer::os {
namespace {

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// What handlers read; changed only under `busy`, with the signals blocked in the thread that holds
// it. A handler that meets a holder in another thread waits for it: that one is not interrupted and
// makes a few system calls at most.
struct SharedState {
  std::atomic_flag busy;
  std::array<char*, 1024> temporaries{};
  int terminal = -1;
  termios normal{};
  termios quiet{};
};

SharedState g_state;

static_assert(std::is_trivially_destructible_v<SharedState>, "handlers may run during exit");

void Acquire() {
  while (g_state.busy.test_and_set(std::memory_order_acquire)) sched_yield();
}

void Release() { g_state.busy.clear(std::memory_order_release); }

sigset_t HandledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : kEndingSignals) sigaddset(&set, signal_number);
  sigaddset(&set, SIGTSTP);
  return set;
}

// A handler's mask: also SIGTTOU, since a process in the background may set the terminal only with
// that blocked (POSIX, tcsetattr).
sigset_t MaskOfHandlers() {
  sigset_t set = HandledSignals();
  sigaddset(&set, SIGTTOU);
  return set;
}

void UnblockSignal(int signal_number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

// Ends the process by `signal_number` with its default action. Async-signal-safe.
[[noreturn]] void DieBySignal(int signal_number) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal_number, &action, nullptr);
  raise(signal_number);
  UnblockSignal(signal_number);
  _exit(128 + signal_number);
}

void HandleEndingSignal(int signal_number) {
  Acquire();  // for good: no other thread begins another temporary
  if (g_state.terminal >= 0) (void)tcsetattr(g_state.terminal, TCSANOW, &g_state.normal);
  for (const char* path : g_state.temporaries) {
    if (path != nullptr) (void)unlink(path);
  }
  DieBySignal(signal_number);
}

// Ctrl-Z while the terminal does not echo: the shell must not get it so.
void HandleStopSignal(int) {
  const int saved_errno = errno;
  Acquire();
  if (g_state.terminal >= 0) (void)tcsetattr(g_state.terminal, TCSANOW, &g_state.normal);
  Release();

  struct sigaction standard = {};
  struct sigaction ours = {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &standard, &ours);
  raise(SIGTSTP);
  UnblockSignal(SIGTSTP);  // stops here until SIGCONT
  sigaction(SIGTSTP, &ours, nullptr);

  Acquire();
  // In the background the terminal is somebody else's; whoever reads then sets it again.
  if (g_state.terminal >= 0 && tcgetpgrp(g_state.terminal) == getpgrp()) {
    (void)tcsetattr(g_state.terminal, TCSANOW, &g_state.quiet);
  }
  Release();
  errno = saved_errno;
}

// Without SA_RESTART, so that a read of the terminal that was stopped comes back with EINTR.
void SetHandler(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  COFFER_CHECK(sigaction(signal_number, nullptr, &action) == 0);
  if (action.sa_handler == SIG_IGN) return;
  action = {};
  action.sa_handler = handler;
  action.sa_mask = MaskOfHandlers();
  COFFER_CHECK(sigaction(signal_number, &action, nullptr) == 0);
}

void Ignore(int signal_number) {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  COFFER_CHECK(sigaction(signal_number, &action, nullptr) == 0);
}

}  // namespace

void InstallSignalHandlers() {
  for (const int signal_number : kEndingSignals) SetHandler(signal_number, HandleEndingSignal);
  SetHandler(SIGTSTP, HandleStopSignal);
  Ignore(SIGXFSZ);
}

void IgnoreSigpipe() { Ignore(SIGPIPE); }

void DieBySigpipe() { DieBySignal(SIGPIPE); }

SignalGuard::SignalGuard() {
  static_assert(sizeof(sigset_t) <= sizeof(saved_mask_));
  const sigset_t blocked = HandledSignals();
  sigset_t before;
  COFFER_CHECK(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
  memcpy(saved_mask_, &before, sizeof(before));
  Acquire();
}

SignalGuard::~SignalGuard() {
  Release();
  sigset_t before;
  memcpy(&before, saved_mask_, sizeof(before));
  COFFER_CHECK(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
}

size_t SignalGuard::Register(const std::string& path) {
  for (size_t slot = 0; slot < g_state.temporaries.size(); ++slot) {
    if (g_state.temporaries[slot] != nullptr) continue;
    g_state.temporaries[slot] = strdup(path.c_str());
    return g_state.temporaries[slot] != nullptr ? slot : kNoSlot;
  }
  return kNoSlot;
}

void SignalGuard::Unregister(size_t slot) {
  if (slot == kNoSlot) return;
  COFFER_CHECK(slot < g_state.temporaries.size());
  free(g_state.temporaries[slot]);
  g_state.temporaries[slot] = nullptr;
}

void SignalGuard::RememberTerminal(int descriptor, const termios& normal, const termios& quiet) {
  g_state.terminal = descriptor;
  g_state.normal = normal;
  g_state.quiet = quiet;
}

void SignalGuard::ForgetTerminal() { g_state.terminal = -1; }

}  // namespace coffer::os
