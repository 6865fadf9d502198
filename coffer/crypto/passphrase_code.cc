// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/passphrase_code.h"

#include <algorithm>
#include <array>

#include "coffer/base/ct.h"
#include "coffer/crypto/sha2.h"

namespace coffer::crypto {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr size_t kRandomSize = 16;
constexpr size_t kDigitCount = 28;  // 140 bits: 128 random ones, 12 of checksum
constexpr size_t kGroupSize = 4;

struct CodeBitsRole;
// 16 random bytes, then the first 12 bits of their SHA-256.
using CodeBits = SecretArray<18, CodeBitsRole>;

Status AddChecksum(CodeBits& bits) {
  SecretBuffer digest(32);
  COFFER_ASSIGN_OR_RETURN(Sha2Hasher hasher, Sha2Hasher::Create(Sha2::kSha256));
  COFFER_TRY(hasher.Update(bits.Expose().first<kRandomSize>()));
  COFFER_TRY(hasher.Finish(digest.ExposeMutable()));
  bits.ExposeMutable()[16] = digest.Expose()[0];
  bits.ExposeMutable()[17] = digest.Expose()[1] & 0xf0;
  return OkStatus();
}

SecretBuffer Format(const CodeBits& bits) {
  SecretBuffer text;
  text.Reserve(kPassphraseCodeSize);
  for (size_t digit = 0; digit < kDigitCount; ++digit) {
    if (digit != 0 && digit % kGroupSize == 0) text.PushBack('-');
    const size_t byte = digit * 5 / 8;
    const uint32_t next = byte + 1 < CodeBits::kSize ? bits.Expose()[byte + 1] : 0;
    const uint32_t window = uint32_t{bits.Expose()[byte]} << 8 | next;
    text.PushBack(ct::CharacterAt(kAlphabet, window >> (11 - digit * 5 % 8) & 31));
  }
  return text;
}

bool HasShape(std::string_view text) {
  if (text.size() != kPassphraseCodeSize) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool separator = i % (kGroupSize + 1) == kGroupSize;
    const char c = text[i];
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (separator ? c != '-' : !digit) return false;
  }
  return true;
}

}  // namespace

Result<SecretBuffer> GeneratePassphraseCode(os::Random& random) {
  CodeBits bits;
  random.Fill(bits.ExposeMutable().first<kRandomSize>());
  COFFER_TRY(AddChecksum(bits));
  return Format(bits);
}

Result<PassphraseCodeCheck> CheckPassphraseCode(std::string_view text) {
  if (!HasShape(text)) return PassphraseCodeCheck::kNotACode;
  CodeBits bits;
  size_t digit = 0;
  uint32_t bad = 0;
  for (char c : text) {
    if (c == '-') continue;
    const uint32_t value = ct::IndexOf(kAlphabet, static_cast<unsigned char>(c));
    bad |= value & 0x80;
    const size_t byte = digit * 5 / 8;
    const uint32_t window = (value & 31) << (11 - digit * 5 % 8);
    bits.ExposeMutable()[byte] |= static_cast<uint8_t>(window >> 8);
    if (byte + 1 < CodeBits::kSize) {
      bits.ExposeMutable()[byte + 1] |= static_cast<uint8_t>(window);
    }
    ++digit;
  }
  if (ct::Declassify(bad) != 0) return PassphraseCodeCheck::kWrongChecksum;
  const CodeBits typed = bits.Duplicate();
  COFFER_TRY(AddChecksum(bits));
  return ct::Equal(bits.Expose(), typed.Expose()) ? PassphraseCodeCheck::kGood
                                                  : PassphraseCodeCheck::kWrongChecksum;
}

}  // namespace coffer::crypto
