// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/entry_text.h"

#include <array>

#include <fmt/format.h>

#include "coffer/base/hex.h"
#include "coffer/base/quote.h"
#include "coffer/os/clock.h"

namespace coffer::cli {
namespace {

char KindLetter(vault::EntryKind kind) {
  switch (kind) {
    case vault::EntryKind::kFile:
      return '-';
    case vault::EntryKind::kDirectory:
      return 'd';
    case vault::EntryKind::kSymlink:
      return 'l';
    case vault::EntryKind::kFifo:
      return 'p';
    case vault::EntryKind::kCharacterDevice:
      return 'c';
    case vault::EntryKind::kBlockDevice:
      return 'b';
    case vault::EntryKind::kSocket:
      return 's';
  }
  return '?';
}

std::string OwnerText(const std::string& name, uint32_t number) {
  return name.empty() ? std::to_string(number) : DisplayName(name);
}

}  // namespace

std::string DisplayName(std::string_view name) {
  std::string quoted = Quote(name);
  const bool plain = quoted.size() == name.size() + 2 && !name.empty();
  return plain ? std::string(name) : quoted;
}

std::string ModeText(const vault::Entry& entry) {
  std::string text(1, KindLetter(entry.kind));
  constexpr std::string_view kLetters = "rwxrwxrwx";
  for (size_t bit = 0; bit < kLetters.size(); ++bit) {
    text += (entry.mode >> (8 - bit) & 1) != 0 ? kLetters[bit] : '-';
  }
  const auto special = [&](uint32_t bit, size_t place, char with, char without) {
    if ((entry.mode & bit) != 0) text[place] = text[place] == 'x' ? with : without;
  };
  special(04000, 3, 's', 'S');
  special(02000, 6, 's', 'S');
  special(01000, 9, 't', 'T');
  return text;
}

std::string LongLine(const vault::Entry& entry, std::string_view display_name) {
  std::string line =
      fmt::format("{}  {:<8}  {:<8}  {:>10}  {}  {}", ModeText(entry),
                  OwnerText(entry.user_name, entry.user), OwnerText(entry.group_name, entry.group),
                  entry.size, os::LocalTimeText(entry.modified), display_name);
  if (entry.kind == vault::EntryKind::kSymlink) line += " -> " + DisplayName(entry.link_target);
  return line;
}

std::string_view KindWord(vault::EntryKind kind) {
  constexpr std::array<std::string_view, 7> kWords = {
      "file", "directory", "symlink", "fifo", "character device", "block device", "socket"};
  return kWords[static_cast<size_t>(kind)];
}

JsonName JsonNameOf(std::string_view base, std::string_view raw) {
  if (IsUtf8(raw)) return {std::string(base), std::string(raw)};
  return {std::string(base) + "_hex", hex::Encode(AsBytes(raw))};
}

}  // namespace coffer::cli
