// SPDX-License-Identifier: Apache-2.0
// Parts of a test that run in a process of their own.
#pragma once

#include <functional>

namespace coffer::os {

// Runs `body` in a child, which exits with what it returns, and gives its wait status.
int RunInChild(const std::function<int()>& body);

// Whether a wait status is that of a process ended by a signal.
bool EndedBySignal(int wait_status, int signal_number);

}  // namespace coffer::os
