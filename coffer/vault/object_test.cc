// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/object.h"

#include <thread>

#include <gtest/gtest.h>

#include "coffer/age/decrypt.h"
#include "coffer/base/testing/memory_io.h"
#include "coffer/crypto/sha2.h"
#include "coffer/store/testing/fault_store.h"
#include "coffer/store/testing/memory_store.h"
#include "coffer/store/testing/objects.h"

namespace coffer::vault {
namespace {

constexpr size_t kChunk = 65536;

Bytes Pattern(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return bytes;
}

class ObjectTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    identity_ = new age::CofferIdentity(age::CofferIdentity::Generate(os::SystemRandom()).value());
    recipient_ = new age::CofferRecipient(
        age::CofferRecipient::Parse(identity_->ToRecipient().value()->ToString()).value());
  }
  static void TearDownTestSuite() {
    delete recipient_;
    delete identity_;
  }

  void SetUp() override {
    const std::vector<std::string> prefixes = {"commits"};
    ASSERT_TRUE(store_.Prepare(prefixes).ok());
  }

  // Seals and publishes `plaintext` as a commit.
  KnownObject Put(ByteSpan plaintext, bool padding = false) {
    SealedObject sealed = SealObject(store_, *recipient_, os::SystemRandom(), ObjectClass::kCommit,
                                     plaintext, padding)
                              .value();
    KnownObject known{
        .id = sealed.id, .header_size = sealed.header_size, .file_key = std::move(sealed.file_key)};
    std::vector<std::unique_ptr<store::Upload>> uploads;
    uploads.push_back(std::move(sealed.upload));
    EXPECT_TRUE(store_.Publish(std::move(uploads)).ok());
    return known;
  }

  Result<std::unique_ptr<ObjectReader>> OpenKnown(const KnownObject& known) {
    return ObjectReader::OpenKnown(store_, ObjectClass::kCommit, known);
  }
  Result<std::unique_ptr<ObjectReader>> Open(const Id& id) {
    return ObjectReader::Open(store_, ObjectClass::kCommit, id, *identity_);
  }

  static inline age::CofferIdentity* identity_ = nullptr;
  static inline age::CofferRecipient* recipient_ = nullptr;
  store::MemoryStore store_;
};

TEST(ObjectKeyTest, GoesBothWays) {
  Id id{};
  id[0] = 0xab;
  const std::string digits = "ab" + std::string(62, '0');
  EXPECT_EQ(ObjectKey(ObjectClass::kSegment, id), "segments/ab/" + digits);
  EXPECT_EQ(ObjectKey(ObjectClass::kCommit, id), "commits/" + digits);
  EXPECT_EQ(ObjectKey(ObjectClass::kCheckpoint, id), "checkpoints/" + digits);
  EXPECT_EQ(IdOfKey(ObjectClass::kSegment, "segments/ab/" + digits), id);
  EXPECT_EQ(IdOfKey(ObjectClass::kCommit, "commits/" + digits), id);
  EXPECT_FALSE(IdOfKey(ObjectClass::kSegment, "segments/ac/" + digits));
  EXPECT_FALSE(IdOfKey(ObjectClass::kCommit, "checkpoints/" + digits));
  EXPECT_FALSE(IdOfKey(ObjectClass::kCommit, "commits/AB" + digits.substr(2)));
  EXPECT_FALSE(IdOfKey(ObjectClass::kCommit, "commits/0" + digits));
  EXPECT_FALSE(IdOfKey(ObjectClass::kCommit, ""));
}

TEST_F(ObjectTest, RoundTripsAtEverySizeThatMatters) {
  for (const size_t size : {size_t{0}, size_t{1}, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk,
                            16 * kChunk, 16 * kChunk + 1, 33 * kChunk - 5}) {
    const Bytes plaintext = Pattern(size);
    const KnownObject known = Put(plaintext);
    auto reader = OpenKnown(known).value();
    EXPECT_EQ(reader->plaintext_size(), size);
    const SecretBuffer all = reader->ReadAll(size).value();
    EXPECT_TRUE(std::ranges::equal(all.Expose(), plaintext)) << size;
    if (size != 0) {
      EXPECT_EQ(reader->ReadAll(size - 1).error().code(), ErrorCode::kTooLarge);
    }
    EXPECT_EQ(known.id,
              crypto::Sha256(store_.Get(ObjectKey(ObjectClass::kCommit, known.id))).value());
  }
}

