// SPDX-License-Identifier: Apache-2.0
// The CCTV age vectors: class of failure, plaintext released, round trips, random access, and
// encryption byte for byte.
#include "coffer/age/testing/cctv.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "coffer/age/armor.h"
#include "coffer/age/decrypt.h"
#include "coffer/age/encrypt.h"
#include "coffer/age/inspect.h"
#include "coffer/age/key_files.h"
#include "coffer/age/testing/test_random.h"
#include "coffer/base/hex.h"
#include "coffer/base/testing/memory_io.h"
#include "coffer/crypto/sha2.h"

namespace coffer::age {
namespace {

using coffer::testing::MemoryRandomAccess;
using coffer::testing::MemorySink;
using coffer::testing::MemorySource;
using coffer::testing::ReadAll;
using coffer::testing::ReadOutcome;
using testing::CctvVector;

const std::vector<CctvVector>& Vectors() {
  static const auto& vectors = *new std::vector<CctvVector>(testing::LoadCctvVectors());
  return vectors;
}

Identities IdentitiesOf(const CctvVector& vector) {
  Identities identities;
  for (const std::string& text : vector.identities) {
    auto identity = ParseIdentity(text);
    EXPECT_TRUE(identity.ok()) << vector.name;
    if (identity.ok()) identities.push_back(std::move(*identity));
  }
  if (vector.passphrase) {
    const std::string passphrase = *vector.passphrase;
    identities.push_back(std::make_unique<ScryptIdentity>(
        [passphrase]() -> Result<SecretBuffer> { return SecretBuffer::CopyOf(passphrase); }));
  }
  return identities;
}

FileKey FileKeyOf(const CctvVector& vector) {
  const Bytes bytes = hex::Decode(vector.file_key).value();
  return FileKey::CopyOf(ByteSpan(bytes).first<FileKey::kSize>());
}

// A vector's file being read, with everything that has to live as long.
class OpenVector {
 public:
  explicit OpenVector(const CctvVector& vector, size_t piece = SIZE_MAX)
      : source_(vector.file, piece),
        outer_(source_),
        armor_(outer_),
        inner_(armor_),
        reader_(vector.armored ? inner_ : outer_) {}

  BufferedReader& reader() { return reader_; }

