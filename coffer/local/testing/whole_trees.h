// SPDX-License-Identifier: Apache-2.0
// Whole trees as entries and back, for tests. What goes wrong fails the test.
#pragma once

#include <string>
#include <vector>

#include "coffer/os/file_system.h"
#include "coffer/vault/entry.h"

namespace coffer::local {

// The content of a directory, with all data inline.
std::vector<vault::Entry> ScanAll(os::FileSystem& files, const std::string& path);
void RestoreAll(os::FileSystem& files, const std::string& to,
                const std::vector<vault::Entry>& entries);
// Without what a restore does not bring back.
std::vector<vault::Entry> Comparable(std::vector<vault::Entry> entries);

}  // namespace coffer::local
