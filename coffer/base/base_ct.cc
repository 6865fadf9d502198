// SPDX-License-Identifier: Apache-2.0
// The helpers of ct.h with secrets marked, and three leaks that memcheck must catch: if it does not
// see these, its silence about the rest means nothing.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "coffer/base/bech32.h"
#include "coffer/base/bytes.h"
#include "coffer/base/ct.h"

namespace coffer {
namespace {

using Block = std::array<uint8_t, 32>;

Block SecretBlock(uint8_t first) {
  Block block;
  for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<uint8_t>(first + i);
  ct::Poison(block.data(), block.size());
  return block;
}

bool HelpersDoNotLeak() {
  const Block a = SecretBlock(1);
  const Block b = SecretBlock(1);
  const Block c = SecretBlock(2);
  bool right = ct::Equal(a, b) && !ct::Equal(a, c) && !ct::IsAllZero(a);
  const uint32_t x = a[3];
  const uint32_t y = c[3];
  const uint32_t less = ct::MaskIfLess(x, y);
  right = right && ct::Declassify(ct::Select(less, x, y)) == 4;
  right = right && ct::Declassify(ct::MaskIfEqual(x, y)) == 0;
  right = right && ct::Declassify(ct::MaskIfZero(x)) == 0;
  return right;
}

// An identity as text and back, in both cases.
bool Bech32DoesNotLeak() {
  const Block key = SecretBlock(7);
  for (const bool upper : {false, true}) {
    SecretBuffer text = upper ? bech32::EncodeUpperCase("key", key) : bech32::Encode("key", key);
    // Where the separator stands is public, and so is what stands before it.
    ct::Unpoison(text.Expose().data(), 4);
    Result<bech32::Decoded> decoded = bech32::Decode(text.ExposeText());
    if (!decoded.ok() || !ct::Equal(decoded->data.Expose(), key)) return false;
  }
  return true;
}

// The mistakes that the runs are there to find.

[[gnu::noinline]] int LeakByBranch(const Block& secret) {
  if (secret[0] > 3) std::puts("large");
  return 0;
}

[[gnu::noinline]] int LeakByIndex(const Block& secret) {
  static volatile uint8_t table[256];
  return table[secret[0]];
}

// A comparison that stops at the first difference.
[[gnu::noinline]] int LeakByComparison(const Block& a, const Block& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return static_cast<int>(i);
  }
  return 0;
}

int Run(std::string_view leak) {
  const Block secret = SecretBlock(1);
  if (leak == "branch") return LeakByBranch(secret);
  if (leak == "index") return LeakByIndex(secret);
  if (leak == "comparison") return LeakByComparison(secret, SecretBlock(2));
  if (!leak.empty()) return 2;
  return HelpersDoNotLeak() && Bech32DoesNotLeak() ? 0 : 1;
}

}  // namespace
}  // namespace coffer

int main(int argc, char** argv) { return coffer::Run(argc > 1 ? argv[1] : ""); }
