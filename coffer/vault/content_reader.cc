// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/content_reader.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "coffer/vault/segment.h"

namespace coffer::vault {
namespace {

Error Damaged(std::string message) { return Error(ErrorCode::kDamaged, std::move(message)); }

// The bytes outside the holes; nothing if the holes are larger than the file.
std::optional<uint64_t> DataSize(const Entry& entry) {
  uint64_t size = entry.size;
  for (const Hole& hole : entry.holes) {
    if (hole.size > size) return std::nullopt;
    size -= hole.size;
  }
  return size;
}

// Whether sizes, hashes and blobs of an entry belong together.
Status CheckShape(const Entry& entry, uint64_t size) {
  const uint64_t pieces = size / kPieceSize + (size % kPieceSize == 0 ? 0 : 1);
  const bool is_inline = !entry.inline_data.empty();
  const bool good = is_inline ? entry.blobs.empty() && entry.inline_data.size() == size
                              : entry.blobs.size() == pieces;
  if (!good || entry.piece_hashes.size() != (pieces >= 2 ? pieces : 0)) {
    return Damaged("what the vault says of a file's data does not fit its size");
  }
  if (pieces >= 2 && HashPieceHashes(entry.piece_hashes) != entry.content_hash) {
    return Damaged("the hash of a file's content is not that of its pieces");
  }
  return OkStatus();
}

// Fetches pieces in order, one ahead of that which is looked at, on a thread of its own if there
// are several.
class ReadAhead {
 public:
  // Fills a buffer with a piece; called on one thread at a time.
  using Fetch = std::function<Status(size_t piece, MutableByteSpan out)>;

  ReadAhead(size_t count, size_t buffer_size, Fetch fetch)
      : count_(count), fetch_(std::move(fetch)) {
    buffers_[0] = SecretBuffer(buffer_size);
    if (count < 2) return;
    buffers_[1] = SecretBuffer(buffer_size);
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::system_error&) {
      thread_ = std::thread();  // no more of them are to be had: Next fetches
    }
  }

  ~ReadAhead() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next piece, good until the next call. Called at most once for each, and not after an error.
  Result<ByteSpan> Next() {
    const size_t piece = next_++;
    if (!thread_.joinable()) {
      COFFER_TRY(fetch_(piece, buffers_[0].ExposeMutable()));
      return buffers_[0].Expose();
    }
    std::unique_lock lock(mutex_);
    released_count_ = piece;
    changed_.notify_all();
    changed_.wait(lock, [&] { return fetched_count_ > piece || !status_.ok(); });
    if (fetched_count_ <= piece) return status_.error();
    return buffers_[piece % 2].Expose();
  }

 private:
  void Run() {
    for (size_t piece = 0; piece < count_; ++piece) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || piece < released_count_ + 2; });
        if (stopping_) return;
      }
      Status status = fetch_(piece, buffers_[piece % 2].ExposeMutable());
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
      if (!status.ok()) {
        status_ = std::move(status);
        return;
      }
      ++fetched_count_;
    }
  }

  const size_t count_;
  const Fetch fetch_;
  std::array<SecretBuffer, 2> buffers_;
  size_t next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t fetched_count_ = 0;   // guarded by mutex_, as are those below
  size_t released_count_ = 0;  // pieces whose buffer may be filled again
  bool stopping_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace

Result<std::shared_ptr<ObjectReader>> ContentReader::Segment(uint32_t number) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found =
        std::ranges::find_if(open_, [&](const Open& open) { return open.number == number; });
    if (found != open_.end()) {
      open_.splice(open_.begin(), open_, found);
      return open_.front().reader;
    }
  }
  const KnownSegment& segment = segments_.at(number);
  COFFER_ASSIGN_OR_RETURN(std::shared_ptr<ObjectReader> reader,
                          ObjectReader::OpenKnown(store_, ObjectClass::kSegment,
                                                  {.id = segment.id,
                                                   .header_size = segment.header_size,
                                                   .file_key = segment.file_key.Duplicate()}));
  if (reader->object_size() != segment.object_size) {
    return Damaged(ObjectKey(ObjectClass::kSegment, segment.id) +
                   " is damaged: it is not of the size that it was written with");
  }
  const std::scoped_lock lock(mutex_);
  open_.push_front({.number = number, .reader = reader});
  if (open_.size() > kOpenSegments) open_.pop_back();
  return reader;
}

Status ContentReader::ReadPiece(const Blob& blob, const Id& hash, MutableByteSpan out) {
  if (blob.codec != 0) {
    return Error(ErrorCode::kNeedsNewer,
                 "a file's data is stored in a way that needs a newer coffer");
  }
  if (blob.stored_size != out.size()) {
    return Damaged("what the vault says of a file's data does not fit its size");
  }
  COFFER_ASSIGN_OR_RETURN(const std::shared_ptr<ObjectReader> segment, Segment(blob.segment));
  COFFER_TRY(segment->ReadAt(blob.offset, out));
  if (HashPiece(out) != hash) {
    return Damaged(ObjectKey(ObjectClass::kSegment, segments_.at(blob.segment).id) +
                   " does not hold the piece of a file that it should hold");
  }
  return OkStatus();
}

Status ContentReader::Read(const Entry& entry, const Take& take) {
  const std::optional<uint64_t> size = DataSize(entry);
  if (!size) return Damaged("the holes of a file are larger than the file");
  COFFER_TRY(CheckShape(entry, *size));
  if (entry.blobs.empty()) {
    // Inline data of two pieces or more has passed for its piece hashes only.
    if (entry.piece_hashes.empty() && HashPiece(entry.inline_data) != entry.content_hash) {
      return Damaged("the data of a file does not have the hash that it should have");
    }
    for (size_t i = 0; i < entry.piece_hashes.size(); ++i) {
      const ByteSpan rest = ByteSpan(entry.inline_data).subspan(i * kPieceSize);
      if (HashPiece(rest.first(std::min<size_t>(rest.size(), kPieceSize))) !=
          entry.piece_hashes[i]) {
        return Damaged("the data of a file does not have the hash that it should have");
      }
    }
    return entry.inline_data.empty() ? OkStatus() : take(0, entry.inline_data);
  }
  const auto size_of = [&](size_t piece) {
    return static_cast<size_t>(std::min(*size - piece * kPieceSize, kPieceSize));
  };
  ReadAhead ahead(entry.blobs.size(), size_of(0), [&](size_t piece, MutableByteSpan out) {
    const Id& hash = entry.piece_hashes.empty() ? entry.content_hash : entry.piece_hashes[piece];
    return ReadPiece(entry.blobs[piece], hash, out.first(size_of(piece)));
  });
  for (size_t piece = 0; piece < entry.blobs.size(); ++piece) {
    COFFER_ASSIGN_OR_RETURN(const ByteSpan bytes, ahead.Next());
    COFFER_TRY(take(piece * kPieceSize, bytes.first(size_of(piece))));
  }
  return OkStatus();
}

}  // namespace coffer::vault
