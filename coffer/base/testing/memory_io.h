// SPDX-License-Identifier: Apache-2.0
// Sources and sinks in memory, for tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "coffer/base/bytes.h"
#include "coffer/base/io.h"

namespace coffer::testing {

// Hands out bytes, at most `piece` at a time, and then ends or fails.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(ByteSpan bytes, size_t piece = SIZE_MAX)
      : bytes_(bytes.begin(), bytes.end()), piece_(piece) {}
  explicit MemorySource(std::string_view text, size_t piece = SIZE_MAX)
      : MemorySource(AsBytes(text), piece) {}

  void FailAtEnd(Error error) { at_end_ = std::move(error); }

  Result<size_t> Read(MutableByteSpan out) override {
    const size_t size = std::min({out.size(), piece_, bytes_.size() - position_});
    if (size == 0 && at_end_) return *at_end_;
    if (size != 0) std::memcpy(out.data(), bytes_.data() + position_, size);
    position_ += size;
    return size;
  }

 private:
  Bytes bytes_;
  size_t piece_;
  size_t position_ = 0;
  std::optional<Error> at_end_;
};

class MemoryRandomAccess final : public RandomAccessSource {
 public:
  explicit MemoryRandomAccess(ByteSpan bytes) : bytes_(bytes.begin(), bytes.end()) {}

  [[nodiscard]] uint64_t size() const override { return bytes_.size(); }
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override {
    if (offset >= bytes_.size()) return size_t{0};
    const size_t size = std::min(out.size(), bytes_.size() - static_cast<size_t>(offset));
    if (size != 0) std::memcpy(out.data(), bytes_.data() + offset, size);
    return size;
  }

 private:
  Bytes bytes_;
};

// Keeps what it is given, up to a limit after which it fails.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(size_t limit = SIZE_MAX) : limit_(limit) {}

  Status Write(ByteSpan bytes) override {
    if (bytes.size() > limit_ - bytes_.size()) return Error(ErrorCode::kIo, "the sink is full");
    Append(bytes_, bytes);
    return OkStatus();
  }

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] std::string_view text() const { return AsText(bytes_); }

 private:
  size_t limit_;
  Bytes bytes_;
};

// What a source gave before it ended or failed, and how.
struct ReadOutcome {
  Bytes bytes;
  Status status;
};

inline ReadOutcome ReadAll(ByteSource& source, size_t piece = 70000) {
  ReadOutcome outcome;
  Bytes buffer(piece);
  while (true) {
    Result<size_t> size = source.Read(buffer);
    if (!size.ok()) {
      outcome.status = std::move(size).error();
      return outcome;
    }
    if (*size == 0) return outcome;
    Append(outcome.bytes, ByteSpan(buffer).first(*size));
  }
}

}  // namespace coffer::testing