 private:
  MemorySource source_;
  BufferedReader outer_;
  ArmorReader armor_;
  BufferedReader inner_;
  BufferedReader& reader_;
};

ReadOutcome Decrypt(const CctvVector& vector, size_t source_piece, size_t read_piece) {
  OpenVector open(vector, source_piece);
  const Identities identities = IdentitiesOf(vector);
  auto decryptor = Decryptor::Begin(open.reader(), identities);
  if (!decryptor.ok()) return {{}, std::move(decryptor).error()};
  return ReadAll(*decryptor, read_piece);
}

std::string OutcomeClass(const Status& status) {
  return status.ok() ? "success" : std::string(ErrorCodeName(status.error().code()));
}

void ExpectOutcome(const CctvVector& vector, const ReadOutcome& outcome) {
  EXPECT_EQ(OutcomeClass(outcome.status), vector.expect)
      << vector.name << ": " << (outcome.status.ok() ? "" : outcome.status.error().message());
  if (vector.payload_hash) {
    EXPECT_EQ(hex::Encode(crypto::Sha256(outcome.bytes).value()), *vector.payload_hash)
        << vector.name;
  } else {
    EXPECT_TRUE(outcome.bytes.empty()) << vector.name;
  }
}

// The file without its armor, if it has any.
Bytes Binary(const CctvVector& vector) {
  if (!vector.armored) return vector.file;
  OpenVector open(vector);
  return ReadAll(open.reader()).bytes;
}

TEST(Cctv, CorpusIsWhole) {
  std::map<std::string, int> classes;
  size_t hybrid = 0;
  for (const CctvVector& vector : Vectors()) {
    ++classes[vector.expect];
    if (vector.name.starts_with("hybrid") || vector.name == "armor_hybrid") ++hybrid;
  }
  EXPECT_EQ(Vectors().size(), 143u);
  EXPECT_EQ(hybrid, 19u);
  const std::map<std::string, int> expected = {{"success", 26},       {"no match", 13},
                                               {"HMAC failure", 1},   {"header failure", 62},
                                               {"armor failure", 22}, {"payload failure", 19}};
  EXPECT_EQ(classes, expected);
}

TEST(Cctv, ClassOfFailureAndReleasedPlaintext) {
  for (const CctvVector& vector : Vectors()) {
    ExpectOutcome(vector, Decrypt(vector, SIZE_MAX, 70000));
  }
}

// How the file arrives and how it is asked for changes nothing.
TEST(Cctv, SameOutcomeForEveryPieceSize) {
  for (const CctvVector& vector : Vectors()) {
    const bool large = vector.file.size() > 300000;
    for (size_t source_piece : {size_t{1}, size_t{37}, size_t{65552}}) {
      for (size_t read_piece : {size_t{1}, size_t{65535}, size_t{65536}, size_t{1} << 20}) {
        if (large && (source_piece < 65552 || read_piece < 65535)) continue;
        ExpectOutcome(vector, Decrypt(vector, source_piece, read_piece));
      }
    }
  }
}

TEST(Cctv, HeadersRoundTrip) {
  int round_trips = 0;
  for (const CctvVector& vector : Vectors()) {
    const Bytes binary = Binary(vector);
    MemorySource source(binary);
    BufferedReader reader(source);
    const auto header = ReadHeader(reader);
    if (!header.ok()) {
      EXPECT_NE(vector.expect, "success") << vector.name;
      continue;
    }
    ++round_trips;
    const Bytes encoded = EncodeHeader(*header);
    ASSERT_LE(encoded.size(), binary.size()) << vector.name;
    EXPECT_TRUE(std::equal(encoded.begin(), encoded.end(), binary.begin())) << vector.name;
  }
  EXPECT_GE(round_trips, 60);
}

// The payload, sealed again with the file key and nonce of the vector, is the same.
TEST(Cctv, StreamsRoundTrip) {
  int round_trips = 0;
  for (const CctvVector& vector : Vectors()) {
    if (vector.expect != "success") continue;
    ++round_trips;
    const Bytes binary = Binary(vector);
    MemorySource source(binary);
    BufferedReader reader(source);
    const size_t header_size = EncodeHeader(ReadHeader(reader).value()).size();
    const ByteSpan payload = ByteSpan(binary).subspan(header_size);
    const PayloadKey key =
        DerivePayloadKey(FileKeyOf(vector), payload.first<kPayloadNonceSize>()).value();
    const ReadOutcome plaintext = Decrypt(vector, SIZE_MAX, 70000);
    for (size_t piece : {size_t{1000}, size_t{65536}, size_t{200000}}) {
      MemorySink sink;
      StreamWriter writer = StreamWriter::Create(key, sink).value();
      for (ByteSpan rest = plaintext.bytes; !rest.empty();) {
        const size_t size = std::min(piece, rest.size());
        ASSERT_TRUE(writer.Write(rest.first(size)).ok());
        rest = rest.subspan(size);
      }
      ASSERT_TRUE(writer.Close().ok());
      EXPECT_TRUE(std::ranges::equal(sink.bytes(), payload.subspan(kPayloadNonceSize)))
          << vector.name;
    }
  }
  EXPECT_EQ(round_trips, 26);
}

std::string Trim(std::string text) {
  std::erase(text, '\r');
  text.erase(0, text.find_first_not_of(" \t\n"));
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text + "\n";
}

TEST(Cctv, ArmorRoundTrips) {
  int round_trips = 0;
  for (const CctvVector& vector : Vectors()) {
    if (!vector.armored || vector.expect == "armor failure") continue;
    ++round_trips;
    MemorySink sink;
    ArmorWriter writer(sink);
    const Bytes binary = Binary(vector);
    ASSERT_TRUE(writer.Write(binary).ok());
    ASSERT_TRUE(writer.Close().ok());
    EXPECT_EQ(sink.text(), Trim(std::string(AsText(vector.file)))) << vector.name;
  }
  EXPECT_EQ(round_trips, 11);
}

// Random access to files that are not armored gives the same plaintext or, for damaged ones, an
// error or a prefix of what reading in order released.
TEST(Cctv, SeekableReader) {
  for (const CctvVector& vector : Vectors()) {
    if (vector.armored) continue;
    MemorySource source(vector.file);
    BufferedReader reader(source);
    const Identities identities = IdentitiesOf(vector);
    const auto header = ReadHeader(reader);
    if (!header.ok() || !UnwrapFileKey(*header, identities).ok()) continue;
    const size_t header_size = EncodeHeader(*header).size();
    if (vector.file.size() < header_size + kPayloadNonceSize) continue;
    const ByteSpan payload = ByteSpan(vector.file).subspan(header_size);
    const PayloadKey key =
        DerivePayloadKey(FileKeyOf(vector), payload.first<kPayloadNonceSize>()).value();
    MemoryRandomAccess random_access(vector.file);
    auto seekable = SeekableStreamReader::Create(
        key, random_access, header_size + kPayloadNonceSize, payload.size() - kPayloadNonceSize);
    const Bytes expected = Decrypt(vector, SIZE_MAX, 70000).bytes;
    if (vector.expect != "success") {
      if (!seekable.ok()) {
        EXPECT_EQ(seekable.error().code(), ErrorCode::kPayload) << vector.name;
        continue;
      }
      Bytes all(static_cast<size_t>(seekable->size()));
      const auto size = seekable->ReadAt(0, all);
      EXPECT_FALSE(size.ok()) << vector.name;
      continue;
    }
    ASSERT_TRUE(seekable.ok()) << vector.name;
    ASSERT_EQ(seekable->size(), expected.size()) << vector.name;
    for (uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{65535}, uint64_t{65536},
                            uint64_t{expected.size()}, uint64_t{expected.size() / 2}}) {
      for (size_t size : {size_t{1}, size_t{65536}, expected.size() + 1}) {
        Bytes out(size);
        const auto count = seekable->ReadAt(offset, out);
        ASSERT_TRUE(count.ok()) << vector.name;
        const size_t available = offset < expected.size() ? expected.size() - offset : 0;
        ASSERT_EQ(*count, std::min(size, available)) << vector.name;
        ASSERT_TRUE(std::equal(
            out.begin(), out.begin() + static_cast<ptrdiff_t>(*count),
            expected.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(offset, expected.size()))))
            << vector.name;
      }
    }
  }
}

