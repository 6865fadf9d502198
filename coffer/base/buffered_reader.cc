// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/buffered_reader.h"

#include <algorithm>
#include <cstring>

namespace coffer {
namespace {

constexpr size_t kReadSize = 4096;
constexpr size_t kLongReadSize = 65536;

}  // namespace

Result<bool> BufferedReader::Fill(size_t more) {
  if (ended_) return false;
  if (begin_ != 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
  const size_t old_size = buffer_.size();
  buffer_.resize(old_size + more);
  Result<size_t> count = source_.Read(MutableByteSpan(buffer_).subspan(old_size));
  buffer_.resize(old_size + (count.ok() ? *count : 0));
  if (!count.ok()) return std::move(count).error();
  ended_ = *count == 0;
  return !ended_;
}

Result<ByteSpan> BufferedReader::Peek(size_t size) {
  while (Buffered().size() < size) {
    COFFER_ASSIGN_OR_RETURN(const bool more, Fill(std::max(size - Buffered().size(), kReadSize)));
    if (!more) break;
  }
  return Buffered().first(std::min(size, Buffered().size()));
}

Result<ByteSpan> BufferedReader::ReadLine(size_t limit) {
  size_t searched = 0;
  while (true) {
    const ByteSpan buffered = Buffered().first(std::min(limit, Buffered().size()));
    const auto from = buffered.begin() + static_cast<ptrdiff_t>(searched);
    const auto end = std::find(from, buffered.end(), uint8_t{'\n'});
    if (end != buffered.end()) {
      const size_t size = static_cast<size_t>(end - buffered.begin()) + 1;
      begin_ += size;
      return buffered.first(size);
    }
    searched = buffered.size();
    if (searched < limit) {
      // Steps of a fixed size: a pipe gives little at a time, and what is asked for has to be
      // cleared.
      COFFER_ASSIGN_OR_RETURN(const bool more, Fill(buffered.empty() ? kReadSize : kLongReadSize));
      if (more) continue;
    }
    const ByteSpan rest = Buffered().first(searched);
    begin_ += rest.size();
    return rest;
  }
}

Result<size_t> BufferedReader::Read(MutableByteSpan out) {
  const ByteSpan buffered = Buffered();
  if (buffered.empty()) {
    if (ended_) return size_t{0};
    COFFER_ASSIGN_OR_RETURN(const size_t count, source_.Read(out));
    ended_ = count == 0;
    return count;
  }
  const size_t size = std::min(out.size(), buffered.size());
  std::memcpy(out.data(), buffered.data(), size);
  begin_ += size;
  return size;
}

}  // namespace coffer
