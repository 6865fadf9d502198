// SPDX-License-Identifier: Apache-2.0
// The keys of MACs against values that Python's hmac and hashlib gave for HKDF.
#include <numeric>

#include <gtest/gtest.h>

#include "coffer/base/hex.h"
#include "coffer/vault/records.h"

namespace coffer::vault {
namespace {

struct Inputs {
  crypto::CofferSeed seed;  // 00 01 02 ...
  VaultId vault{};          // 40 41 42 ...
  WriterId writer{};        // 80 81 82 ...

  Inputs() {
    std::iota(seed.ExposeMutable().begin(), seed.ExposeMutable().end(), uint8_t{0});
    std::iota(vault.begin(), vault.end(), uint8_t{0x40});
    std::iota(writer.begin(), writer.end(), uint8_t{0x80});
  }
};

std::string Hex(const Result<MacKey>& key) { return hex::Encode(key.value().Expose()); }

TEST(MacKeysTest, OfVaultWriterAndCheckpoint) {
  const Inputs in;
  EXPECT_EQ(Hex(VaultMacKey(in.seed, in.vault)),
            "57c3291f656a547fabcaf3a446918aa3b681f0235754cbd262ee9dc65004be0c");
  EXPECT_EQ(Hex(WriterMacKey(in.seed, in.vault, in.writer, kOwnerCapability)),
            "5b1637b1240afcd40bb653fad4cde98d9edaeb4fb6b1d56f3e17d14a015645b0");
  EXPECT_EQ(Hex(WriterMacKey(in.seed, in.vault, in.writer, 1)),
            "a83a81a6ef33bd818e1d3c9bce4177c914e3844c57ae06dec17ff1fe293c4b18");
  EXPECT_EQ(Hex(CheckpointMacKey(in.seed, in.vault)),
            "43ea984d5ee2104952c1d1bf87b1e1c23ea0732a936c0061d3bb037e2521154c");
}

TEST(MacKeysTest, CapabilityIsOneByte) {
  const Inputs in;
  EXPECT_TRUE(WriterMacKey(in.seed, in.vault, in.writer, 0xff).ok());
  const Result<MacKey> key = WriterMacKey(in.seed, in.vault, in.writer, 0x100);
  ASSERT_FALSE(key.ok());
  EXPECT_EQ(key.error().code(), ErrorCode::kNeedsNewer);
}

}  // namespace
}  // namespace coffer::vault
