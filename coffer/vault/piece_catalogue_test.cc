// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/piece_catalogue.h"

#include <gtest/gtest.h>

namespace coffer::vault {
namespace {

Id IdOf(uint32_t number) {
  Id id{};
  for (size_t i = 0; i < 4; ++i) id[8 + i] = static_cast<uint8_t>(number >> (8 * i));
  id[number % 8] = static_cast<uint8_t>(number);
  return id;
}

Blob BlobOf(uint32_t number) {
  return {.segment = number / 7,
          .codec = static_cast<uint8_t>(number % 3),
          .offset = uint64_t{number} << 20,
          .stored_size = number};
}

TEST(PieceCatalogueTest, FindsWhatWasAdded) {
  constexpr uint32_t kCount = 5000;  // several times the first size of the index
  PieceCatalogue catalogue;
  EXPECT_FALSE(catalogue.Find(IdOf(1), 1));
  for (uint32_t i = 0; i < kCount; ++i) catalogue.Add(IdOf(i), i + 1, BlobOf(i));
  EXPECT_EQ(catalogue.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(catalogue.Find(IdOf(i), i + 1), BlobOf(i)) << i;
    ASSERT_FALSE(catalogue.Find(IdOf(i), i)) << i;
  }
  EXPECT_FALSE(catalogue.Find(IdOf(kCount), kCount + 1));
}

TEST(PieceCatalogueTest, TheFirstBlobStays) {
  PieceCatalogue catalogue;
  EXPECT_EQ(catalogue.FindOrAdd(IdOf(1), 9, BlobOf(1)), BlobOf(1));
  EXPECT_EQ(catalogue.FindOrAdd(IdOf(1), 9, BlobOf(2)), BlobOf(1));
  catalogue.Add(IdOf(1), 9, BlobOf(3));
  EXPECT_EQ(catalogue.Find(IdOf(1), 9), BlobOf(1));
  EXPECT_EQ(catalogue.size(), 1U);
}

TEST(PieceCatalogueTest, TakesNothingLargerThanAPiece) {
  PieceCatalogue catalogue;
  catalogue.Add(IdOf(1), kPieceSize, BlobOf(1));
  catalogue.Add(IdOf(2), kPieceSize + 1, BlobOf(2));
  catalogue.Add(IdOf(3), (uint64_t{1} << 32) + 5, BlobOf(3));
  Blob blob = BlobOf(4);
  blob.stored_size = uint64_t{1} << 32;
  catalogue.Add(IdOf(4), 5, blob);
  EXPECT_EQ(catalogue.size(), 1U);
  EXPECT_FALSE(catalogue.Find(IdOf(3), 5));
}

}  // namespace
}  // namespace coffer::vault
