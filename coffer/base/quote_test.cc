// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/quote.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace coffer {
namespace {

using namespace std::literals;

TEST(Quote, KeepsWhatShows) {
  EXPECT_EQ(Quote(""), R"("")");
  EXPECT_EQ(Quote("a b/c.txt"), R"("a b/c.txt")");
  EXPECT_EQ(Quote("Ä€𝄞"), R"("Ä€𝄞")");
  EXPECT_EQ(Quote("\u07ff\uffe6"), "\"\u07ff\uffe6\"");
}

TEST(Quote, EscapesControlBytesAndTheQuoteItself) {
  EXPECT_EQ(Quote("\a\b\f\n\r\t\v\"\\"), R"("\a\b\f\n\r\t\v\"\\")");
  EXPECT_EQ(Quote("\x1b[2J\x7f\x01"), R"("\x1b[2J\x7f\x01")");
  EXPECT_EQ(Quote("a\0b"sv), R"("a\x00b")");
}

TEST(Quote, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(Quote("\xff"), R"("\xff")");
  EXPECT_EQ(Quote("\x9b"), R"("\x9b")");                          // CSI in eight bits
  EXPECT_EQ(Quote("\xc3"), R"("\xc3")");                          // cut off
  EXPECT_EQ(Quote("\xc3(x"), R"("\xc3(x")");                      // no continuation
  EXPECT_EQ(Quote("\xc0\xaf"), R"("\xc0\xaf")");                  // overlong '/'
  EXPECT_EQ(Quote("\xe0\x9f\xbf"), R"("\xe0\x9f\xbf")");          // overlong
  EXPECT_EQ(Quote("\xed\xa0\x80"), R"("\xed\xa0\x80")");          // surrogate
  EXPECT_EQ(Quote("\xf4\x90\x80\x80"), R"("\xf4\x90\x80\x80")");  // beyond U+10FFFF
  EXPECT_EQ(Quote("\xf8\x88\x80\x80\x80"), R"("\xf8\x88\x80\x80\x80")");
}

TEST(Quote, EscapesWhatIsInvisibleOrMovesItsNeighbours) {
  EXPECT_EQ(Quote("\u0080\u009f\u00a0\u00ad"), R"("\u0080\u009f\u00a0\u00ad")");
  EXPECT_EQ(Quote("\u202egpj.exe"), R"("\u202egpj.exe")");  // right-to-left override
  EXPECT_EQ(Quote("\u2066\ufeff\ue000"), R"("\u2066\ufeff\ue000")");
  EXPECT_EQ(Quote("\U000e0041\U0001fffe"), R"("\U000e0041\U0001fffe")");
}

TEST(IsUtf8, IsStrict) {
  for (const char* good : {"", "a", "\n\x1b", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x97\x9d"}) {
    EXPECT_TRUE(IsUtf8(good)) << Quote(good);
  }
  for (const char* bad : {"\x80", "\xc3", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xff", "\xe2\x82", "ok\xfe"}) {
    EXPECT_FALSE(IsUtf8(bad)) << Quote(bad);
  }
}

}  // namespace
}  // namespace coffer
