// SPDX-License-Identifier: Apache-2.0
// Key files: the example of docs/format/keyfile.md, round trips, and what must not open.
#include "coffer/vault/key_file.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/base/testing/hex.h"
#include "coffer/crypto/sha2.h"
#include "coffer/crypto/testing/seeded_random.h"

namespace coffer::vault {
namespace {

using coffer::testing::FromHex;
using crypto::Argon2idJob;
using crypto::CofferSeed;
using crypto::testing::SeededRandom;

constexpr size_t kFirstSlot = 36;
constexpr size_t kSlotSize = 72;
constexpr size_t kChecksum = 180;

std::vector<size_t> batches;  // how many hashes each call computed

Status CountingHash(std::span<const Argon2idJob> jobs) {
  batches.push_back(jobs.size());
  return crypto::Argon2idBatch(jobs);
}

Status FailingHash(std::span<const Argon2idJob> /*jobs*/) {
  return Error(ErrorCode::kTooLarge, "no memory");
}

// Costs that make a thousand unlocks take a moment. Never for the product.
constexpr KeyFilePolicy kCheap = {
    .floor = {.memory_kib = 16, .passes = 1, .lanes = 1},
    .ceiling = {.memory_kib = 64, .passes = 2, .lanes = 2},
    .written = {.memory_kib = 16, .passes = 1, .lanes = 1},
    .hash = CountingHash,
};

constexpr VaultId kVaultId = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
                              0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf};

// 00 01 .. 1f
CofferSeed TestSeed() {
  CofferSeed seed;
  for (size_t i = 0; i < CofferSeed::kSize; ++i) {
    seed.ExposeMutable()[i] = static_cast<uint8_t>(i);
  }
  return seed;
}

bool IsTestSeed(const CofferSeed& seed) { return ct::Equal(seed.Expose(), TestSeed().Expose()); }

SecretBuffer Secret(std::string_view text) { return SecretBuffer::CopyOf(text); }

// A file whose slots open with `first` and, unless it is empty, `second`.
KeyFile Make(std::string_view first, std::string_view second, uint64_t random_seed = 1) {
  SeededRandom random(random_seed);
  const CofferSeed seed = TestSeed();
  const SecretBuffer passphrase = Secret(first);
  const SecretBuffer second_secret = Secret(second);
  Result<KeyFile> file = KeyFile::Create(
      {kVaultId, seed, passphrase, second.empty() ? nullptr : &second_secret}, random, kCheap);
  EXPECT_TRUE(file.ok());
  return std::move(file).value();
}

Bytes Encoded(const KeyFile& file) { return file.Encode().value(); }

// The slot that a secret opens, if the seed is the right one; nothing for a wrong passphrase.
std::optional<size_t> Opens(const KeyFile& file, std::string_view secret) {
  const Result<UnlockedKeyFile> unlocked = file.Unlock(Secret(secret), kCheap);
  if (!unlocked.ok()) {
    EXPECT_EQ(unlocked.error().code(), ErrorCode::kWrongPassphrase);
    EXPECT_EQ(unlocked.error().message(), "wrong passphrase or recovery code");
    return std::nullopt;
  }
  EXPECT_TRUE(IsTestSeed(unlocked->seed));
  return unlocked->slot;
}

void ExpectRefused(ByteSpan bytes, ErrorCode code, const KeyFilePolicy& policy = kCheap) {
  const Result<KeyFile> file = KeyFile::Parse(bytes, policy);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code(), code) << file.error().message();
}

// Somebody who changes a file can make its checksum right again.
Bytes WithChecksum(Bytes bytes) {
  const auto digest = crypto::Sha256(ByteSpan(bytes).first(kChecksum)).value();
  std::ranges::copy(digest, bytes.begin() + kChecksum);
  return bytes;
}