TEST_F(ObjectTest, ReadsAnyRange) {
  const Bytes plaintext = Pattern(20 * kChunk + 77);
  auto reader = OpenKnown(Put(plaintext)).value();
  for (const size_t offset :
       {size_t{0}, size_t{1}, kChunk - 1, kChunk, 5 * kChunk + 3, 20 * kChunk, 20 * kChunk + 77}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{77}, kChunk, kChunk + 1, 17 * kChunk}) {
      Bytes out(size, 0xee);
      const Status status = reader->ReadAt(offset, out);
      if (offset + size > plaintext.size()) {
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code(), ErrorCode::kDamaged);
        continue;
      }
      ASSERT_TRUE(status.ok()) << status.error().message();
      EXPECT_TRUE(std::ranges::equal(out, ByteSpan(plaintext).subspan(offset, size)));
    }
  }
  Bytes out(2);
  EXPECT_FALSE(reader->ReadAt(UINT64_MAX, out).ok());
}

TEST_F(ObjectTest, IsAnAgeFile) {
  const Bytes plaintext = Pattern(kChunk + 9);
  const KnownObject known = Put(plaintext);
  const Bytes file = store_.Get(ObjectKey(ObjectClass::kCommit, known.id));
  coffer::testing::MemorySource source(file);
  BufferedReader reader(source);
  const age::Header header = age::ReadHeader(reader).value();
  ASSERT_EQ(header.stanzas.size(), 1U);
  const age::FileKey key = std::move(identity_->Unwrap(header.stanzas).value().value());
  ASSERT_TRUE(age::VerifyHeaderMac(key, header).ok());
  age::Decryptor decryptor = age::Decryptor::BeginPayload(key, reader).value();
  Bytes out(plaintext.size() + 1);
  EXPECT_EQ(ReadFull(decryptor, out).value(), plaintext.size());
  out.pop_back();
  EXPECT_EQ(out, plaintext);
}

TEST_F(ObjectTest, OpensByDecapsulation) {
  const Bytes plaintext = Pattern(1000);
  const KnownObject known = Put(plaintext);
  auto reader = Open(known.id).value();
  EXPECT_EQ(reader->keys().header_size, known.header_size);
  EXPECT_TRUE(std::ranges::equal(reader->keys().file_key.Expose(), known.file_key.Expose()));
  EXPECT_TRUE(std::ranges::equal(reader->ReadAll(1000).value().Expose(), plaintext));

  age::CofferIdentity other = age::CofferIdentity::Generate(os::SystemRandom()).value();
  EXPECT_EQ(ObjectReader::Open(store_, ObjectClass::kCommit, known.id, other).error().code(),
            ErrorCode::kForged);
}

TEST_F(ObjectTest, PadsWithZeros) {
  const Bytes plaintext = Pattern(70001);
  auto reader = OpenKnown(Put(plaintext, true)).value();
  ASSERT_EQ(reader->plaintext_size(), PaddedSize(70001));
  ASSERT_GT(reader->plaintext_size(), 70001U);
  Bytes expected = plaintext;
  expected.resize(static_cast<size_t>(PaddedSize(70001)));
  EXPECT_TRUE(std::ranges::equal(reader->ReadAll(1 << 20).value().Expose(), expected));
}

TEST_F(ObjectTest, MissingIsNotFound) {
  KnownObject known;
  EXPECT_EQ(OpenKnown(known).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Open(known.id).error().code(), ErrorCode::kNotFound);
}

// A chunk sealed as not the last stands last after a cut at its end: that must not open.
TEST_F(ObjectTest, CutAtAnyLengthIsDamage) {
  const KnownObject known = Put(Pattern(2 * kChunk + 10));
  const std::string key = ObjectKey(ObjectClass::kCommit, known.id);
  const Bytes whole = store_.Get(key);
  const size_t payload = static_cast<size_t>(known.header_size) + 16;
  std::vector<size_t> lengths;
  for (size_t n = 0; n < 40; ++n) lengths.push_back(n);
  for (size_t n = payload - 40; n < payload + 40; ++n) lengths.push_back(n);
  for (size_t chunk = 1; chunk <= 2; ++chunk) {
    const size_t end = payload + chunk * (kChunk + 16);
    for (size_t n = end - 40; n < std::min(end + 40, whole.size()); ++n) lengths.push_back(n);
  }
  for (const size_t length : lengths) {
    store_.Put(key, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    EXPECT_EQ(OpenKnown(known).error().code(), ErrorCode::kDamaged) << length;
  }
  for (const size_t length : {size_t{0}, size_t{21}, size_t{5000}, payload - 16, payload}) {
    store_.Put(key, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    EXPECT_EQ(Open(known.id).error().code(), ErrorCode::kDamaged) << length;
  }
}

TEST_F(ObjectTest, SmallObjectCutAtEveryLengthIsDamage) {
  const KnownObject known = Put(Pattern(100));
  const std::string key = ObjectKey(ObjectClass::kCommit, known.id);
  const Bytes whole = store_.Get(key);
  for (size_t length = 0; length < whole.size(); ++length) {
    store_.Put(key, Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length)));
    ASSERT_EQ(OpenKnown(known).error().code(), ErrorCode::kDamaged) << length;
  }
  Bytes longer = whole;
  longer.push_back(0);
  store_.Put(key, longer);
  EXPECT_EQ(OpenKnown(known).error().code(), ErrorCode::kDamaged);
}

