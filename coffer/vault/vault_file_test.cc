// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/vault_file.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "coffer/crypto/sha2.h"

namespace coffer::vault {
namespace {

crypto::CofferSeed SeedOf(uint8_t byte) {
  crypto::CofferSeed seed;
  std::ranges::fill(seed.ExposeMutable(), byte);
  return seed;
}

class VaultFileTest : public ::testing::Test {
 protected:
  VaultFileTest() {
    id_.fill(0x17);
    file_ = VaultFile::FromSeed(seed_, id_).value();
    bytes_ = EncodeVaultFile(file_, seed_).value();
  }

  // Sets a right checksum, as anyone can.
  static void Rehash(Bytes& bytes) {
    const auto sum = crypto::Sha256(ByteSpan(bytes).first(16884)).value();
    std::ranges::copy(sum, bytes.begin() + 16884);
  }
  ErrorCode VerifyCode(const Bytes& bytes) {
    const Result<VaultFile> file = VerifyVaultFile(bytes, seed_, id_);
    EXPECT_FALSE(file.ok());
    return file.ok() ? ErrorCode::kInvalidArgument : file.error().code();
  }

  crypto::CofferSeed seed_ = SeedOf(1);
  VaultId id_{};
  VaultFile file_;
  Bytes bytes_;
};

TEST_F(VaultFileTest, GoesBothWays) {
  EXPECT_EQ(bytes_.size(), kVaultFileSize);
  const VaultFile file = VerifyVaultFile(bytes_, seed_, id_).value();
  EXPECT_EQ(file.id, id_);
  EXPECT_EQ(file.ek, file_.ek);
}

TEST_F(VaultFileTest, EveryCutIsDamage) {
  for (size_t size = 0; size < bytes_.size(); size += size < 100 || size > 16800 ? 1 : 97) {
    EXPECT_EQ(ParseVaultFile(ByteSpan(bytes_).first(size)).error().code(), ErrorCode::kDamaged);
  }
  bytes_.push_back(0);
  EXPECT_EQ(ParseVaultFile(bytes_).error().code(), ErrorCode::kDamaged);
}

TEST_F(VaultFileTest, ChangedBytes) {
  for (const size_t at : {0U, 15U, 20U, 36U, 16883U, 16884U, 16915U}) {
    Bytes changed = bytes_;
    changed[at] ^= 1;
    EXPECT_EQ(ParseVaultFile(changed).error().code(), ErrorCode::kDamaged) << at;
  }
  for (const size_t at : {16U, 17U, 18U, 19U}) {
    Bytes changed = bytes_;
    changed[at] ^= 1;
    EXPECT_EQ(ParseVaultFile(changed).error().code(), ErrorCode::kNeedsNewer) << at;
    changed.resize(20);
    EXPECT_EQ(ParseVaultFile(changed).error().code(), ErrorCode::kNeedsNewer) << at;
  }
}

TEST_F(VaultFileTest, AnotherRecipientIsForged) {
  Bytes changed = bytes_;
  changed[100] ^= 1;
  Rehash(changed);
  EXPECT_TRUE(ParseVaultFile(changed).ok());
  EXPECT_EQ(VerifyCode(changed), ErrorCode::kForged);

  changed = bytes_;
  changed.back() ^= 1;
  EXPECT_EQ(VerifyCode(changed), ErrorCode::kForged);

  // A whole file of someone else, and one with a right MAC over a wrong recipient.
  const crypto::CofferSeed other = SeedOf(2);
  const VaultFile theirs = VaultFile::FromSeed(other, id_).value();
  EXPECT_EQ(VerifyCode(EncodeVaultFile(theirs, other).value()), ErrorCode::kForged);
  EXPECT_EQ(VerifyCode(EncodeVaultFile(theirs, seed_).value()), ErrorCode::kForged);
  EXPECT_NE(VerifyVaultFile(changed, seed_, id_).error().message().find("nothing was written"),
            std::string::npos);

  VaultId other_id = id_;
  other_id[0] ^= 1;
  EXPECT_EQ(VerifyVaultFile(bytes_, seed_, other_id).error().code(), ErrorCode::kForged);
}

}  // namespace
}  // namespace coffer::vault