// Made by another implementation, over other libraries.
Bytes Example() {
  return FromHex(
      "636f66666572206b65792076310d0a1a00010000a0a1a2a3a4a5a6a7a8a9aaab"
      "acadaeaf0104000300010000404142434445464748494a4b4c4d4e4ff0bc5cb7"
      "b35964945a92a0af520b736e4410b9cb36b0ac7907992f86b37828909efe14cf"
      "f20be98e9ff86b038707c8400104000300010000505152535455565758595a5b"
      "5c5d5e5f6dafc7fb3df3ab6c74c9cdc1500385a0b2d43fbce3e972c22f8561e6"
      "9cf8f496bd8bc44df218942810f3ab6cd13a1ee8661e129d368faaf7d8fa32e5"
      "f867d0c03a4e934e610720d0b57e0ebffdeb9751");
}

// 40 41 42 ..
class CountingRandom : public os::Random {
 public:
  void Fill(MutableByteSpan out) override {
    for (uint8_t& byte : out) byte = next_++;
  }

 private:
  uint8_t next_ = 0x40;
};

TEST(KeyFileTest, TheExampleIsWhatIsWritten) {
  CountingRandom random;
  const CofferSeed seed = TestSeed();
  const SecretBuffer first = Secret("correct horse battery staple");
  const SecretBuffer second = Secret("7k3m-second-secret");
  const Result<KeyFile> file = KeyFile::Create({kVaultId, seed, first, &second}, random);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Encoded(*file), Example());
}

TEST(KeyFileTest, TheExampleIsRead) {
  const Result<KeyFile> file = KeyFile::Parse(Example());
  ASSERT_TRUE(file.ok()) << file.error().message();
  EXPECT_EQ(file->vault_id(), kVaultId);
  const char* const secrets[] = {"correct horse battery staple", "7k3m-second-secret"};
  for (size_t slot = 0; slot < 2; ++slot) {
    const Result<UnlockedKeyFile> unlocked = file->Unlock(Secret(secrets[slot]));
    ASSERT_TRUE(unlocked.ok());
    EXPECT_TRUE(IsTestSeed(unlocked->seed));
    EXPECT_EQ(unlocked->slot, slot);
  }
  const Result<UnlockedKeyFile> wrong = file->Unlock(Secret("correct horse battery stable"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code(), ErrorCode::kWrongPassphrase);
}

TEST(KeyFileTest, NameOfTheExample) {
  EXPECT_EQ(KeyFileName("laptop", Example()).value(), "laptop-cd62a85f5f1b21ca.key");
}

TEST(KeyFileTest, RoundTrip) {
  const KeyFile made = Make("first", "second");
  const Bytes bytes = Encoded(made);
  ASSERT_EQ(bytes.size(), kKeyFileSize);
  const Result<KeyFile> read = KeyFile::Parse(bytes, kCheap);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(Encoded(*read), bytes);
  EXPECT_EQ(Opens(*read, "first"), 0U);
  EXPECT_EQ(Opens(*read, "second"), 1U);
  EXPECT_EQ(Opens(*read, "third"), std::nullopt);
  EXPECT_EQ(Opens(*read, ""), std::nullopt);
}

// Two files with the same secrets have nothing in common but what says what they are.
TEST(KeyFileTest, UnusedSlotsLookUsed) {
  const Bytes one = Encoded(Make("first", "", 1));
  const Bytes two = Encoded(Make("first", "", 2));
  for (size_t slot = 0; slot < 2; ++slot) {
    const ByteSpan in_one = ByteSpan(one).subspan(kFirstSlot + slot * kSlotSize, kSlotSize);
    const ByteSpan in_two = ByteSpan(two).subspan(kFirstSlot + slot * kSlotSize, kSlotSize);
    EXPECT_TRUE(std::ranges::equal(in_one.first(8), in_two.first(8)));
    for (size_t at = 8; at < kSlotSize; at += 16) {
      EXPECT_FALSE(std::ranges::equal(in_one.subspan(at, 16), in_two.subspan(at, 16)));
      EXPECT_FALSE(ct::IsAllZero(in_one.subspan(at, 16)));
    }
  }
  EXPECT_EQ(Opens(Make("first", ""), ""), std::nullopt);
}

// Nobody writes such a file, but parts of two can be put together.
TEST(KeyFileTest, IfBothSlotsOpenTheFirstCounts) {
  SeededRandom random(9);
  CofferSeed other_seed;
  random.Fill(other_seed.ExposeMutable());
  const SecretBuffer unlike = Secret("unlike");
  const SecretBuffer same = Secret("same");
  const auto other = KeyFile::Create({kVaultId, other_seed, unlike, &same}, random, kCheap);
  ASSERT_TRUE(other.ok());
  Bytes bytes = Encoded(Make("same", "second"));
  const Bytes other_bytes = Encoded(*other);
  constexpr size_t kSecondSlot = kFirstSlot + kSlotSize;
  std::copy(other_bytes.begin() + kSecondSlot, other_bytes.begin() + kChecksum,
            bytes.begin() + kSecondSlot);
  const auto file = KeyFile::Parse(WithChecksum(bytes), kCheap);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Opens(*file, "same"), 0U);  // with the first one's seed
}

