// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/stream.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "coffer/base/testing/memory_io.h"

namespace coffer::age {
namespace {

using coffer::testing::MemoryRandomAccess;
using coffer::testing::MemorySink;
using coffer::testing::MemorySource;
using coffer::testing::ReadAll;

constexpr size_t kSizes[] = {0, 1, 15, 16, 17, 65535, 65536, 65537, 131071, 131072, 131073, 200000};

PayloadKey Key() { return PayloadKey::CopyOf(std::array<uint8_t, 32>{7}); }

Bytes Plaintext(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return bytes;
}

Bytes Seal(const Bytes& plaintext, size_t piece = SIZE_MAX) {
  MemorySink sink;
  StreamWriter writer = StreamWriter::Create(Key(), sink).value();
  for (ByteSpan rest = plaintext; !rest.empty();) {
    const size_t size = std::min(piece, rest.size());
    EXPECT_TRUE(writer.Write(rest.first(size)).ok());
    rest = rest.subspan(size);
  }
  EXPECT_TRUE(writer.Close().ok());
  return sink.bytes();
}

coffer::testing::ReadOutcome Open(const Bytes& sealed, size_t piece = 70000) {
  MemorySource source(sealed);
  StreamReader reader = StreamReader::Create(Key(), source).value();
  return ReadAll(reader, piece);
}

std::string Message(const Bytes& sealed) {
  const auto outcome = Open(sealed);
  if (outcome.status.ok()) return "opened";
  EXPECT_EQ(outcome.status.error().code(), ErrorCode::kPayload);
  return outcome.status.error().message();
}

TEST(Stream, RoundTripsWhateverThePieces) {
  for (size_t size : kSizes) {
    const Bytes plaintext = Plaintext(size);
    const Bytes sealed = Seal(plaintext);
    EXPECT_EQ(sealed.size(), SealedSize(size));
    EXPECT_EQ(OpenedSize(sealed.size()), size);
    for (size_t piece : {size_t{1000}, size_t{65535}, size_t{65536}, size_t{65537}}) {
      EXPECT_EQ(Seal(plaintext, piece), sealed);
      const auto outcome = Open(sealed, piece);
      ASSERT_TRUE(outcome.status.ok());
      EXPECT_EQ(outcome.bytes, plaintext);
    }
  }
}

TEST(Stream, SizesThatNoPayloadHas) {
  EXPECT_FALSE(OpenedSize(0));
  EXPECT_FALSE(OpenedSize(15));
  EXPECT_EQ(OpenedSize(16), 0u);
  EXPECT_EQ(OpenedSize(17), 1u);
  EXPECT_EQ(OpenedSize(65552), 65536u);
  for (uint64_t tail = 1; tail <= 16; ++tail) EXPECT_FALSE(OpenedSize(65552 + tail)) << tail;
  EXPECT_EQ(OpenedSize(65552 + 17), 65537u);
  EXPECT_FALSE(SealedSize(UINT64_MAX));
  EXPECT_FALSE(SealedSize(UINT64_MAX - 1000));
}

TEST(Stream, EveryFlippedBitIsNoticed) {
  const Bytes sealed = Seal(Plaintext(40));
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    Bytes changed = sealed;
    changed[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const auto outcome = Open(changed);
    ASSERT_FALSE(outcome.status.ok());
    ASSERT_TRUE(outcome.bytes.empty());
  }
}

TEST(Stream, EveryCutIsNoticed) {
  const Bytes sealed = Seal(Plaintext(65536 + 20));
  for (size_t size = 0; size < sealed.size(); size += size % 65552 < 40 ? 1 : 5003) {
    const auto outcome = Open(Bytes(sealed.begin(), sealed.begin() + static_cast<ptrdiff_t>(size)));
    ASSERT_FALSE(outcome.status.ok()) << size;
    ASSERT_EQ(outcome.status.error().code(), ErrorCode::kPayload);
    ASSERT_EQ(outcome.bytes.size(), size >= 65552 ? 65536u : 0u);
  }
}

TEST(Stream, ChunksCannotMove) {
  const Bytes sealed = Seal(Plaintext(3 * 65536));
  const auto chunk = [&](size_t i) {
    return ByteSpan(sealed).subspan(i * kSealedChunkSize, kSealedChunkSize);
  };
  const auto assembled = [&](std::initializer_list<size_t> order) {
    Bytes out;
    for (size_t i : order) Append(out, chunk(i));
    return Open(out);
  };
  EXPECT_TRUE(assembled({0, 1, 2}).status.ok());
  for (auto order : {std::initializer_list<size_t>{1, 0, 2},
                     {0, 2},
                     {0, 1},
                     {0, 0, 1, 2},
                     {0, 1, 2, 2},
                     {2},
                     {0, 1, 1, 2}}) {
    EXPECT_FALSE(assembled(order).status.ok());
  }
}

TEST(Stream, SaysWhatIsWrongAndWhere) {
  const Bytes sealed = Seal(Plaintext(2 * 65536));
  Bytes changed = sealed;
  changed[70000] ^= 1;
  EXPECT_EQ(Message(changed),
            "damaged payload: chunk 1 (plaintext from byte 65536): it does not authenticate; the "
            "file was damaged, cut off or changed");
  changed = sealed;
  changed.resize(65552);
  EXPECT_EQ(Message(changed),
            "damaged payload: chunk 1 (plaintext from byte 65536): the file ends here before its "
            "last chunk; it was cut off");
  changed = sealed;
  changed.push_back(0);
  EXPECT_EQ(Message(changed),
            "damaged payload: chunk 2 (plaintext from byte 131072): data follows the last chunk");
}

// The one way in which an honest cipher could be misused to hide an empty last chunk.
TEST(Stream, EmptyLastChunkAfterOthers) {
  ChunkCipher cipher = ChunkCipher::Create(Key()).value();
  const Bytes plaintext = Plaintext(65536);
  Bytes sealed(kSealedChunkSize + kTagSize);
  ASSERT_TRUE(
      cipher
          .Seal(0, ChunkPlace::kNotLast, plaintext, MutableByteSpan(sealed).first(kSealedChunkSize))
          .ok());
  ASSERT_TRUE(cipher.Seal(1, ChunkPlace::kLast, {}, MutableByteSpan(sealed).last(kTagSize)).ok());
  EXPECT_TRUE(Message(sealed).ends_with("the last chunk is empty"));
  EXPECT_FALSE(OpenedSize(sealed.size()));
}

TEST(Stream, FailureStays) {
  Bytes sealed = Seal(Plaintext(100));
  sealed[0] ^= 1;
  MemorySource source(sealed);
  StreamReader reader = StreamReader::Create(Key(), source).value();
  Bytes out(10);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(reader.Read(out).ok());
}

TEST(Stream, PassesOnErrorsOfItsSource) {
  MemorySource source(Seal(Plaintext(65536)));
  source.FailAtEnd(Error(ErrorCode::kIo, "the disk is gone"));
  StreamReader reader = StreamReader::Create(Key(), source).value();
  const auto outcome = ReadAll(reader);
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_EQ(outcome.status.error().code(), ErrorCode::kIo);
  EXPECT_EQ(outcome.bytes.size(), 65536u);  // authenticated before the end was looked for
}

TEST(Stream, PassesOnErrorsOfItsSink) {
  MemorySink sink(100000);
  StreamWriter writer = StreamWriter::Create(Key(), sink).value();
  const Status status = writer.Write(Plaintext(200000));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::kIo);
}

TEST(SeekableStream, ReadsEveryPlace) {
  for (size_t size : kSizes) {
    const Bytes plaintext = Plaintext(size);
    Bytes file(5, 0xee);
    const Bytes sealed = Seal(plaintext);
    Append(file, sealed);
    MemoryRandomAccess source(file);
    auto reader = SeekableStreamReader::Create(Key(), source, 5, sealed.size()).value();
    EXPECT_EQ(reader.size(), size);
    for (uint64_t offset : kSizes) {
      for (size_t length : kSizes) {
        Bytes out(length);
        const size_t count = reader.ReadAt(offset, out).value();
        ASSERT_EQ(count, offset >= size ? 0 : std::min<size_t>(length, size - offset));
        ASSERT_TRUE(std::equal(out.begin(), out.begin() + static_cast<ptrdiff_t>(count),
                               plaintext.begin() + static_cast<ptrdiff_t>(std::min(offset, size))));
      }
    }
    Bytes out(1);
    EXPECT_EQ(reader.ReadAt(UINT64_MAX, out).value(), 0u);
  }
}

TEST(SeekableStream, TrustsNoSizeBeforeTheLastChunk) {
  Bytes sealed = Seal(Plaintext(200000));
  sealed.resize(2 * kSealedChunkSize);  // a cut at a chunk: the size alone looks right
  MemoryRandomAccess source(sealed);
  const auto reader = SeekableStreamReader::Create(Key(), source, 0, sealed.size());
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().code(), ErrorCode::kPayload);
  EXPECT_FALSE(SeekableStreamReader::Create(Key(), source, UINT64_MAX, 16).ok());
  EXPECT_FALSE(SeekableStreamReader::Create(Key(), source, 0, 5).ok());
}

}  // namespace
}  // namespace coffer::age
