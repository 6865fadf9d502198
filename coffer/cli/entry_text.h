// SPDX-License-Identifier: Apache-2.0
// Entries of a vault for people and for programs.
#pragma once

#include <string>
#include <string_view>

#include "coffer/vault/entry.h"

namespace coffer::cli {

// A name as it is, or quoted where a terminal would not show it as it is.
std::string DisplayName(std::string_view name);

// As ls -l has it, e.g. "drwxr-xr-x" or "-rwsr-xr-x".
std::string ModeText(const vault::Entry& entry);

// E.g. "drwxr-xr-x alice users 4096 2026-01-31T09:15:00Z name -> target"; columns are parted by
// two spaces at least.
std::string LongLine(const vault::Entry& entry, std::string_view display_name);

// "file", "directory", "symlink", "fifo", "character device", "block device", "socket".
std::string_view KindWord(vault::EntryKind kind);

// A member of JSON for raw bytes: BASE and the text if it is UTF-8, else BASE_hex and the bytes in
// hexadecimal.
struct JsonName {
  std::string key;
  std::string value;
};
JsonName JsonNameOf(std::string_view base, std::string_view raw);

}  // namespace coffer::cli
