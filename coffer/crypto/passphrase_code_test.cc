// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/passphrase_code.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace coffer::crypto {
namespace {

class CountingRandom final : public os::Random {
 public:
  explicit CountingRandom(uint8_t start, uint8_t step) : next_(start), step_(step) {}
  void Fill(MutableByteSpan out) override {
    for (uint8_t& byte : out) {
      byte = next_;
      next_ = static_cast<uint8_t>(next_ + step_);
    }
  }

 private:
  uint8_t next_;
  uint8_t step_;
};

std::string Generate(uint8_t start, uint8_t step) {
  CountingRandom random(start, step);
  return std::string(GeneratePassphraseCode(random).value().ExposeText());
}

PassphraseCodeCheck Check(std::string_view text) { return CheckPassphraseCode(text).value(); }

// SHA-256 of 16 zero bytes starts with 374 in hexadecimal, of 16 bytes ff with 5ac.
TEST(PassphraseCode, KnownValues) {
  EXPECT_EQ(Generate(0, 0), "0000-0000-0000-0000-0000-0000-00vm");
  EXPECT_EQ(Generate(0xff, 0), "zzzz-zzzz-zzzz-zzzz-zzzz-zzzz-zxdc");
}

TEST(PassphraseCode, GeneratedOnesAreGood) {
  for (int start = 0; start < 256; ++start) {
    EXPECT_EQ(Check(Generate(static_cast<uint8_t>(start), 37)), PassphraseCodeCheck::kGood);
  }
}

TEST(PassphraseCode, OneWrongCharacterShows) {
  const std::string code = Generate(11, 29);
  int unnoticed = 0;
  for (size_t place = 0; place < code.size(); ++place) {
    if (code[place] == '-') continue;
    for (char c : std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABC")) {
      std::string changed = code;
      changed[place] = c;
      if (changed == code) continue;
      if (Check(changed) == PassphraseCodeCheck::kGood) ++unnoticed;
      EXPECT_NE(Check(changed), PassphraseCodeCheck::kNotACode);
    }
  }
  // 12 bits of checksum let through one in 4096; there are about a thousand changes.
  EXPECT_LE(unnoticed, 2);
}

TEST(PassphraseCode, OtherTextIsNotACode) {
  const std::string code = Generate(1, 1);
  const std::vector<std::string> others = {"",
                                           "correct horse",
                                           code + "0",
                                           code.substr(1),
                                           std::string(34, '0'),
                                           std::string(34, '-'),
                                           code.substr(0, 4) + "0" + code.substr(5)};
  for (const std::string& text : others) {
    EXPECT_EQ(Check(text), PassphraseCodeCheck::kNotACode) << text;
  }
}

}  // namespace
}  // namespace coffer::crypto
