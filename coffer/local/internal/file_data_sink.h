// SPDX-License-Identifier: Apache-2.0
// The data of one file on its way between the file's holes.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/local/restore.h"
#include "coffer/os/file_system.h"
#include "coffer/vault/entry.h"

namespace coffer::local::internal {

// Whether the holes are as an entry's must be: apart, ascending, within the size.
bool HolesFit(const vault::Entry& entry);

// Puts data between the holes of a file, and lets the disk begin with it.
class FileDataSink final : public DataSink {
 public:
  // The holes fit.
  FileDataSink(const vault::Entry& entry, os::File& file);

  Status WriteAt(uint64_t data_offset, ByteSpan bytes) override;

  // Whether as much was written as the entry says.
  [[nodiscard]] bool complete() const { return written_ >= data_size_; }
  // Of what it has not been told of yet.
  void StartWriteback();

 private:
  struct Stretch {
    uint64_t data_offset;
    uint64_t file_offset;
    uint64_t size;
  };

  void Written(uint64_t offset, uint64_t size);

  os::File& file_;
  std::vector<Stretch> stretches_;
  uint64_t data_size_ = 0;
  std::mutex mutex_;
  uint64_t written_ = 0;
  uint64_t dirty_start_ = 0;
  uint64_t dirty_end_ = 0;
};

}  // namespace coffer::local::internal
