// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include "coffer/base/check.h"

namespace coffer::os {

int RunInChild(const std::function<int()>& body) {
  const pid_t child = fork();
  COFFER_CHECK(child >= 0);
  if (child == 0) _exit(body());
  int status = 0;
  COFFER_CHECK(waitpid(child, &status, 0) == child);
  return status;
}

bool EndedBySignal(int wait_status, int signal_number) {
  return WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == signal_number;
}

}  // namespace coffer::os
