// SPDX-License-Identifier: Apache-2.0
// The payload of an age file after its nonce: STREAM over ChaCha20-Poly1305 (C2SP age.md,
// "Payload").
//
//   payload    = *full-chunk last-chunk
//   full-chunk = 65536 bytes of ciphertext, 16 bytes of tag
//   last-chunk = 0 to 65536 bytes of ciphertext, 16 bytes of tag; empty only if it is the first
//
// The nonce of a chunk is its index, big-endian in 11 bytes, and one byte that is 1 for the last
// chunk and 0 for the others, so that chunks cannot be moved, dropped or added unnoticed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "coffer/age/keys.h"
#include "coffer/base/bytes.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/crypto/chacha20_poly1305.h"

namespace coffer::age {

inline constexpr size_t kChunkSize = 65536;
inline constexpr size_t kTagSize = crypto::ChaCha20Poly1305::kTagSize;
inline constexpr size_t kSealedChunkSize = kChunkSize + kTagSize;

enum class ChunkPlace { kNotLast, kLast };

// Seals and opens single chunks. One per thread.
class ChunkCipher {
 public:
  static Result<ChunkCipher> Create(const PayloadKey& key);

  // `sealed` is kTagSize longer than `plaintext`.
  Status Seal(uint64_t index, ChunkPlace place, ByteSpan plaintext, MutableByteSpan sealed);
  // Whether the chunk is authentic at that place. If not, `plaintext` is wiped.
  Result<bool> Open(uint64_t index, ChunkPlace place, ByteSpan sealed, MutableByteSpan plaintext);

 private:
  explicit ChunkCipher(crypto::ChaCha20Poly1305 cipher) : cipher_(std::move(cipher)) {}

  crypto::ChaCha20Poly1305 cipher_;
};

// How large `plaintext_size` bytes are when sealed, without the payload's nonce; nothing on
// overflow.
std::optional<uint64_t> SealedSize(uint64_t plaintext_size);
// The reverse; nothing for sizes that no payload has.
std::optional<uint64_t> OpenedSize(uint64_t sealed_size);

// Encrypts what is written to it. Close() writes the last chunk; without it the payload is not
// complete and no reader accepts it.
class StreamWriter final : public ByteSink {
 public:
  static Result<StreamWriter> Create(const PayloadKey& key, ByteSink& sink);

  Status Write(ByteSpan bytes) override;
  Status Close();

 private:
  StreamWriter(ChunkCipher cipher, ByteSink& sink);

  Status SealChunk(ChunkPlace place, ByteSpan plaintext);

  ChunkCipher cipher_;
  ByteSink* sink_;
  SecretBuffer pending_;  // plaintext that does not fill a chunk, or may be the last one
  Bytes sealed_;
  uint64_t index_ = 0;
  bool closed_ = false;
};

// Decrypts `source` to its end. Each chunk is handed out only after its tag was checked, in order;
// a full last chunk before it is known whether the file goes on behind it. kPayload, with the
// place, when a chunk is not authentic, when the payload ends early and when something follows it.
class StreamReader final : public ByteSource {
 public:
  static Result<StreamReader> Create(const PayloadKey& key, ByteSource& source);

  Result<size_t> Read(MutableByteSpan out) override;

 private:
  StreamReader(ChunkCipher cipher, ByteSource& source);

  // Opens the next chunk into `out`, of kChunkSize bytes; returns its size, 0 at the end.
  Result<size_t> NextChunk(MutableByteSpan out);
  Result<size_t> OpenNextChunk(MutableByteSpan out);
  Status CheckEnd();

  ChunkCipher cipher_;
  ByteSource* source_;
  Bytes sealed_;
  SecretBuffer opened_;  // one chunk, for callers who take less at a time
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t index_ = 0;
  bool last_seen_ = false;
  bool ended_ = false;
  std::optional<Error> failure_;
};

// Random access to the plaintext of a payload. Not for use by several threads at once.
class SeekableStreamReader {
 public:
  // The payload without its nonce is the `sealed_size` bytes of `source` from `sealed_offset` on.
  // Opens the last chunk first: before that, nothing is known about the size. kPayload if it is not
  // authentic.
  static Result<SeekableStreamReader> Create(const PayloadKey& key, RandomAccessSource& source,
                                             uint64_t sealed_offset, uint64_t sealed_size);

  [[nodiscard]] uint64_t size() const { return size_; }

  // Reads the plaintext from `offset` on; fewer bytes than asked for only at the end.
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out);

 private:
  SeekableStreamReader(ChunkCipher cipher, RandomAccessSource& source, uint64_t sealed_offset,
                       uint64_t size);

  Status LoadChunk(uint64_t index);

  ChunkCipher cipher_;
  RandomAccessSource* source_;
  uint64_t sealed_offset_;
  uint64_t size_;
  uint64_t chunk_count_;
  Bytes sealed_;
  SecretBuffer opened_;
  std::optional<uint64_t> loaded_;  // which chunk opened_ holds
};

}  // namespace coffer::age
