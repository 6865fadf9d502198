// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/buffered_reader.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace coffer {
namespace {

// Hands out a text in pieces of a given size, then fails or ends.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::string_view text, size_t piece) : rest_(AsBytes(text)), piece_(piece) {}

  Result<size_t> Read(MutableByteSpan out) override {
    const size_t size = std::min({piece_, out.size(), rest_.size()});
    std::copy_n(rest_.begin(), size, out.begin());
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  ByteSpan rest_;
  size_t piece_;
};

class FailingSource final : public ByteSource {
 public:
  Result<size_t> Read(MutableByteSpan) override { return Error(ErrorCode::kIo, "broken"); }
};

std::string Line(BufferedReader& reader, size_t limit) {
  return std::string(AsText(reader.ReadLine(limit).value()));
}

TEST(BufferedReader, PeeksLinesAndRestForEveryPieceSize) {
  const std::string text = "first\n\nthird is longer\r\nrest\n of it";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    PieceSource source(text, piece);
    BufferedReader reader(source);
    EXPECT_EQ(AsText(reader.Peek(3).value()), "fir");
    EXPECT_EQ(Line(reader, 100), "first\n");
    EXPECT_EQ(Line(reader, 100), "\n");
    EXPECT_EQ(AsText(reader.Peek(5).value()), "third");
    EXPECT_EQ(Line(reader, 6), "third ");
    EXPECT_EQ(Line(reader, 100), "is longer\r\n");
    std::string rest(100, '\0');
    const auto out = MutableByteSpan(reinterpret_cast<uint8_t*>(rest.data()), rest.size());
    rest.resize(ReadFull(reader, out).value());
    EXPECT_EQ(rest, "rest\n of it");
    EXPECT_EQ(Line(reader, 100), "");
    EXPECT_TRUE(reader.Peek(1).value().empty());
  }
}

TEST(BufferedReader, LineOfExactlyTheLimit) {
  PieceSource source("abcd\nef", 7);
  BufferedReader reader(source);
  EXPECT_EQ(Line(reader, 5), "abcd\n");
  EXPECT_EQ(Line(reader, 2), "ef");
  EXPECT_EQ(Line(reader, 2), "");
}

TEST(BufferedReader, LongLine) {
  const std::string text = std::string(1'000'000, 'x') + "\ny";
  PieceSource source(text, 1000);
  BufferedReader reader(source);
  EXPECT_EQ(Line(reader, 2'000'000).size(), 1'000'001u);
  EXPECT_EQ(Line(reader, 10), "y");
}

// What a reader asks for is what it has to clear: a long line in small pieces asks for little more
// than it has.
TEST(BufferedReader, LongLineInSmallPiecesAsksForLittle) {
  class AskedSource final : public ByteSource {
   public:
    Result<size_t> Read(MutableByteSpan out) override {
      asked += out.size();
      const size_t size = std::min<size_t>({out.size(), 65536, rest});
      std::fill_n(out.begin(), size, uint8_t{'x'});
      rest -= size;
      return size;
    }
    size_t rest = size_t{8} << 20;
    size_t asked = 0;
  };
  AskedSource source;
  BufferedReader reader(source);
  EXPECT_EQ(Line(reader, size_t{16} << 20).size(), size_t{8} << 20);
  EXPECT_LT(source.asked, size_t{9} << 20);
}

TEST(BufferedReader, PassesErrorsOn) {
  FailingSource source;
  BufferedReader reader(source);
  EXPECT_FALSE(reader.Peek(1).ok());
  EXPECT_FALSE(reader.ReadLine(10).ok());
}

}  // namespace
}  // namespace coffer
