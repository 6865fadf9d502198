// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "coffer/base/check.h"
#include "coffer/base/checked.h"
#include "coffer/base/endian.h"

namespace coffer::age {
namespace {

std::array<uint8_t, crypto::ChaCha20Poly1305::kNonceSize> ChunkNonce(uint64_t index,
                                                                     ChunkPlace place) {
  std::array<uint8_t, crypto::ChaCha20Poly1305::kNonceSize> nonce{};
  // 64 of the counter's 88 bits are enough for 2^80 bytes.
  StoreBigEndian(index, std::span(nonce).subspan<3, 8>());
  nonce[11] = place == ChunkPlace::kLast ? 1 : 0;
  return nonce;
}

Error DamagedChunk(uint64_t index, std::string_view reason) {
  return Error(ErrorCode::kPayload,
               "damaged payload: chunk " + std::to_string(index) + " (plaintext from byte " +
                   std::to_string(index * kChunkSize) + "): " + std::string(reason));
}

constexpr std::string_view kNotAuthentic =
    "it does not authenticate; the file was damaged, cut off or changed";
constexpr std::string_view kCutOff = "the file ends here before its last chunk; it was cut off";
constexpr std::string_view kEmptyLast = "the last chunk is empty";
constexpr std::string_view kTrailing = "data follows the last chunk";

}  // namespace

Result<ChunkCipher> ChunkCipher::Create(const PayloadKey& key) {
  COFFER_ASSIGN_OR_RETURN(auto cipher, crypto::ChaCha20Poly1305::Create(key.Expose()));
  return ChunkCipher(std::move(cipher));
}

Status ChunkCipher::Seal(uint64_t index, ChunkPlace place, ByteSpan plaintext,
                         MutableByteSpan sealed) {
  return cipher_.Seal(ChunkNonce(index, place), {}, plaintext, sealed);
}

Result<bool> ChunkCipher::Open(uint64_t index, ChunkPlace place, ByteSpan sealed,
                               MutableByteSpan plaintext) {
  return cipher_.Open(ChunkNonce(index, place), {}, sealed, plaintext);
}

std::optional<uint64_t> SealedSize(uint64_t plaintext_size) {
  const uint64_t chunks =
      std::max<uint64_t>(1, plaintext_size / kChunkSize + (plaintext_size % kChunkSize != 0));
  return CheckedAdd(plaintext_size, chunks * kTagSize);
}

std::optional<uint64_t> OpenedSize(uint64_t sealed_size) {
  if (sealed_size == kTagSize) return 0;
  const uint64_t full = sealed_size / kSealedChunkSize;
  const uint64_t tail = sealed_size % kSealedChunkSize;
  if (tail == 0 && full > 0) return full * kChunkSize;
  if (tail <= kTagSize) return std::nullopt;
  return full * kChunkSize + tail - kTagSize;
}

StreamWriter::StreamWriter(ChunkCipher cipher, ByteSink& sink)
    : cipher_(std::move(cipher)), sink_(&sink), sealed_(kSealedChunkSize) {
  pending_.Reserve(kChunkSize);
}

Result<StreamWriter> StreamWriter::Create(const PayloadKey& key, ByteSink& sink) {
  COFFER_ASSIGN_OR_RETURN(ChunkCipher cipher, ChunkCipher::Create(key));
  return StreamWriter(std::move(cipher), sink);
}

Status StreamWriter::SealChunk(ChunkPlace place, ByteSpan plaintext) {
  const MutableByteSpan sealed = MutableByteSpan(sealed_).first(plaintext.size() + kTagSize);
  COFFER_TRY(cipher_.Seal(index_++, place, plaintext, sealed));
  return sink_->Write(sealed);
}

Status StreamWriter::Write(ByteSpan bytes) {
  COFFER_CHECK(!closed_);
  // A full chunk is sealed only when more follows: before that it may be the last.
  while (pending_.size() + bytes.size() > kChunkSize) {
    if (pending_.empty()) {
      COFFER_TRY(SealChunk(ChunkPlace::kNotLast, bytes.first(kChunkSize)));
      bytes = bytes.subspan(kChunkSize);
      continue;
    }
    const size_t missing = kChunkSize - pending_.size();
    pending_.Append(bytes.first(missing));
    bytes = bytes.subspan(missing);
    COFFER_TRY(SealChunk(ChunkPlace::kNotLast, pending_.Expose()));
    pending_.Truncate(0);
  }
  pending_.Append(bytes);
  return OkStatus();
}

Status StreamWriter::Close() {
  COFFER_CHECK(!closed_);
  closed_ = true;
  COFFER_TRY(SealChunk(ChunkPlace::kLast, pending_.Expose()));
  pending_.Clear();
  return OkStatus();
}

StreamReader::StreamReader(ChunkCipher cipher, ByteSource& source)
    : cipher_(std::move(cipher)), source_(&source), sealed_(kSealedChunkSize) {}

Result<StreamReader> StreamReader::Create(const PayloadKey& key, ByteSource& source) {
  COFFER_ASSIGN_OR_RETURN(ChunkCipher cipher, ChunkCipher::Create(key));
  return StreamReader(std::move(cipher), source);
}

Result<size_t> StreamReader::Read(MutableByteSpan out) {
  if (begin_ == end_ && out.size() >= kChunkSize) return NextChunk(out.first(kChunkSize));
  if (begin_ == end_) {
    if (opened_.empty()) opened_ = SecretBuffer(kChunkSize);
    COFFER_ASSIGN_OR_RETURN(end_, NextChunk(opened_.ExposeMutable()));
    begin_ = 0;
  }
  const size_t size = std::min(out.size(), end_ - begin_);
  if (size != 0) std::memcpy(out.data(), opened_.Expose().data() + begin_, size);
  begin_ += size;
  return size;
}

Result<size_t> StreamReader::NextChunk(MutableByteSpan out) {
  if (failure_) return *failure_;
  if (ended_) return size_t{0};
  Result<size_t> size = last_seen_ ? size_t{0} : OpenNextChunk(out);
  // An empty payload has a last chunk and no plaintext: its end is due at once.
  if (size.ok() && *size == 0) {
    if (Status end = CheckEnd(); !end.ok()) size = std::move(end).error();
    ended_ = true;
  }
  if (!size.ok()) failure_ = size.error();
  return size;
}

Result<size_t> StreamReader::OpenNextChunk(MutableByteSpan out) {
  COFFER_ASSIGN_OR_RETURN(const size_t sealed_size, ReadFull(*source_, sealed_));
  if (sealed_size == 0) return DamagedChunk(index_, kCutOff);
  if (sealed_size < kTagSize) return DamagedChunk(index_, kNotAuthentic);
  const ByteSpan sealed = ByteSpan(sealed_).first(sealed_size);
  const MutableByteSpan plaintext = out.first(sealed_size - kTagSize);

  bool authentic = false;
  if (sealed_size == kSealedChunkSize) {
    COFFER_ASSIGN_OR_RETURN(authentic,
                            cipher_.Open(index_, ChunkPlace::kNotLast, sealed, plaintext));
  }
  if (!authentic) {
    COFFER_ASSIGN_OR_RETURN(authentic, cipher_.Open(index_, ChunkPlace::kLast, sealed, plaintext));
    last_seen_ = authentic;
  }
  if (!authentic) return DamagedChunk(index_, kNotAuthentic);
  if (plaintext.empty() && index_ != 0) return DamagedChunk(index_, kEmptyLast);
  ++index_;
  return plaintext.size();
}

Status StreamReader::CheckEnd() {
  uint8_t more;
  COFFER_ASSIGN_OR_RETURN(const size_t count, source_->Read(MutableByteSpan(&more, 1)));
  if (count != 0) return DamagedChunk(index_, kTrailing);
  return OkStatus();
}

SeekableStreamReader::SeekableStreamReader(ChunkCipher cipher, RandomAccessSource& source,
                                           uint64_t sealed_offset, uint64_t size)
    : cipher_(std::move(cipher)),
      source_(&source),
      sealed_offset_(sealed_offset),
      size_(size),
      chunk_count_(std::max<uint64_t>(1, size / kChunkSize + (size % kChunkSize != 0))),
      sealed_(kSealedChunkSize),
      opened_(kChunkSize) {}

Result<SeekableStreamReader> SeekableStreamReader::Create(const PayloadKey& key,
                                                          RandomAccessSource& source,
                                                          uint64_t sealed_offset,
                                                          uint64_t sealed_size) {
  COFFER_ASSIGN_OR_RETURN(ChunkCipher cipher, ChunkCipher::Create(key));
  const std::optional<uint64_t> size = OpenedSize(sealed_size);
  if (!size || !CheckedAdd(sealed_offset, sealed_size)) {
    return Error(ErrorCode::kPayload, "damaged payload: no payload is " +
                                          std::to_string(sealed_size) +
                                          " bytes long; the file was cut off or added to");
  }
  SeekableStreamReader reader(std::move(cipher), source, sealed_offset, *size);
  COFFER_TRY(reader.LoadChunk(reader.chunk_count_ - 1));
  return reader;
}

Status SeekableStreamReader::LoadChunk(uint64_t index) {
  if (loaded_ == index) return OkStatus();
  loaded_.reset();
  const bool last = index == chunk_count_ - 1;
  const auto plaintext_size =
      static_cast<size_t>(last ? size_ - index * kChunkSize : uint64_t{kChunkSize});
  const MutableByteSpan sealed = MutableByteSpan(sealed_).first(plaintext_size + kTagSize);
  COFFER_ASSIGN_OR_RETURN(const size_t count,
                          source_->ReadAt(sealed_offset_ + index * kSealedChunkSize, sealed));
  if (count != sealed.size()) return DamagedChunk(index, kCutOff);
  COFFER_ASSIGN_OR_RETURN(const bool authentic,
                          cipher_.Open(index, last ? ChunkPlace::kLast : ChunkPlace::kNotLast,
                                       sealed, opened_.ExposeMutable().first(plaintext_size)));
  if (!authentic) return DamagedChunk(index, kNotAuthentic);
  loaded_ = index;
  return OkStatus();
}

Result<size_t> SeekableStreamReader::ReadAt(uint64_t offset, MutableByteSpan out) {
  size_t done = 0;
  while (done < out.size() && offset < size_) {
    const uint64_t index = offset / kChunkSize;
    COFFER_TRY(LoadChunk(index));
    const auto within = static_cast<size_t>(offset % kChunkSize);
    const size_t size = static_cast<size_t>(
        std::min<uint64_t>({out.size() - done, kChunkSize - within, size_ - offset}));
    std::memcpy(out.data() + done, opened_.Expose().data() + within, size);
    done += size;
    offset += size;
  }
  return done;
}

}  // namespace coffer::age
