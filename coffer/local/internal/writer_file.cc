// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/internal/writer_file.h"

#include <algorithm>

#include "coffer/base/quote.h"
#include "coffer/crypto/sha2.h"
#include "coffer/local/internal/fields.h"
#include "coffer/os/temporary_file.h"

namespace coffer::local::internal {
namespace {

constexpr std::string_view kMagic = "coffer writer1\r\n";
constexpr size_t kChecksumSize = 32;
constexpr size_t kSlotCount = 2;

static_assert(kMagic.size() == 16);

}  // namespace

Result<Bytes> EncodeSlot(const Slot& slot) {
  Bytes out;
  out.reserve(kSlotSize);
  Append(out, AsBytes(kMagic));
  AppendInteger(out, slot.generation);
  Append(out, slot.writer);
  Append(out, slot.place.machine);
  AppendInteger(out, slot.place.device);
  AppendInteger(out, slot.place.directory);
  AppendInteger(out, slot.place.file);
  AppendInteger(out, static_cast<uint8_t>(slot.synced ? 1 : 0));
  AppendInteger(out, slot.last_seq);
  Append(out, slot.last_id);
  AppendInteger(out, slot.intended_seq);
  Append(out, slot.intended_id);
  out.resize(kSlotSize - kChecksumSize);
  COFFER_ASSIGN_OR_RETURN(const auto checksum, crypto::Sha256(out));
  Append(out, checksum);
  return out;
}

Result<std::optional<Slot>> DecodeSlot(ByteSpan bytes) {
  const std::optional<Slot> none;
  if (bytes.size() != kSlotSize) return none;
  const ByteSpan content = bytes.first(kSlotSize - kChecksumSize);
  COFFER_ASSIGN_OR_RETURN(const auto checksum, crypto::Sha256(content));
  if (!std::ranges::equal(checksum, bytes.last(kChecksumSize))) return none;
  ByteReader reader(content);
  const std::optional<ByteSpan> magic = reader.Take(kMagic.size());
  if (!magic || AsText(*magic) != kMagic) return none;
  Slot slot;
  uint8_t kind = 0;
  const bool whole = TakeInteger(reader, slot.generation) && TakeArray(reader, slot.writer) &&
                     TakeArray(reader, slot.place.machine) &&
                     TakeInteger(reader, slot.place.device) &&
                     TakeInteger(reader, slot.place.directory) &&
                     TakeInteger(reader, slot.place.file) && TakeInteger(reader, kind) &&
                     TakeInteger(reader, slot.last_seq) && TakeArray(reader, slot.last_id) &&
                     TakeInteger(reader, slot.intended_seq) && TakeArray(reader, slot.intended_id);
  if (!whole || kind > 1 || slot.generation == 0) return none;
  slot.synced = kind == 1;
  return std::optional(slot);
}

Result<std::unique_ptr<WriterFile>> WriterFile::Open(os::FileSystem& file_system,
                                                     const std::string& path, os::Access access) {
  os::OpenOptions options;
  options.access = access;
  options.follow_symlink = false;
  options.wait_for_peer = false;
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<os::File> file, file_system.Open(path, options));
  std::unique_ptr<WriterFile> opened(new WriterFile(std::move(file)));
  COFFER_TRY(opened->Load());
  return opened;
}

Status WriterFile::Load() {
  COFFER_ASSIGN_OR_RETURN(const os::FileStat stat, file_->Stat());
  inode_ = stat.inode;
  Bytes bytes(kSlotCount * kSlotSize);
  size_t size = 0;
  if (stat.kind == os::FileKind::kRegular) {
    COFFER_ASSIGN_OR_RETURN(size, file_->ReadAt(0, bytes));
  }
  std::array<std::optional<Slot>, kSlotCount> slots;
  if (size == bytes.size()) {
    for (size_t i = 0; i < kSlotCount; ++i) {
      COFFER_ASSIGN_OR_RETURN(slots[i],
                              DecodeSlot(ByteSpan(bytes).subspan(i * kSlotSize, kSlotSize)));
    }
  }
  if (!slots[0] && !slots[1]) {
    return Error(ErrorCode::kDamaged, Quote(file_->path()) + " is damaged");
  }
  const auto generation = [&](size_t i) { return slots[i] ? slots[i]->generation : 0; };
  current_index_ = generation(1) > generation(0) ? 1 : 0;
  current_ = slots[current_index_].value_or(Slot());
  const std::optional<Slot>& other = slots[1 - current_index_];
  if (!current_.synced && other && other->synced) durable_index_ = 1 - current_index_;
  return OkStatus();
}

Status WriterFile::Create(os::FileSystem& file_system, const std::string& directory,
                          const std::string& name, Slot first) {
  os::SweepTemporaries(file_system, directory);
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::TemporaryFile> temporary,
                          os::TemporaryFile::Create(file_system, directory, 0600));
  COFFER_ASSIGN_OR_RETURN(const os::FileStat stat, temporary->file().Stat());
  first.generation = 1;
  first.place.file = stat.inode;
  first.synced = true;
  COFFER_ASSIGN_OR_RETURN(Bytes bytes, EncodeSlot(first));
  bytes.resize(kSlotCount * kSlotSize);
  COFFER_TRY(temporary->file().WriteAt(0, bytes));
  return temporary->Replace(os::JoinPath(directory, name));
}

Status WriterFile::WriteSlot(size_t index, const Slot& slot) {
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, EncodeSlot(slot));
  return file_->WriteAt(index * kSlotSize, bytes);
}

// Puts the current slot on stable storage, unless it or the one before is there for certain.
// Written again, it is dirty again, even if a sync of these pages once failed.
Status WriterFile::Settle() {
  if (durable_index_ || current_.generation == 1) return OkStatus();
  COFFER_TRY(WriteSlot(current_index_, current_));
  COFFER_TRY(file_->Sync());
  durable_index_ = current_index_;
  return OkStatus();
}

Status WriterFile::Advance(Slot next) {
  if (failed_) {
    return Error(ErrorCode::kIo, Quote(file_->path()) + " could not be written: begin anew");
  }
  failed_ = true;
  COFFER_TRY(Settle());
  next.generation = current_.generation + 1;
  const size_t index = 1 - durable_index_.value_or(current_index_);
  COFFER_TRY(WriteSlot(index, next));
  if (next.synced) {
    COFFER_TRY(file_->Sync());
    durable_index_ = index;
  }
  current_ = next;
  current_index_ = index;
  failed_ = false;
  return OkStatus();
}

}  // namespace coffer::local::internal
