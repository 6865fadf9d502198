// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/armor.h"

#include <string>

#include <gtest/gtest.h>

#include "coffer/base/testing/memory_io.h"

namespace coffer::age {
namespace {

using coffer::testing::MemorySink;
using coffer::testing::MemorySource;
using coffer::testing::ReadAll;
using coffer::testing::ReadOutcome;

const std::string kBegin = std::string(kArmorBegin) + "\n";
const std::string kEnd = std::string(kArmorEnd) + "\n";
const std::string kFull = std::string(64, 'A') + "\n";

ReadOutcome Read(const std::string& text, size_t piece = SIZE_MAX) {
  MemorySource source(text, piece);
  BufferedReader reader(source);
  ArmorReader armor(reader);
  return ReadAll(armor);
}

std::string Reason(const std::string& text) {
  const ReadOutcome outcome = Read(text);
  if (outcome.status.ok()) return "read";
  EXPECT_EQ(outcome.status.error().code(), ErrorCode::kArmor);
  constexpr std::string_view kStart = "invalid armor: ";
  EXPECT_TRUE(outcome.status.error().message().starts_with(kStart));
  return outcome.status.error().message().substr(kStart.size());
}

std::string Write(const Bytes& bytes, size_t piece) {
  MemorySink sink;
  ArmorWriter writer(sink);
  for (ByteSpan rest = bytes; !rest.empty();) {
    const size_t size = std::min(piece, rest.size());
    EXPECT_TRUE(writer.Write(rest.first(size)).ok());
    rest = rest.subspan(size);
  }
  EXPECT_TRUE(writer.Close().ok());
  return std::string(sink.text());
}

TEST(Armor, RoundTripsWhateverThePieces) {
  Bytes bytes;
  for (size_t size = 0; size < 200; ++size) {
    const std::string text = Write(bytes, SIZE_MAX);
    EXPECT_EQ(text.find("\n\n"), std::string::npos);
    for (size_t piece : std::initializer_list<size_t>{1, 7, 47, 48, 49, 1000}) {
      EXPECT_EQ(Write(bytes, piece), text);
      const ReadOutcome outcome = Read(text, piece);
      ASSERT_TRUE(outcome.status.ok());
      ASSERT_EQ(outcome.bytes, bytes);
    }
    bytes.push_back(static_cast<uint8_t>(size * 7));
  }
}

TEST(Armor, LargeRoundTrip) {
  const Bytes bytes(1 << 20, 0xab);
  EXPECT_EQ(Read(Write(bytes, 65536)).bytes, bytes);
}

TEST(Armor, AcceptsWhatTheFormatAllows) {
  for (const std::string& text :
       {kBegin + "AAAA\n" + kEnd, kBegin + kFull + kEnd, kBegin + "AAAA\n" + std::string(kArmorEnd),
        std::string(1024, '\n') + kBegin + "AAAA\n" + kEnd,
        kBegin + "AAAA\n" + kEnd + std::string(1023, ' '),
        kBegin + "AAAA\n" + std::string(kArmorEnd) + "\r",
        " \t\r\n" + kBegin + "AAAA\n" + kEnd + "\v\f",
        std::string(kArmorBegin) + "\r\nAAAA\r\n" + std::string(kArmorEnd) + "\r\n"}) {
    EXPECT_EQ(Reason(text), "read") << text;
  }
}

TEST(Armor, SaysWhereAndWhy) {
  EXPECT_EQ(Reason(""), "line 1: the file ends before the armor does");
  EXPECT_EQ(Reason("x\n" + kBegin), "line 1: expected \"" + std::string(kArmorBegin) + "\"");
  EXPECT_EQ(Reason(" " + kBegin), "line 1: expected \"" + std::string(kArmorBegin) + "\"");
  EXPECT_EQ(Reason(std::string(1025, '\n') + kBegin + kEnd),
            "line 1025: too much white space before the armor");
  EXPECT_EQ(Reason(std::string(5000, ' ') + kBegin),
            "line 1: too much white space before the armor");
  EXPECT_EQ(Reason(kBegin + kFull), "line 3: the file ends before the armor does");
  EXPECT_EQ(Reason(kBegin + "\n" + kEnd), "line 2: empty line");
  EXPECT_EQ(Reason(kBegin + kFull + "\n" + kEnd), "line 3: empty line");
  EXPECT_EQ(Reason(kBegin + "A" + kFull + kEnd), "line 2: longer than 64 columns");
  EXPECT_EQ(Reason(kBegin + std::string(100000, 'A') + kEnd), "line 2: longer than 64 columns");
  for (const char* line : {"AAA", "AB==", "AA=A", "AA\rA", "AA A", "A===", "====", "AAA\r"}) {
    EXPECT_EQ(Reason(kBegin + line + "\n" + kEnd), "line 2: not canonical, padded base64") << line;
  }
  EXPECT_EQ(Reason(kBegin + "AAAA\n" + kFull + kEnd),
            "line 3: a short line is followed by something else than the end");
  EXPECT_EQ(Reason(kBegin + "AAAA\n-----END AGE ENCRYPTED FILE----- \n"),
            "line 3: a short line is followed by something else than the end");
  EXPECT_EQ(Reason(kBegin + "AAAA\n" + kEnd + "x"), "line 3: data follows the end of the armor");
  EXPECT_EQ(Reason(kBegin + "AAAA\n" + kEnd + std::string(1024, ' ')),
            "line 3: too much white space after the armor");
}

TEST(Armor, ReleasesWhatStandsBeforeADamagedLine) {
  const ReadOutcome outcome = Read(kBegin + kFull + "!\n" + kEnd);
  EXPECT_FALSE(outcome.status.ok());
  EXPECT_EQ(outcome.bytes, Bytes(48, 0));
}

TEST(Armor, IsToldFromBinary) {
  const auto starts = [](const std::string& text) {
    MemorySource source(text, 5);
    BufferedReader reader(source);
    return StartsWithArmor(reader).value();
  };
  EXPECT_TRUE(starts(kBegin));
  EXPECT_TRUE(starts(std::string(1024, ' ') + kBegin));
  EXPECT_FALSE(starts(std::string(1025, ' ') + kBegin));
  EXPECT_FALSE(starts(""));
  EXPECT_FALSE(starts("age-encryption.org/v1\n"));
  EXPECT_FALSE(starts("-----BEGIN AGE"));
}

}  // namespace
}  // namespace coffer::age
