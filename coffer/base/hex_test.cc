// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/hex.h"

#include <gtest/gtest.h>

namespace coffer::hex {
namespace {

TEST(Hex, EveryByteRoundTrips) {
  Bytes all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<uint8_t>(i));
  const std::string text = Encode(all);
  EXPECT_EQ(text.size(), 512u);
  EXPECT_EQ(text.substr(0, 8), "00010203");
  EXPECT_EQ(text.substr(506), "fdfeff");
  EXPECT_EQ(Decode(text), all);
}

TEST(Hex, RefusesWhatIsNotCanonical) {
  EXPECT_TRUE(Decode("").value().empty());
  for (std::string_view text : {"0", "abc", "AB", "0g", " 00", "0x00", "00 "}) {
    EXPECT_FALSE(Decode(text)) << text;
  }
}

}  // namespace
}  // namespace coffer::hex