// Whatever opens, each unlock is one batch of two hashes.
TEST(KeyFileTest, BothSlotsAreAlwaysComputedTogether) {
  const KeyFile file = Make("first", "second");
  const KeyFile half = Make("first", "");
  for (const char* secret : {"first", "second", "wrong"}) {
    batches.clear();
    static_cast<void>(Opens(file, secret));
    static_cast<void>(Opens(half, secret));
    EXPECT_EQ(batches, (std::vector<size_t>{2, 2})) << secret;
  }
}

TEST(KeyFileTest, EachBitCounts) {
  const Bytes good = Encoded(Make("first", "second"));
  batches.clear();
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes bytes = good;
    bytes[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    const bool newer = bit / 8 >= 16 && bit / 8 < 20;
    ASSERT_NO_FATAL_FAILURE(
        ExpectRefused(bytes, newer ? ErrorCode::kNeedsNewer : ErrorCode::kDamaged))
        << bit;
  }
  EXPECT_TRUE(batches.empty());
}

// With the checksum made right: never another seed, and what is bound to a slot no longer opens it.
TEST(KeyFileTest, EachBitIsAuthenticated) {
  const Bytes good = Encoded(Make("first", "second"));
  for (size_t bit = 8 * 20; bit < 8 * kChecksum; ++bit) {
    Bytes bytes = good;
    bytes[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
    const Result<KeyFile> file = KeyFile::Parse(WithChecksum(bytes), kCheap);
    if (!file.ok()) {
      EXPECT_LT((bit / 8 - kFirstSlot) % kSlotSize, 8U) << "only costs are refused";
      continue;
    }
    const bool shared = bit / 8 < kFirstSlot;
    const bool first = !shared && bit / 8 < kFirstSlot + kSlotSize;
    EXPECT_EQ(Opens(*file, "first").has_value(), !shared && !first) << bit;
    EXPECT_EQ(Opens(*file, "second").has_value(), !shared && first) << bit;
  }
}

TEST(KeyFileTest, SlotsDoNotTradePlaces) {
  Bytes bytes = Encoded(Make("first", "second"));
  std::swap_ranges(bytes.begin() + kFirstSlot, bytes.begin() + kFirstSlot + kSlotSize,
                   bytes.begin() + kFirstSlot + kSlotSize);
  const Result<KeyFile> file = KeyFile::Parse(WithChecksum(bytes), kCheap);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Opens(*file, "first"), std::nullopt);
  EXPECT_EQ(Opens(*file, "second"), std::nullopt);
}

TEST(KeyFileTest, EveryOtherLengthIsDamaged) {
  const Bytes good = Encoded(Make("first", "second"));
  for (size_t size = 0; size < good.size(); ++size) {
    ExpectRefused(ByteSpan(good).first(size), ErrorCode::kDamaged);
  }
  Bytes longer = good;
  longer.push_back(0);
  ExpectRefused(longer, ErrorCode::kDamaged);
}

TEST(KeyFileTest, OtherVersionsAreNotCalledDamaged) {
  const Bytes good = Encoded(Make("first", "second"));
  Bytes version = good;
  version[17] = 2;
  version.resize(1000);  // nothing is known of its layout
  ExpectRefused(version, ErrorCode::kNeedsNewer);
  Bytes flag = good;
  flag[18] = 0x80;
  ExpectRefused(WithChecksum(flag), ErrorCode::kNeedsNewer);
  Bytes kdf = good;
  kdf[kFirstSlot + kSlotSize] = 2;
  ExpectRefused(WithChecksum(kdf), ErrorCode::kNeedsNewer);
}

