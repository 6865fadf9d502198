// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/internal/file_data_sink.h"

#include <algorithm>
#include <optional>

#include "coffer/base/checked.h"

namespace coffer::local::internal {
namespace {

// Dirty pages go to the disk in steps of about this size.
constexpr uint64_t kWritebackStep = 8 << 20;

}  // namespace

bool HolesFit(const vault::Entry& entry) {
  uint64_t end = 0;
  for (const vault::Hole& hole : entry.holes) {
    const std::optional<uint64_t> next = CheckedAdd(hole.offset, hole.size);
    if (!next || hole.size == 0 || hole.offset < end || *next > entry.size) return false;
    end = *next;
  }
  return true;
}

FileDataSink::FileDataSink(const vault::Entry& entry, os::File& file) : file_(file) {
  uint64_t file_offset = 0;
  uint64_t data_offset = 0;
  const auto add = [&](uint64_t end) {
    if (end > file_offset) stretches_.push_back({data_offset, file_offset, end - file_offset});
    data_offset += end - file_offset;
  };
  for (const vault::Hole& hole : entry.holes) {
    add(hole.offset);
    file_offset = hole.offset + hole.size;
  }
  add(entry.size);
  data_size_ = data_offset;
}

Status FileDataSink::WriteAt(uint64_t data_offset, ByteSpan bytes) {
  if (data_offset > data_size_ || bytes.size() > data_size_ - data_offset) {
    return Error(ErrorCode::kDamaged, "there is more data than the entry says");
  }
  auto stretch = std::ranges::upper_bound(stretches_, data_offset, {}, &Stretch::data_offset);
  if (!bytes.empty()) --stretch;
  while (!bytes.empty()) {
    const uint64_t within = data_offset - stretch->data_offset;
    const auto size = static_cast<size_t>(std::min<uint64_t>(bytes.size(), stretch->size - within));
    COFFER_TRY(file_.WriteAt(stretch->file_offset + within, bytes.first(size)));
    Written(stretch->file_offset + within, size);
    data_offset += size;
    bytes = bytes.subspan(size);
    ++stretch;
  }
  return OkStatus();
}

void FileDataSink::StartWriteback() {
  if (dirty_end_ > dirty_start_) file_.StartWriteback(dirty_start_, dirty_end_ - dirty_start_);
  dirty_start_ = dirty_end_ = 0;
}

void FileDataSink::Written(uint64_t offset, uint64_t size) {
  const std::lock_guard lock(mutex_);
  written_ += size;
  if (dirty_end_ == dirty_start_) dirty_start_ = dirty_end_ = offset;
  dirty_start_ = std::min(dirty_start_, offset);
  dirty_end_ = std::max(dirty_end_, offset + size);
  if (dirty_end_ - dirty_start_ >= kWritebackStep) StartWriteback();
}

}  // namespace coffer::local::internal
