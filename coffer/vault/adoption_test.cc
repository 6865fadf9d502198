// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/adoption.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "coffer/crypto/sha2.h"
#include "coffer/store/testing/objects.h"
#include "coffer/vault/testing/content_vault.h"

namespace coffer::vault {
namespace {

class AdoptionTest : public ::testing::Test {
 protected:
  // Publishes one segment with `files`, as a run that no commit followed.
  Id Interrupted(const std::vector<Bytes>& files) {
    SegmentTable segments;
    PieceCatalogue pieces;
    const auto writer = ContentWriter::Create(vault_.faults, vault_.recipient, os::SystemRandom(),
                                              vault_.author, segments, pieces, {.thread_count = 1})
                            .value();
    for (const Bytes& file : files) EXPECT_TRUE(ContentVault::Add(*writer, file).ok());
    EXPECT_TRUE(writer->Flush().ok());
    EXPECT_EQ(segments.size(), 1U);
    return segments.at(0).id;
  }

  // Puts an object under the name of its bytes.
  Id Put(const Bytes& object) {
    const Id id = crypto::Sha256(object).value();
    vault_.store.Put(ObjectKey(ObjectClass::kSegment, id), object);
    return id;
  }

  Bytes Get(const Id& id) { return vault_.store.Get(ObjectKey(ObjectClass::kSegment, id)); }

  size_t Adopt(const std::vector<Id>& ids) {
    return AdoptSegments(vault_.faults, ids, vault_.identity, vault_.author, vault_.segments,
                         vault_.pieces, &keys_)
        .value();
  }

  void ExpectNothing() const {
    EXPECT_TRUE(keys_.empty());
    EXPECT_EQ(vault_.pieces.size(), 0U);
    EXPECT_EQ(vault_.segments.size(), 0U);
  }

  ContentVault vault_;
  std::vector<std::string> keys_;
  const std::vector<Bytes> files_ = {NoiseOf(70000, 1), NoiseOf(3, 2), NoiseOf(200000, 3)};
};

TEST_F(AdoptionTest, WhatWasStoredIsNotStoredAgain) {
  const Id id = Interrupted(files_);
  EXPECT_EQ(Adopt({}), 0U);
  ExpectNothing();
  EXPECT_EQ(Adopt({id}), 1U);
  EXPECT_EQ(keys_, std::vector<std::string>{ObjectKey(ObjectClass::kSegment, id)});
  EXPECT_TRUE(vault_.faults.Settle(keys_).ok());
  const auto writer = vault_.Writer();
  std::vector<size_t> tickets;
  for (const Bytes& file : files_) tickets.push_back(ContentVault::Add(*writer, file).value());
  EXPECT_TRUE(writer->Flush().ok());
  EXPECT_EQ(writer->new_size(), 0U);
  for (size_t i = 0; i < files_.size(); ++i) {
    EXPECT_TRUE(vault_.Read(writer->Take(tickets[i])).value() == files_[i]) << i;
  }
}

TEST_F(AdoptionTest, OfAnyWriterOfTheVaultButOfNoOther) {
  vault_.author.writer.fill(9);
  const Id of_other_writer = Interrupted(files_);
  vault_.author.vault.fill(9);
  const Id of_other_vault = Interrupted(files_);
  vault_.author.vault.fill(1);
  crypto::CofferSeed other_seed;
  vault_.author.seed = &other_seed;
  const Id of_other_seed = Interrupted(files_);
  vault_.author.seed = &vault_.seed;
  vault_.author.writer.fill(2);
  EXPECT_EQ(Adopt({of_other_vault, of_other_seed}), 0U);
  ExpectNothing();
  EXPECT_EQ(Adopt({of_other_seed, of_other_writer, of_other_vault}), 1U);
  EXPECT_EQ(keys_, std::vector<std::string>{ObjectKey(ObjectClass::kSegment, of_other_writer)});
  EXPECT_EQ(vault_.pieces.size(), files_.size());
}

TEST_F(AdoptionTest, DamageAnywhereUnderItsOldNameOrItsOwn) {
  const Id id = Interrupted(files_);
  const Bytes good = Get(id);
  // Header, first chunk, a middle one that nothing but the pieces needs, index and end.
  for (const size_t offset :
       {size_t{3}, size_t{2000}, size_t{25000}, size_t{150000}, good.size() - 1}) {
    Bytes bad = good;
    bad[offset] ^= 1;
    vault_.store.Put(ObjectKey(ObjectClass::kSegment, id), bad);
    EXPECT_EQ(Adopt({id, Put(bad)}), 0U) << offset;
  }
  ExpectNothing();
  EXPECT_EQ(Adopt({Put(Bytes(good.begin(), good.end() - 100)), Put({}), Put({1})}), 0U);
  ExpectNothing();
  Put(good);
  EXPECT_EQ(Adopt({id}), 1U);
}

TEST_F(AdoptionTest, AGoodSegmentUnderAnotherName) {
  Id other = Interrupted(files_);
  const Bytes good = Get(other);
  other[5] ^= 1;
  vault_.store.Put(ObjectKey(ObjectClass::kSegment, other), good);
  EXPECT_EQ(Adopt({other}), 0U);
  ExpectNothing();
}

// The index vouches for hashes that the data does not have: a writer with a broken memory.
TEST_F(AdoptionTest, PiecesThatAreNotWhatTheIndexSays) {
  auto writer =
      SegmentWriter::Begin(vault_.faults, vault_.recipient, os::SystemRandom(), vault_.author, {})
          .value();
  EXPECT_TRUE(writer->Append(files_[0], HashPiece(files_[0])).ok());
  EXPECT_TRUE(writer->Append(files_[1], HashPiece(files_[0])).ok());
  std::vector<std::unique_ptr<store::Upload>> uploads;
  uploads.push_back(writer->Finish(true).value().upload);
  EXPECT_TRUE(vault_.faults.Publish(std::move(uploads)).ok());
  EXPECT_EQ(Adopt(vault_.Published()), 0U);
  ExpectNothing();
}

TEST_F(AdoptionTest, AStoreThatDoesNotRead) {
  const Id id = Interrupted(files_);
  Id missing{};
  size_t struck = 0;
  for (const auto call : {store::StoreCall::kOpen, store::StoreCall::kRead}) {
    for (size_t n = 1;; ++n) {
      vault_.faults.FailNth(call, n, EIO);
      const size_t adopted = Adopt({missing, id});
      const bool failed = vault_.faults.struck();
      vault_.faults.ClearFaults();
      // The one that is missing takes the first call of Open.
      EXPECT_EQ(adopted, failed && !(call == store::StoreCall::kOpen && n == 1) ? 0U : 1U);
      if (!failed) break;
      ++struck;
    }
  }
  EXPECT_GE(struck, 6U);
}

}  // namespace
}  // namespace coffer::vault