TEST_F(ObjectTest, ChangedByteIsDamageWhereItIsRead) {
  const KnownObject known = Put(Pattern(2 * kChunk + 10));
  const std::string key = ObjectKey(ObjectClass::kCommit, known.id);
  const Bytes whole = store_.Get(key);
  const size_t payload = static_cast<size_t>(known.header_size) + 16;
  // The nonce, the ends of the first chunk, the last one and its tag.
  for (const size_t at :
       {payload - 16, payload, payload + kChunk + 15, whole.size() - 20, whole.size() - 1}) {
    Bytes changed = whole;
    changed[at] ^= 1;
    store_.Put(key, changed);
    auto reader = OpenKnown(known);
    const bool first_chunk = at >= payload && at < payload + kChunk + 16;
    ASSERT_EQ(reader.ok(), first_chunk) << at;
    if (!reader.ok()) {
      EXPECT_EQ(reader.error().code(), ErrorCode::kDamaged);
      continue;
    }
    Bytes out(kChunk, 0xee);
    const Status status = (*reader)->ReadAt(0, out);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), ErrorCode::kDamaged);
    EXPECT_NE(status.error().message().find(key), std::string::npos);
    EXPECT_EQ(out, Bytes(kChunk));
    EXPECT_TRUE((*reader)->ReadAt(kChunk, out).ok());
  }
  // The version line, the body of the stanza, the MAC.
  for (const size_t at : {size_t{3}, size_t{9000}, static_cast<size_t>(known.header_size) - 5}) {
    Bytes changed = whole;
    changed[at] ^= 1;
    store_.Put(key, changed);
    EXPECT_FALSE(Open(known.id).ok()) << at;
    // Who knows the file key does not look at the header.
    EXPECT_TRUE(OpenKnown(known).ok());
  }
}

TEST_F(ObjectTest, WrongKeyOrHeaderSizeIsDamage) {
  KnownObject known = Put(Pattern(1000));
  known.file_key.ExposeMutable()[0] ^= 1;
  EXPECT_EQ(OpenKnown(known).error().code(), ErrorCode::kDamaged);
  known.file_key.ExposeMutable()[0] ^= 1;
  for (const uint64_t size : {known.header_size - 1, known.header_size + 1, uint64_t{0},
                              uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 15}) {
    const KnownObject wrong{
        .id = known.id, .header_size = size, .file_key = known.file_key.Duplicate()};
    EXPECT_EQ(OpenKnown(wrong).error().code(), ErrorCode::kDamaged) << size;
  }
}

TEST_F(ObjectTest, FailuresOfTheStorePassThroughAndLeaveNothing) {
  store::FaultStore faults(store_);
  const Bytes plaintext = Pattern(3 * kChunk);
  for (const store::StoreCall call :
       {store::StoreCall::kBegin, store::StoreCall::kWrite, store::StoreCall::kFinish}) {
    for (size_t n = 1; n <= (call == store::StoreCall::kWrite ? 5U : 1U); ++n) {
      faults.FailNth(call, n, ENOSPC);
      const auto sealed = SealObject(faults, *recipient_, os::SystemRandom(), ObjectClass::kCommit,
                                     plaintext, false);
      ASSERT_FALSE(sealed.ok());
      EXPECT_EQ(sealed.error().system_errno(), ENOSPC);
      faults.ClearFaults();
    }
  }
  EXPECT_TRUE(store::ObjectKeys(store_).empty());
}

TEST_F(ObjectTest, SeveralThreadsReadAtOnce) {
  const Bytes plaintext = Pattern(20 * kChunk + 77);
  auto reader = OpenKnown(Put(plaintext)).value();
  std::vector<std::thread> threads;
  std::array<bool, 4> good{};
  for (size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&, t] {
      bool all = true;
      for (size_t i = 0; i < 10; ++i) {
        const size_t offset = t * 1000 + i * kChunk;
        Bytes out(3 * kChunk);
        all = all && reader->ReadAt(offset, out).ok() &&
              std::ranges::equal(out, ByteSpan(plaintext).subspan(offset, out.size()));
      }
      good[t] = all;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, (std::array<bool, 4>{true, true, true, true}));
}

}  // namespace
}  // namespace coffer::vault