// Costs just inside and just outside of the product's bounds, in either slot. Nothing is computed,
// so nothing is allocated.
TEST(KeyFileTest, CostsHaveBounds) {
  const auto with = [](size_t slot, uint8_t lanes, uint16_t passes, uint32_t memory_kib) {
    Bytes bytes = Example();
    const MutableByteSpan at = MutableByteSpan(bytes).subspan(kFirstSlot + slot * kSlotSize);
    at[1] = lanes;
    StoreBigEndian(passes, at.subspan<2, 2>());
    StoreBigEndian(memory_kib, at.subspan<4, 4>());
    return WithChecksum(bytes);
  };
  KeyFilePolicy counted = kKeyFilePolicy;
  counted.hash = CountingHash;
  batches.clear();
  for (size_t slot = 0; slot < 2; ++slot) {
    EXPECT_TRUE(KeyFile::Parse(with(slot, 4, 3, 65536)).ok());
    EXPECT_TRUE(KeyFile::Parse(with(slot, 16, 16, 1 << 20)).ok());
    ExpectRefused(with(slot, 3, 3, 65536), ErrorCode::kInvalidArgument, counted);
    ExpectRefused(with(slot, 4, 2, 65536), ErrorCode::kInvalidArgument, counted);
    ExpectRefused(with(slot, 4, 3, 65535), ErrorCode::kInvalidArgument, counted);
    ExpectRefused(with(slot, 0, 0, 0), ErrorCode::kInvalidArgument, counted);
    ExpectRefused(with(slot, 17, 3, 65536), ErrorCode::kTooLarge, counted);
    ExpectRefused(with(slot, 4, 17, 65536), ErrorCode::kTooLarge, counted);
    ExpectRefused(with(slot, 4, 3, (1 << 20) + 1), ErrorCode::kTooLarge, counted);
    ExpectRefused(with(slot, 255, 65535, 0xffffffff), ErrorCode::kTooLarge, counted);
  }
  EXPECT_TRUE(batches.empty());
}

TEST(KeyFileTest, TheCheapCostsOfTestsAreRefused) {
  ExpectRefused(Encoded(Make("first", "second")), ErrorCode::kInvalidArgument, kKeyFilePolicy);
}

TEST(KeyFileTest, CreateRefusesEmptyAndEqualSecrets) {
  SeededRandom random(1);
  const CofferSeed seed = TestSeed();
  const SecretBuffer empty;
  const SecretBuffer one = Secret("one");
  const SecretBuffer same = Secret("one");
  const auto code = [&](const SecretBuffer& first, const SecretBuffer* second) {
    const auto file = KeyFile::Create({kVaultId, seed, first, second}, random, kCheap);
    EXPECT_FALSE(file.ok());
    return file.error().code();
  };
  EXPECT_EQ(code(empty, nullptr), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(one, &empty), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(one, &same), ErrorCode::kInvalidArgument);
}

TEST(KeyFileTest, ReplacesEitherSlotAndCopiesTheOther) {
  const KeyFile file = Make("first", "second");
  const Bytes before = Encoded(file);
  for (size_t slot = 0; slot < 2; ++slot) {
    const char* const old_secret = slot == 0 ? "first" : "second";
    const char* const other_secret = slot == 0 ? "second" : "first";
    SeededRandom random(5);
    const auto unlocked = file.Unlock(Secret(old_secret), kCheap);
    ASSERT_TRUE(unlocked.ok());
    const auto replaced =
        file.ReplaceSlot(*unlocked, unlocked->slot, Secret("new"), random, kCheap);
    ASSERT_TRUE(replaced.ok());
    EXPECT_EQ(Opens(*replaced, "new"), slot);
    EXPECT_EQ(Opens(*replaced, other_secret), 1 - slot);
    EXPECT_EQ(Opens(*replaced, old_secret), std::nullopt);
    const Bytes after = Encoded(*replaced);
    const size_t other_at = kFirstSlot + (1 - slot) * kSlotSize;
    EXPECT_TRUE(std::ranges::equal(ByteSpan(before).subspan(other_at, kSlotSize),
                                   ByteSpan(after).subspan(other_at, kSlotSize)));
    EXPECT_FALSE(
        std::ranges::equal(ByteSpan(before).subspan(kFirstSlot + slot * kSlotSize + 8, 16),
                           ByteSpan(after).subspan(kFirstSlot + slot * kSlotSize + 8, 16)));
  }
}

