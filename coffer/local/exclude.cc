// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/exclude.h"

#include <algorithm>
#include <optional>

#include "coffer/base/quote.h"

namespace coffer::local {
namespace {

constexpr std::string_view kAnyComponents = "**";

// The end of the set that begins at `start` with "[", or nothing if it has none. A "]" in front is
// a member.
std::optional<size_t> EndOfSet(std::string_view pattern, size_t start) {
  size_t at = start + 1;
  if (at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^')) ++at;
  for (const size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == ']' && at > first) return at;
    if (pattern[at] == '\\') ++at;
  }
  return std::nullopt;
}

bool IsInSet(std::string_view set, unsigned char byte) {
  const bool negated = set.starts_with('!') || set.starts_with('^');
  if (negated) set.remove_prefix(1);
  const auto take = [&] {
    if (set.size() > 1 && set.front() == '\\') set.remove_prefix(1);
    const auto taken = static_cast<unsigned char>(set.front());
    set.remove_prefix(1);
    return taken;
  };
  bool found = false;
  while (!set.empty()) {
    const unsigned char low = take();
    unsigned char high = low;
    if (set.size() > 1 && set.front() == '-') {
      set.remove_prefix(1);
      high = take();
    }
    found = found || (low <= byte && byte <= high);
  }
  return found != negated;
}

// Matches what is not a star at `at` against one byte; returns where the pattern goes on.
std::optional<size_t> MatchOne(std::string_view pattern, size_t at, char byte) {
  switch (pattern[at]) {
    case '?':
      return at + 1;
    case '[':
      if (const auto end = EndOfSet(pattern, at)) {
        const bool in_set =
            IsInSet(pattern.substr(at + 1, *end - at - 1), static_cast<unsigned char>(byte));
        return in_set ? std::optional(*end + 1) : std::nullopt;
      }
      break;
    case '\\':
      if (at + 1 < pattern.size()) ++at;
      break;
    default:
      break;
  }
  return pattern[at] == byte ? std::optional(at + 1) : std::nullopt;
}

// One component. A mismatch goes back to the last star alone, so the cost is the product of the
// sizes at worst.
bool MatchesComponent(std::string_view pattern, std::string_view name) {
  size_t at = 0;
  size_t position = 0;
  std::optional<size_t> after_star;
  size_t retry = 0;
  while (position < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      after_star = ++at;
      retry = position;
      continue;
    }
    const auto next =
        at < pattern.size() ? MatchOne(pattern, at, name[position]) : std::optional<size_t>();
    if (next) {
      at = *next;
      ++position;
    } else if (after_star) {
      at = *after_star;
      position = ++retry;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

// Whole names: the same, with "**" in the part of the star.
bool MatchesPath(const std::vector<std::string>& pattern, std::string_view name) {
  size_t at = 0;
  std::optional<size_t> after_any;
  std::string_view rest = name;
  std::string_view retry;
  const auto drop_component = [](std::string_view path) {
    const size_t slash = path.find('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  };
  while (!rest.empty()) {
    if (at < pattern.size() && pattern[at] == kAnyComponents) {
      after_any = ++at;
      retry = rest;
      continue;
    }
    if (at < pattern.size() && MatchesComponent(pattern[at], rest.substr(0, rest.find('/')))) {
      ++at;
      rest = drop_component(rest);
    } else if (after_any) {
      at = *after_any;
      rest = retry = drop_component(retry);
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == kAnyComponents) ++at;
  return at == pattern.size();
}

}  // namespace

Status ExcludeList::Add(std::string_view text) {
  Pattern pattern;
  std::string_view rest = text;
  if (rest.starts_with('!')) {
    return Error(
        ErrorCode::kInvalidArgument,
        "the pattern " + Quote(text) +
            " is an exception, which there are none of: write \\! for a name that begins so");
  }
  while (rest.ends_with('/')) {
    pattern.only_directories = true;
    rest.remove_suffix(1);
  }
  pattern.anchored = rest.find('/') != std::string_view::npos;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('/'), rest.size());
    if (end > 0) pattern.components.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (pattern.components.empty()) {
    return Error(ErrorCode::kInvalidArgument, "the pattern " + Quote(text) + " names nothing");
  }
  patterns_.push_back(std::move(pattern));
  return OkStatus();
}

Status ExcludeList::AddLines(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    COFFER_TRY(Add(line));
  }
  return OkStatus();
}

bool ExcludeList::Matches(std::string_view name, bool is_directory) const {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  return std::ranges::any_of(patterns_, [&](const Pattern& pattern) {
    if (pattern.only_directories && !is_directory) return false;
    if (pattern.anchored) return MatchesPath(pattern.components, name);
    return MatchesComponent(pattern.components[0], last);
  });
}

}  // namespace coffer::local
