// SPDX-License-Identifier: Apache-2.0
// What is left out of a scan. One pattern names files and directories, and a directory that is left
// out is not entered:
//
//   *.o        without a slash: any component of that form, at any depth
//   a/b  /a    with one in front or within: the whole name in the vault, from its beginning
//   cache/     with one at the end: directories only; this slash does not count as one within
//   a/**/b     ** as a whole component: any number of components, none included
//
// In a component * stands for any bytes, ? for one byte, [a-c_] for one of a set and [!a] or [^a]
// for one not in it; \ takes the next byte as it is. None of them matches a slash; a dot in front
// is a byte like others. "[" without its "]" is itself.
//
// Names are bytes, and so are patterns. There are no exceptions: "!" in front is refused, and
// written \! where a name begins so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coffer/base/result.h"

namespace coffer::local {

class ExcludeList {
 public:
  // kInvalidArgument for a pattern that is empty or begins with "!".
  Status Add(std::string_view text);
  // One pattern a line. Empty lines and those that begin with "#" are passed over, \# begins one
  // with that byte; a carriage return at the end is dropped.
  Status AddLines(std::string_view text);

  // Whether `name`, a valid path, is left out by itself: its parents are known not to be.
  [[nodiscard]] bool Matches(std::string_view name, bool is_directory) const;
  [[nodiscard]] bool empty() const { return patterns_.empty(); }

 private:
  struct Pattern {
    std::vector<std::string> components;
    bool anchored = false;
    bool only_directories = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace coffer::local
