// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/segment_table.h"

#include <utility>

#include "coffer/base/check.h"

namespace coffer::vault {

uint32_t SegmentTable::Add(KnownSegment segment) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] =
      numbers_.try_emplace(segment.id, static_cast<uint32_t>(segments_.size()));
  if (is_new) segments_.emplace_back(std::move(segment));
  return place->second;
}

uint32_t SegmentTable::Reserve() {
  const std::lock_guard lock(mutex_);
  segments_.emplace_back();
  return static_cast<uint32_t>(segments_.size() - 1);
}

void SegmentTable::Set(uint32_t number, KnownSegment segment) {
  const std::lock_guard lock(mutex_);
  COFFER_CHECK(number < segments_.size() && !segments_[number]);
  numbers_.try_emplace(segment.id, number);
  segments_[number] = std::move(segment);
}

const KnownSegment& SegmentTable::at(uint32_t number) const {
  const std::lock_guard lock(mutex_);
  COFFER_CHECK(number < segments_.size() && segments_[number]);
  return *segments_[number];
}

std::optional<uint32_t> SegmentTable::Find(const Id& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = numbers_.find(id);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

size_t SegmentTable::size() const {
  const std::lock_guard lock(mutex_);
  return segments_.size();
}

}  // namespace coffer::vault
