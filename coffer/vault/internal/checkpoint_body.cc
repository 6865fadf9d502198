// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "coffer/vault/internal/record_body.h"
#include "coffer/vault/internal/record_rules.h"

namespace coffer::vault::internal {
namespace {

enum Key : uint8_t {
  kVault = 0,
  kLevel = 1,
  kTime = 2,
  kCovered = 3,
  kVector = 4,
  kSegments = 5,
  kReferred = 6,
  kEntries = 7,
  kTombstones = 8,
  kPins = 9,
  kHorizon = 10,
  kBases = 11,
};

constexpr uint64_t kMaxUint32 = std::numeric_limits<uint32_t>::max();

// The smallest encodings.
constexpr size_t kMinCoveredSize = 1 + 34 + 17 + 1 + 2 + 2 + 1 + 17;
constexpr size_t kMinEntrySize = 19;
constexpr size_t kMinPinSize = 1 + 34 + 1 + 2 + 34;

void WriteCovered(const std::vector<CoveredCommit>& covered, CborWriter& writer) {
  writer.Array(covered.size());
  for (const CoveredCommit& item : covered) {
    writer.Array(9);
    writer.ByteString(item.id);
    writer.ByteString(item.writer);
    writer.Uint(item.seq);
    WriteTimeItems(item.time, writer);
    WriteTimeItems(item.scan_started, writer);
    writer.Uint(item.header_size);
    writer.ByteString(item.file_key.Expose());
  }
}

void WriteEntries(const std::vector<CheckpointEntry>& entries, CborWriter& writer) {
  writer.Array(entries.size());
  for (const CheckpointEntry& item : entries) {
    writer.Array(3);
    writer.Uint(item.version.commit);
    writer.Uint(item.version.index);
    WriteEntry(item.entry, writer);
  }
}

void WritePins(const std::vector<PinState>& pins, CborWriter& writer) {
  writer.Array(pins.size());
  for (const PinState& pin : pins) {
    writer.Array(5);
    writer.ByteString(pin.pin.commit);
    writer.Bool(pin.pin.pinned);
    WriteTimeItems(pin.time, writer);
    writer.ByteString(pin.by);
  }
}

std::vector<CoveredCommit> ReadCovered(CborReader& reader) {
  std::vector<CoveredCommit> covered(reader.Array(kMinCoveredSize));
  for (CoveredCommit& item : covered) {
    reader.ArrayOf(9);
    reader.ByteStringInto(item.id);
    reader.ByteStringInto(item.writer);
    item.seq = reader.Uint();
    item.time = ReadTimeItems(reader);
    item.scan_started = ReadTimeItems(reader);
    item.header_size = reader.Uint();
    ReadFileKey(reader, item.file_key);
  }
  return covered;
}

std::vector<CheckpointEntry> ReadEntries(CborReader& reader) {
  std::vector<CheckpointEntry> entries(reader.Array(kMinEntrySize));
  for (CheckpointEntry& item : entries) {
    if (!reader.ok()) break;
    reader.ArrayOf(3);
    item.version.commit = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
    item.version.index = static_cast<uint32_t>(reader.UintUpTo(kMaxUint32));
    item.entry = ReadEntry(reader);
  }
  return entries;
}

std::vector<PinState> ReadPins(CborReader& reader) {
  std::vector<PinState> pins(reader.Array(kMinPinSize));
  for (PinState& pin : pins) {
    reader.ArrayOf(5);
    reader.ByteStringInto(pin.pin.commit);
    pin.pin.pinned = reader.Bool();
    pin.time = ReadTimeItems(reader);
    reader.ByteStringInto(pin.by);
  }
  RequireItems(!pins.empty(), reader);
  return pins;
}

void ReadField(uint64_t key, CborReader& reader, Checkpoint& checkpoint) {
  if (key == kVault) reader.ByteStringInto(checkpoint.vault);
  if (key == kLevel) checkpoint.level = reader.Uint();
  if (key == kTime) checkpoint.time = ReadTime(reader);
  if (key == kCovered) checkpoint.covered = ReadCovered(reader);
  if (key == kVector) checkpoint.vector = ReadVector(reader);
  if (key == kSegments) checkpoint.segments = ReadSegments(reader);
  if (key == kReferred) checkpoint.referred_commits = ReadIds(reader);
  if (key == kEntries) checkpoint.entries = ReadEntries(reader);
  if (key == kTombstones) checkpoint.tombstones = ReadRefs(reader);
  if (key == kPins) checkpoint.pins = ReadPins(reader);
  if (key == kHorizon) checkpoint.horizon = ReadTime(reader);
  if (key != kBases) return;
  checkpoint.bases = ReadKnown(reader);
  RequireItems(!checkpoint.bases.empty(), reader);
}

}  // namespace

void WriteCheckpointBody(const Checkpoint& checkpoint, CborWriter& writer) {
  writer.Map(9U + (checkpoint.pins.empty() ? 0U : 1U) + (checkpoint.horizon ? 1U : 0U) +
             (checkpoint.bases.empty() ? 0U : 1U));
  const auto key = [&](Key number) -> CborWriter& {
    writer.Uint(number);
    return writer;
  };
  key(kVault).ByteString(checkpoint.vault);
  key(kLevel).Uint(checkpoint.level);
  WriteTime(checkpoint.time, key(kTime));
  WriteCovered(checkpoint.covered, key(kCovered));
  WriteVector(checkpoint.vector, key(kVector));
  WriteSegments(checkpoint.segments, key(kSegments));
  WriteIds(checkpoint.referred_commits, key(kReferred));
  WriteEntries(checkpoint.entries, key(kEntries));
  WriteRefs(checkpoint.tombstones, key(kTombstones));
  if (!checkpoint.pins.empty()) WritePins(checkpoint.pins, key(kPins));
  if (checkpoint.horizon) WriteTime(*checkpoint.horizon, key(kHorizon));
  if (!checkpoint.bases.empty()) WriteKnown(checkpoint.bases, key(kBases));
}

Result<Checkpoint> ReadCheckpointBody(ByteSpan body) {
  CborReader reader(body);
  Checkpoint checkpoint;
  KeySet keys;
  CborMap map(reader);
  while (const std::optional<uint64_t> key = map.Next()) {
    keys.Add(*key);
    if (*key <= kBases) {
      ReadField(*key, reader, checkpoint);
    } else {
      map.Unknown();
    }
  }
  reader.Require(keys.HasAllUpTo(kTombstones), "a checkpoint lacks a field");
  reader.End();
  COFFER_TRY(reader.status());
  COFFER_TRY(CheckCheckpoint(checkpoint));
  return checkpoint;
}

}  // namespace coffer::vault::internal
