// SPDX-License-Identifier: Apache-2.0
// What a vault knows of one file, directory or link as it was when it was added
// (docs/format/vault.md, "Records").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/os/file_time.h"

namespace coffer::vault {

// SHA-256 of an object's bytes, or KT128 of content.
using Id = std::array<uint8_t, 32>;
using WriterId = std::array<uint8_t, 16>;
using os::FileTime;

inline constexpr size_t kMaxPathSize = size_t{1} << 20;
inline constexpr uint64_t kPieceSize = uint64_t{4} << 20;

enum class EntryKind : uint8_t {
  kFile = 0,
  kDirectory = 1,
  kSymlink = 2,
  kFifo = 3,
  kCharacterDevice = 4,
  kBlockDevice = 5,
  kSocket = 6,
};

// A piece of a file's data as it is stored: where, in the plaintext of which segment.
struct Blob {
  uint32_t segment = 0;  // an index into the segment table at hand
  uint8_t codec = 0;     // 0: as it is
  uint64_t offset = 0;
  uint64_t stored_size = 0;  // the piece's size, if codec is 0

  bool operator==(const Blob&) const = default;
};

struct Hole {
  uint64_t offset = 0;
  uint64_t size = 0;

  bool operator==(const Hole&) const = default;
};

struct Attribute {
  std::string name;
  Bytes value;

  bool operator==(const Attribute&) const = default;
};

// A version as a record refers to it: a commit of the record's table and an index among its
// entries.
struct VersionRef {
  uint32_t commit = 0;
  uint32_t index = 0;

  auto operator<=>(const VersionRef&) const = default;
};

inline constexpr uint32_t kChangedWhileRead = 1;  // a flag of an entry

struct Entry {
  std::string path;  // raw bytes: see IsValidPath
  EntryKind kind = EntryKind::kFile;
  uint32_t mode = 0;  // the twelve permission bits
  uint32_t user = 0;
  uint32_t group = 0;
  std::string user_name;  // empty if there was none
  std::string group_name;
  FileTime modified;
  std::optional<FileTime> accessed;
  std::optional<FileTime> status_changed;
  std::optional<uint64_t> inode;
  uint32_t flags = 0;

  // Files only.
  uint64_t size = 0;  // with the holes
  Id content_hash{};
  Bytes inline_data;
  std::vector<Blob> blobs;       // one for each piece, unless the data is inline
  std::vector<Id> piece_hashes;  // if there are two pieces or more
  std::vector<Hole> holes;       // ascending, apart

  std::string link_target;                              // symbolic links only
  std::optional<uint64_t> link_group;                   // hard links to one file, within a commit
  std::vector<Attribute> attributes;                    // ascending by name
  std::optional<std::pair<uint64_t, uint64_t>> device;  // major and minor
  std::vector<VersionRef> replaces;                     // empty in checkpoints

  // Keys from 128 on that this version does not know: encoded pairs in ascending order.
  Bytes extra;

  // The bytes outside the holes.
  [[nodiscard]] uint64_t data_size() const;

  bool operator==(const Entry&) const = default;
};

// Components joined by single '/', none of them empty, "." or "..", without NUL, at most
// kMaxPathSize bytes.
bool IsValidPath(std::string_view path);

}  // namespace coffer::vault
