// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/bech32.h"

#include <array>

#include "coffer/base/check.h"
#include "coffer/base/ct.h"

namespace coffer::bech32 {
namespace {

constexpr std::string_view kAlphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr size_t kChecksumSize = 6;

// The BCH code of BIP 173 over five-bit values.
class Checksum {
 public:
  void Add(uint32_t value) {
    constexpr std::array<uint32_t, 5> kGenerator = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                                    0x2a1462b3};
    const uint32_t top = state_ >> 25;
    state_ = (state_ & 0x1ffffff) << 5 ^ value;
    for (uint32_t i = 0; i < 5; ++i) {
      state_ ^= ct::ValueBarrier(uint32_t{0} - ((top >> i) & 1)) & kGenerator[i];
    }
  }

  void AddHumanReadablePart(std::string_view hrp) {
    for (char c : hrp) Add(static_cast<unsigned char>(c) >> 5);
    Add(0);
    for (char c : hrp) Add(static_cast<unsigned char>(c) & 31);
  }

  [[nodiscard]] uint32_t state() const { return state_; }

 private:
  uint32_t state_ = 1;
};

// All ones if low <= c <= high, for bytes.
uint32_t MaskIfBetween(uint32_t c, char low, char high) {
  return ~ct::MaskIfLess(c, uint32_t{static_cast<unsigned char>(low)}) &
         ct::MaskIfLess(c, uint32_t{static_cast<unsigned char>(high)} + 1);
}

// The last '1': it is not in the alphabet, so that a character is none shows nothing of valid data.
size_t FindSeparator(std::string_view text) {
  for (size_t i = text.size(); i > 0; --i) {
    const uint32_t c = static_cast<unsigned char>(text[i - 1]);
    if (ct::Declassify(ct::MaskIfEqual(c, uint32_t{'1'})) != 0) return i - 1;
  }
  return std::string_view::npos;
}

// Checks the characters of the human-readable part and lowers their case. Public.
Result<std::string> LowerHumanReadablePart(std::string_view text, bool& has_lower,
                                           bool& has_upper) {
  if (text.empty()) return InvalidArgument("the part before the separator is empty");
  std::string hrp;
  for (char c : text) {
    if (c < 33 || c > 126) return InvalidArgument("invalid character before the separator");
    has_lower |= c >= 'a' && c <= 'z';
    has_upper |= c >= 'A' && c <= 'Z';
    hrp.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return hrp;
}

// Turns characters into five-bit values in place, folding case; returns nonzero if any is not of
// the alphabet or if both cases occur.
uint32_t CharactersToValues(MutableByteSpan characters, bool has_lower, bool has_upper) {
  uint32_t bad = 0;
  uint32_t lower = has_lower ? ~uint32_t{0} : 0;
  uint32_t upper = has_upper ? ~uint32_t{0} : 0;
  for (uint8_t& c : characters) {
    const uint32_t is_upper = MaskIfBetween(c, 'A', 'Z');
    lower |= MaskIfBetween(c, 'a', 'z');
    upper |= is_upper;
    const uint32_t value = ct::IndexOf(kAlphabet, c + (is_upper & 0x20));
    bad |= value & 0x80;
    c = static_cast<uint8_t>(value & 31);
  }
  return bad | (lower & upper);
}

// Regroups five-bit values into bytes; returns nonzero if what is left over is not zero padding.
uint32_t ValuesToBytes(ByteSpan values, SecretBuffer& out) {
  uint32_t bits = 0;
  uint32_t bit_count = 0;
  for (uint8_t value : values) {
    bits = (bits << 5 | value) & 0xfff;
    bit_count += 5;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out.PushBack(static_cast<uint8_t>(bits >> bit_count));
  }
  // A whole left-over group would be a character that carries nothing.
  if (bit_count >= 5) return 1;
  return bits & ((uint32_t{1} << bit_count) - 1);
}

}  // namespace

Result<Decoded> Decode(std::string_view text) {
  const size_t separator = FindSeparator(text);
  if (separator == std::string_view::npos) return InvalidArgument("there is no separator \"1\"");
  if (text.size() - separator - 1 < kChecksumSize) return InvalidArgument("too short");
  bool has_lower = false;
  bool has_upper = false;
  COFFER_ASSIGN_OR_RETURN(std::string hrp,
                          LowerHumanReadablePart(text.substr(0, separator), has_lower, has_upper));

  SecretBuffer values = SecretBuffer::CopyOf(text.substr(separator + 1));
  if (ct::Declassify(CharactersToValues(values.ExposeMutable(), has_lower, has_upper)) != 0) {
    return InvalidArgument("invalid character or mixed case");
  }
  Checksum checksum;
  checksum.AddHumanReadablePart(hrp);
  for (uint8_t value : values.Expose()) checksum.Add(value);
  if (ct::Declassify(checksum.state()) != 1) return InvalidArgument("invalid checksum");

  Decoded decoded{std::move(hrp), {}};
  const size_t data_size = values.size() - kChecksumSize;
  decoded.data.Reserve(data_size * 5 / 8);
  if (ct::Declassify(ValuesToBytes(values.Expose().first(data_size), decoded.data)) != 0) {
    return InvalidArgument("non-zero padding");
  }
  return decoded;
}

SecretBuffer Encode(std::string_view hrp, ByteSpan data) {
  COFFER_CHECK(!hrp.empty());
  Checksum checksum;
  checksum.AddHumanReadablePart(hrp);
  SecretBuffer out;
  out.Reserve(hrp.size() + 1 + (data.size() * 8 + 4) / 5 + kChecksumSize);
  out.Append(hrp);
  out.PushBack('1');
  const auto put = [&](uint32_t value) {
    checksum.Add(value);
    out.PushBack(ct::CharacterAt(kAlphabet, value));
  };
  uint32_t bits = 0;
  uint32_t bit_count = 0;
  for (uint8_t byte : data) {
    bits = (bits << 8 | byte) & 0xfff;
    for (bit_count += 8; bit_count >= 5; bit_count -= 5) put((bits >> (bit_count - 5)) & 31);
  }
  if (bit_count > 0) put((bits << (5 - bit_count)) & 31);
  for (size_t i = 0; i < kChecksumSize; ++i) checksum.Add(0);
  const uint32_t sum = checksum.state() ^ 1;
  for (uint32_t i = 0; i < kChecksumSize; ++i) {
    out.PushBack(ct::CharacterAt(kAlphabet, (sum >> 5 * (5 - i)) & 31));
  }
  return out;
}

SecretBuffer EncodeUpperCase(std::string_view hrp, ByteSpan data) {
  SecretBuffer out = Encode(hrp, data);
  for (uint8_t& c : out.ExposeMutable()) {
    c = static_cast<uint8_t>(c - (MaskIfBetween(c, 'a', 'z') & 0x20));
  }
  return out;
}

}  // namespace coffer::bech32