TEST(Cctv, InspectionAddsUp) {
  for (const CctvVector& vector : Vectors()) {
    if (vector.expect != "success") continue;
    const Bytes plaintext = Decrypt(vector, SIZE_MAX, 70000).bytes;
    for (bool size_known : {false, true}) {
      MemorySource source(vector.file);
      const auto inspection =
          Inspect(source, size_known ? std::optional<uint64_t>(vector.file.size()) : std::nullopt);
      ASSERT_TRUE(inspection.ok()) << vector.name << inspection.error().message();
      EXPECT_EQ(inspection->armored, vector.armored);
      EXPECT_EQ(inspection->payload_size, plaintext.size());
      EXPECT_EQ(inspection->header_size + inspection->armor_size + inspection->overhead_size +
                    inspection->payload_size,
                vector.file.size())
          << vector.name;
    }
  }
}

// The vectors that an encrypter makes, given their random stream. The others were changed by hand
// or have stanzas that nobody writes.
TEST(Cctv, EncryptionIsByteForByteTheSame) {
  std::set<std::string> same;
  for (const CctvVector& vector : Vectors()) {
    if (vector.expect != "success") continue;
    Recipients recipients;
    for (const std::string& text : vector.identities) {
      recipients.push_back(ParseIdentity(text).value()->ToRecipient().value());
    }
    if (vector.passphrase) {
      recipients.push_back(
          std::make_unique<ScryptRecipient>(SecretBuffer::CopyOf(*vector.passphrase), 10));
    }
    MemorySink sink;
    ArmorWriter armor(sink);
    testing::TestRandom random;
    ByteSink& target = vector.armored ? static_cast<ByteSink&>(armor) : sink;
    auto encryptor = Encryptor::Begin(FileKeyOf(vector), recipients, random, target);
    ASSERT_TRUE(encryptor.ok());
    ASSERT_TRUE(encryptor->Write(Decrypt(vector, SIZE_MAX, 70000).bytes).ok());
    ASSERT_TRUE(encryptor->Close().ok());
    if (vector.armored) {
      ASSERT_TRUE(armor.Close().ok());
    }
    if (sink.bytes() == vector.file) same.insert(vector.name);
  }
  const std::set<std::string> expected = {
      "armor_full_last_line", "armor_hybrid",           "hybrid",
      "armor_scrypt",         "armor_x25519",           "scrypt",
      "stream_257_chunks",    "stream_257_chunks_full", "stream_258_chunks",
      "stream_empty_payload", "stream_last_chunk_full", "stream_last_chunk_full_second",
      "stream_three_chunks",  "stream_two_chunks",      "x25519"};
  EXPECT_EQ(same, expected);
}

}  // namespace
}  // namespace coffer::age
