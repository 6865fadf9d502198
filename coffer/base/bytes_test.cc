// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/bytes.h"

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace coffer {
namespace {

TEST(Bytes, ViewsOfTextAreItsBytes) {
  const std::string_view text("a\0\xff", 3);
  const ByteSpan bytes = AsBytes(text);
  EXPECT_TRUE(std::ranges::equal(bytes, Bytes{'a', 0, 0xff}));
  EXPECT_EQ(AsText(bytes), text);
  EXPECT_EQ(static_cast<const void*>(bytes.data()), text.data());
  EXPECT_TRUE(AsBytes("").empty());
}

TEST(Bytes, AppendAddsAtTheEnd) {
  Bytes bytes = {1};
  Append(bytes, Bytes{2, 3});
  Append(bytes, {});
  EXPECT_EQ(bytes, (Bytes{1, 2, 3}));
}

TEST(ByteReader, TakesUpToTheEndAndNoFurther) {
  const Bytes bytes = {1, 2, 3, 4};
  ByteReader reader(bytes);
  EXPECT_TRUE(std::ranges::equal(reader.Take(0).value(), Bytes{}));
  EXPECT_TRUE(std::ranges::equal(reader.Take(3).value(), Bytes{1, 2, 3}));
  for (size_t size : {size_t{2}, size_t{3}, SIZE_MAX}) EXPECT_FALSE(reader.Take(size));
  EXPECT_TRUE(std::ranges::equal(reader.rest(), Bytes{4}));
  EXPECT_FALSE(reader.empty());
  EXPECT_EQ(reader.TakeByte(), 4);
  EXPECT_TRUE(reader.empty());
  EXPECT_FALSE(reader.TakeByte());
  EXPECT_FALSE(reader.Take(1));
  EXPECT_TRUE(reader.Take(0).has_value());
}

TEST(ByteReader, TakesUntilADelimiter) {
  ByteReader reader(AsBytes("one\n\ntwo\nrest"));
  EXPECT_EQ(AsText(reader.TakeUntil('\n').value()), "one");
  EXPECT_EQ(AsText(reader.TakeUntil('\n').value()), "");
  EXPECT_EQ(AsText(reader.TakeUntil('\n').value()), "two");
  EXPECT_FALSE(reader.TakeUntil('\n'));
  EXPECT_EQ(AsText(reader.rest()), "rest");
  EXPECT_EQ(AsText(reader.TakeUntil('t').value()), "res");
  EXPECT_TRUE(reader.empty());
  EXPECT_FALSE(reader.TakeUntil('t'));
}

TEST(ByteReader, OfNothingIsEmpty) {
  ByteReader reader({});
  EXPECT_TRUE(reader.empty());
  EXPECT_FALSE(reader.TakeByte());
  EXPECT_FALSE(reader.TakeUntil(0));
}

}  // namespace
}  // namespace coffer