// A second secret is given, or renewed, by who knows the first.
TEST(KeyFileTest, ReplacesTheSlotThatDidNotOpen) {
  const KeyFile file = Make("first", "");
  SeededRandom random(5);
  const auto unlocked = file.Unlock(Secret("first"), kCheap);
  ASSERT_TRUE(unlocked.ok());
  const auto replaced = file.ReplaceSlot(*unlocked, 1, Secret("code"), random, kCheap);
  ASSERT_TRUE(replaced.ok());
  EXPECT_EQ(Opens(*replaced, "first"), 0U);
  EXPECT_EQ(Opens(*replaced, "code"), 1U);
}

TEST(KeyFileTest, NoSecretOpensBothSlots) {
  const KeyFile file = Make("first", "second");
  SeededRandom random(5);
  const auto unlocked = file.Unlock(Secret("first"), kCheap);
  ASSERT_TRUE(unlocked.ok());
  batches.clear();
  const auto both = file.ReplaceSlot(*unlocked, 0, Secret("second"), random, kCheap);
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(batches, std::vector<size_t>{2});
  EXPECT_FALSE(file.ReplaceSlot(*unlocked, 1, Secret("first"), random, kCheap).ok());
  EXPECT_FALSE(file.ReplaceSlot(*unlocked, 0, Secret(""), random, kCheap).ok());
  // The one it had is no second use.
  EXPECT_TRUE(file.ReplaceSlot(*unlocked, 0, Secret("first"), random, kCheap).ok());
}

// A slot keeps the costs it was written with; a new one gets those of today.
TEST(KeyFileTest, SlotsMayDifferInCosts) {
  KeyFilePolicy dearer = kCheap;
  dearer.written = {.memory_kib = 32, .passes = 2, .lanes = 2};
  const KeyFile file = Make("first", "second");
  SeededRandom random(5);
  const auto unlocked = file.Unlock(Secret("first"), kCheap);
  ASSERT_TRUE(unlocked.ok());
  const auto replaced = file.ReplaceSlot(*unlocked, 0, Secret("new"), random, dearer);
  ASSERT_TRUE(replaced.ok());
  const auto read = KeyFile::Parse(Encoded(*replaced), kCheap);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(Opens(*read, "new"), 0U);
  EXPECT_EQ(Opens(*read, "second"), 1U);
}

TEST(KeyFileTest, AHashThatFailsIsNoWrongPassphrase) {
  KeyFilePolicy failing = kCheap;
  failing.hash = FailingHash;
  const KeyFile file = Make("first", "second");
  const auto unlocked = file.Unlock(Secret("first"), failing);
  ASSERT_FALSE(unlocked.ok());
  EXPECT_EQ(unlocked.error().code(), ErrorCode::kTooLarge);
}

TEST(KeyFileTest, Names) {
  const Bytes file = {1, 2, 3};  // SHA-256 039058c6f2c0cb49...
  EXPECT_EQ(KeyFileName("a", file).value(), "a-039058c6f2c0cb49.key");
  const std::string longest(64, 'Z');
  EXPECT_EQ(KeyFileName(longest, file).value(), longest + "-039058c6f2c0cb49.key");
  EXPECT_TRUE(KeyFileName("A.b_c-9", file).ok());
  for (const std::string& name :
       {std::string(), std::string(65, 'a'), std::string("a/b"), std::string("a b"),
        std::string("\xc3\xa4"), std::string(1, '\0')}) {
    const auto refused = KeyFileName(name, file);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace coffer::vault
