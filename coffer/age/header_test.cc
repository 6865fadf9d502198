// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/header.h"

#include <string>

#include <gtest/gtest.h>

#include "coffer/base/testing/memory_io.h"

namespace coffer::age {
namespace {

using coffer::testing::MemorySource;
using coffer::testing::ReadAll;

const std::string kVersion = "age-encryption.org/v1\n";
const std::string kMac = "--- " + std::string(43, 'A') + "\n";

Result<Header> Parse(const std::string& text, size_t piece = SIZE_MAX) {
  MemorySource source(text, piece);
  BufferedReader reader(source);
  return ReadHeader(reader);
}

std::string Reason(const std::string& text) {
  const Result<Header> header = Parse(text);
  if (header.ok()) return "parsed";
  EXPECT_EQ(header.error().code(), ErrorCode::kHeader);
  constexpr std::string_view kStart = "invalid header: ";
  EXPECT_TRUE(header.error().message().starts_with(kStart));
  return header.error().message().substr(kStart.size());
}

TEST(Header, ParsesAndEncodes) {
  const std::string text = kVersion + "-> X25519 abc ~!\n" + std::string(64, 'A') + "\n\n" +
                           "-> x\nAAAA\n" + "-> empty\n\n" + kMac;
  const Header header = Parse(text).value();
  ASSERT_EQ(header.stanzas.size(), 3u);
  EXPECT_EQ(header.stanzas[0].type, "X25519");
  EXPECT_EQ(header.stanzas[0].arguments, (std::vector<std::string>{"abc", "~!"}));
  EXPECT_EQ(header.stanzas[0].body, Bytes(48, 0));
  EXPECT_EQ(header.stanzas[1].body, Bytes(3, 0));
  EXPECT_TRUE(header.stanzas[2].body.empty());
  EXPECT_EQ(AsText(EncodeHeader(header)), text);
}

TEST(Header, LeavesThePayload) {
  const std::string text = kVersion + "-> a\n\n" + kMac;
  for (size_t piece = 1; piece < text.size() + 9; ++piece) {
    MemorySource source(text + "payload\n", piece);
    BufferedReader reader(source);
    ASSERT_TRUE(ReadHeader(reader).ok());
    EXPECT_EQ(AsText(ReadAll(reader).bytes), "payload\n");
  }
}

TEST(Header, EveryBodySizeRoundTrips) {
  for (size_t size = 0; size <= 200; ++size) {
    Header header;
    header.stanzas.push_back({"type", {"argument"}, Bytes(size, 0x5a)});
    const std::string text(AsText(EncodeHeader(header)));
    const Result<Header> parsed = Parse(text);
    ASSERT_TRUE(parsed.ok()) << size << ": " << parsed.error().message();
    EXPECT_EQ(*parsed, header);
  }
}

TEST(Header, SaysWhereAndWhy) {
  const std::string full = std::string(64, 'A') + "\n";
  EXPECT_EQ(Reason(""), "line 1: the file is empty");
  EXPECT_EQ(Reason("hello"), "line 1: the file ends within the header");
  EXPECT_EQ(Reason("hello world, this is another kind of file\n"),
            "line 1: this is not an age file");
  EXPECT_EQ(Reason(std::string(1 << 20, 'x')), "line 1: this is not an age file");
  EXPECT_EQ(Reason("age-encryption.org/v2\n"), "line 1: unsupported version of the age format");
  EXPECT_EQ(Reason("age-encryption.org/v1 \n"), "line 1: unsupported version of the age format");
  EXPECT_EQ(Reason(kVersion), "line 2: the file ends within the header");
  EXPECT_EQ(Reason(kVersion + kMac), "line 2: there is no stanza");
  EXPECT_EQ(Reason(kVersion + "x\n"), "line 2: expected a stanza or the MAC");
  EXPECT_EQ(Reason(kVersion + "->\n\n" + kMac), "line 2: the stanza has no type");
  EXPECT_EQ(Reason(kVersion + "->a\n\n" + kMac), "line 2: a stanza starts with \"-> \"");
  EXPECT_EQ(Reason(kVersion + "-> \n\n" + kMac), "line 2: empty argument in the stanza");
  EXPECT_EQ(Reason(kVersion + "-> a  b\n\n" + kMac), "line 2: empty argument in the stanza");
  EXPECT_EQ(Reason(kVersion + "-> a b \n\n" + kMac), "line 2: empty argument in the stanza");
  EXPECT_EQ(Reason(kVersion + "-> a\x7f\n\n" + kMac),
            "line 2: invalid character in the stanza's arguments");
  EXPECT_EQ(Reason(kVersion + "-> a\r\n\n" + kMac),
            "line 2: invalid character in the stanza's arguments");
  EXPECT_EQ(Reason(kVersion + "-> a\nAB\n" + kMac),
            "line 3: a line of the body is not canonical base64");
  EXPECT_EQ(Reason(kVersion + "-> a\n" + full + "A" + full + kMac),
            "line 4: a line of the body is longer than 64 columns");
  EXPECT_EQ(Reason(kVersion + "-> a\n" + full + kMac),
            "line 4: the body before it has no short last line");
  EXPECT_EQ(Reason(kVersion + "-> a\n-> b\n\n" + kMac),
            "line 3: the body before it has no short last line");
  EXPECT_EQ(Reason(kVersion + "-> a\n\n---\n"), "line 4: there is no MAC after \"---\"");
  EXPECT_EQ(Reason(kVersion + "-> a\n\n--- AAAA\n"),
            "line 4: the MAC is not 32 bytes in canonical base64");
  EXPECT_EQ(Reason(kVersion + "-> a\n\n--- " + std::string(42, 'A') + "B\n"),
            "line 4: the MAC is not 32 bytes in canonical base64");
  EXPECT_EQ(Reason(kVersion + "-> a\n\n" + kMac.substr(0, kMac.size() - 1)),
            "line 4: the file ends within the header");
}

TEST(Header, NamesWhatTextModeDid) {
  EXPECT_TRUE(Reason("age-encryption.org/v1\r\n-> a\r\n")
                  .starts_with("line 1: its line ends were changed to CRLF, as PowerShell"));
  const std::string utf16(
      "\xff\xfe"
      "a\0g\0e\0-\0e\0n\0c\0r\0y\0p\0",
      22);
  EXPECT_TRUE(Reason(utf16).starts_with("line 1: it was changed to UTF-16, as PowerShell"));
}

// An endless header costs no more than the limit.
TEST(Header, RefusesMoreThanTheLimit) {
  const std::string stanza = "-> grease\n" + std::string(64, 'A') + "\n\n";
  std::string text = kVersion;
  while (text.size() <= kMaxHeaderSize) text += stanza;
  EXPECT_TRUE(Reason(text + kMac).ends_with(": the header is larger than 16 MiB"));
  EXPECT_TRUE(Reason(kVersion + "-> " + std::string(kMaxHeaderSize, 'a'))
                  .ends_with("line 2: the header is larger than 16 MiB"));

  const std::string largest = kVersion + "-> " +
                              std::string(kMaxHeaderSize - kVersion.size() - kMac.size() - 5, 'a') +
                              "\n\n" + kMac;
  ASSERT_EQ(largest.size(), kMaxHeaderSize);
  EXPECT_EQ(Reason(largest), "parsed");
}

// Short stanzas and arguments cost more memory as objects than as text.
TEST(Header, RefusesMoreObjectsThanTheLimit) {
  std::string stanzas = kVersion;
  while (stanzas.size() < kMaxHeaderSize / 2) stanzas += "-> a\n\n";
  EXPECT_TRUE(Reason(stanzas + kMac).ends_with("the header has too many stanzas or arguments"));
  std::string arguments = kVersion + "->";
  while (arguments.size() < kMaxHeaderSize / 2) arguments += " a";
  EXPECT_TRUE(Reason(arguments + "\n\n" + kMac)
                  .ends_with("line 2: the header has too many stanzas or arguments"));
}

// As many X25519 recipients as fit are read.
TEST(Header, TakesAnHonestHeaderOfTheLimit) {
  Header header;
  while (header.stanzas.size() < 120000) {
    header.stanzas.push_back({"X25519", {std::string(43, 'A')}, Bytes(32)});
  }
  const Bytes text = EncodeHeader(header);
  ASSERT_LT(text.size(), kMaxHeaderSize);
  EXPECT_TRUE(Parse(std::string(AsText(text))).ok());
}

TEST(Header, MacCoversEveryByteOfTheStanzas) {
  const FileKey file_key = FileKey::CopyOf(std::array<uint8_t, 16>{1, 2, 3});
  Header header;
  header.stanzas.push_back({"a", {"b"}, Bytes(3, 1)});
  header.mac = ComputeHeaderMac(file_key, header.stanzas).value();
  EXPECT_TRUE(VerifyHeaderMac(file_key, header).ok());
  const auto refused = [&](auto change) {
    Header changed = header;
    change(changed);
    const Status status = VerifyHeaderMac(file_key, changed);
    EXPECT_FALSE(status.ok());
    if (!status.ok()) {
      EXPECT_EQ(status.error().code(), ErrorCode::kHeaderMac);
    }
  };
  refused([](Header& h) { h.stanzas[0].type = "c"; });
  refused([](Header& h) { h.stanzas[0].arguments[0] = "c"; });
  refused([](Header& h) { h.stanzas[0].body[2] ^= 0x80; });
  refused([](Header& h) { h.stanzas.push_back({"a", {}, {}}); });
  for (size_t bit = 0; bit < 256; ++bit) {
    refused([bit](Header& h) { h.mac[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8); });
  }
}

}  // namespace
}  // namespace coffer::age
