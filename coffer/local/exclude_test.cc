// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/exclude.h"

#include <string>

#include <gtest/gtest.h>

#include "coffer/os/testing/matchers.h"

namespace coffer::local {
namespace {

bool Match(std::string_view pattern, std::string_view name, bool is_directory = false) {
  ExcludeList list;
  EXPECT_TRUE(IsOk(list.Add(pattern))) << pattern;
  return list.Matches(name, is_directory);
}

TEST(Exclude, WithoutASlashAtAnyDepth) {
  EXPECT_TRUE(Match("*.o", "a.o"));
  EXPECT_TRUE(Match("*.o", "x/y/a.o"));
  EXPECT_TRUE(Match("*.o", ".o"));
  EXPECT_FALSE(Match("*.o", "a.o/b"));  // the parent was left out already
  EXPECT_FALSE(Match("*.o", "a.oo"));
  EXPECT_TRUE(Match("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(Match("a*b*c", "aXbYbZ"));
  EXPECT_TRUE(Match("**", "anything/at/all"));
  EXPECT_TRUE(Match("?", "x/\xff"));
  EXPECT_FALSE(Match("?", "xy"));
  EXPECT_FALSE(Match("a", "A"));
}

TEST(Exclude, WithASlashFromTheBeginning) {
  EXPECT_TRUE(Match("/a", "a"));
  EXPECT_FALSE(Match("/a", "b/a"));
  EXPECT_TRUE(Match("a/b", "a/b"));
  EXPECT_FALSE(Match("a/b", "x/a/b"));
  EXPECT_FALSE(Match("a/b", "a/b/c"));
  EXPECT_FALSE(Match("a/*", "a/b/c"));
  EXPECT_TRUE(Match("a//b", "a/b"));
  EXPECT_FALSE(Match("a*b/c", "a/b/c"));
}

TEST(Exclude, AnyNumberOfComponents) {
  EXPECT_TRUE(Match("**/b", "b"));
  EXPECT_TRUE(Match("**/b", "x/y/b"));
  EXPECT_TRUE(Match("a/**", "a/b"));
  EXPECT_TRUE(Match("a/**/b", "a/b"));
  EXPECT_TRUE(Match("a/**/b", "a/x/y/b"));
  EXPECT_FALSE(Match("a/**/b", "a/x/y/c"));
  EXPECT_TRUE(Match("**/a/**/b", "x/a/c/a/b"));
  EXPECT_FALSE(Match("a/**b", "a/x/b"));  // not a whole component: a star
  EXPECT_TRUE(Match("a/**b", "a/xb"));
}

TEST(Exclude, DirectoriesOnly) {
  EXPECT_TRUE(Match("cache/", "x/cache", true));
  EXPECT_FALSE(Match("cache/", "x/cache", false));
  EXPECT_TRUE(Match("/x/cache/", "x/cache", true));
  EXPECT_FALSE(Match("/x/cache/", "y/x/cache", true));
}

TEST(Exclude, Sets) {
  EXPECT_TRUE(Match("[a-c]x", "bx"));
  EXPECT_FALSE(Match("[a-c]x", "dx"));
  EXPECT_TRUE(Match("[!a-c]x", "dx"));
  EXPECT_FALSE(Match("[^a-c]x", "ax"));
  EXPECT_TRUE(Match("[]]", "]"));
  EXPECT_TRUE(Match("[!]]", "x"));
  EXPECT_TRUE(Match("[a-]", "-"));
  EXPECT_TRUE(Match("[\\]]", "]"));
  EXPECT_TRUE(Match("[a", "[a"));
  EXPECT_TRUE(Match("[", "["));
  EXPECT_TRUE(Match("[\x80-\xff]", "\xe9"));
  EXPECT_FALSE(Match("[]", "x"));
}

TEST(Exclude, Escapes) {
  EXPECT_TRUE(Match("\\*", "*"));
  EXPECT_FALSE(Match("\\*", "x"));
  EXPECT_TRUE(Match("\\!a", "!a"));
  EXPECT_TRUE(Match("a\\", "a\\"));
  EXPECT_TRUE(Match("\\[a]", "[a]"));
}

TEST(Exclude, LinesOfAFile) {
  ExcludeList list;
  ASSERT_TRUE(IsOk(list.AddLines("# comment\n\n\r\n\\#kept\nlast")));
  EXPECT_TRUE(list.Matches("#kept", false));
  EXPECT_TRUE(list.Matches("x/last", false));
  EXPECT_FALSE(list.Matches("# comment", false));
  EXPECT_EQ(ClassOf(list.AddLines("a\n!b\n")), "invalid argument");
}

TEST(Exclude, RefusesWhatMeansNothing) {
  ExcludeList list;
  for (const char* pattern : {"", "/", "//", "!a"}) {
    EXPECT_EQ(ClassOf(list.Add(pattern)), "invalid argument") << pattern;
  }
  EXPECT_TRUE(list.empty());
}

TEST(Exclude, ManyStarsCostLittle) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(Match(pattern + "b", std::string(255, 'a')));
  EXPECT_TRUE(Match(pattern, std::string(255, 'a')));
}

}  // namespace
}  // namespace coffer::local
