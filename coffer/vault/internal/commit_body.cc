// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/internal/record_body.h"
#include "coffer/vault/internal/record_rules.h"

namespace coffer::vault::internal {
namespace {

enum Key : uint8_t {
  kVault = 0,
  kWriter = 1,
  kCapability = 2,
  kSeq = 3,
  kPrevious = 4,
  kTime = 5,
  kScanStarted = 6,
  kVector = 7,
  kKnown = 8,
  kReferred = 9,
  kSegments = 10,
  kEntries = 11,
  kRemovals = 12,
  kPins = 13,
  kHorizon = 14,
  kRemark = 15,
};

// The smallest encodings: an entry has five keys; a removal a path and a reference.
constexpr size_t kMinEntrySize = 16;
constexpr size_t kMinRemovalSize = 7;
constexpr size_t kMinPinSize = 36;

void WriteRemovals(const std::vector<Removal>& removals, CborWriter& writer) {
  writer.Array(removals.size());
  for (const Removal& removal : removals) {
    writer.Array(2);
    writer.ByteString(removal.path);
    WriteRefs(removal.versions, writer);
  }
}

void WritePins(const std::vector<Pin>& pins, CborWriter& writer) {
  writer.Array(pins.size());
  for (const Pin& pin : pins) {
    writer.Array(2);
    writer.ByteString(pin.commit);
    writer.Bool(pin.pinned);
  }
}

std::vector<Removal> ReadRemovals(CborReader& reader) {
  std::vector<Removal> removals(reader.Array(kMinRemovalSize));
  for (Removal& removal : removals) {
    reader.ArrayOf(2);
    removal.path = ReadPath(reader);
    removal.versions = ReadRefs(reader);
  }
  return removals;
}

std::vector<Pin> ReadPins(CborReader& reader) {
  std::vector<Pin> pins(reader.Array(kMinPinSize));
  for (Pin& pin : pins) {
    reader.ArrayOf(2);
    reader.ByteStringInto(pin.commit);
    pin.pinned = reader.Bool();
  }
  RequireItems(!pins.empty(), reader);
  return pins;
}

void ReadPlace(uint64_t key, CborReader& reader, Commit& commit) {
  if (key == kVault) reader.ByteStringInto(commit.vault);
  if (key == kWriter) reader.ByteStringInto(commit.writer);
  if (key == kCapability) commit.capability = ReadCapability(reader);
  if (key == kSeq) commit.seq = reader.Uint();
  if (key == kPrevious) reader.ByteStringInto(commit.previous.emplace());
  if (key == kTime) commit.time = ReadTime(reader);
  if (key == kScanStarted) commit.scan_started = ReadTime(reader);
}

void ReadContent(uint64_t key, CborReader& reader, Commit& commit) {
  if (key == kVector) commit.vector = ReadVector(reader);
  if (key == kKnown) commit.known = ReadKnown(reader);
  if (key == kReferred) commit.referred_commits = ReadIds(reader);
  if (key == kSegments) commit.segments = ReadSegments(reader);
  if (key == kRemovals) commit.removals = ReadRemovals(reader);
  if (key == kPins) commit.pins = ReadPins(reader);
  if (key == kHorizon) commit.horizon = ReadTime(reader);
  if (key == kRemark) commit.remark = std::string(reader.Text());
  if (key != kEntries) return;
  commit.entries.resize(reader.Array(kMinEntrySize));
  for (Entry& entry : commit.entries) {
    if (reader.ok()) entry = ReadEntry(reader);
  }
}

}  // namespace

void WriteCommitBody(const Commit& commit, CborWriter& writer) {
  writer.Map(12U + (commit.previous ? 1U : 0U) + (commit.pins.empty() ? 0U : 1U) +
             (commit.horizon ? 1U : 0U) + (commit.remark ? 1U : 0U));
  const auto key = [&](Key number) -> CborWriter& {
    writer.Uint(number);
    return writer;
  };
  key(kVault).ByteString(commit.vault);
  key(kWriter).ByteString(commit.writer);
  key(kCapability).Uint(commit.capability);
  key(kSeq).Uint(commit.seq);
  if (commit.previous) key(kPrevious).ByteString(*commit.previous);
  WriteTime(commit.time, key(kTime));
  WriteTime(commit.scan_started, key(kScanStarted));
  WriteVector(commit.vector, key(kVector));
  WriteKnown(commit.known, key(kKnown));
  WriteIds(commit.referred_commits, key(kReferred));
  WriteSegments(commit.segments, key(kSegments));
  key(kEntries).Array(commit.entries.size());
  for (const Entry& entry : commit.entries) WriteEntry(entry, writer);
  WriteRemovals(commit.removals, key(kRemovals));
  if (!commit.pins.empty()) WritePins(commit.pins, key(kPins));
  if (commit.horizon) WriteTime(*commit.horizon, key(kHorizon));
  if (commit.remark) key(kRemark).Text(*commit.remark);
}

Result<Commit> ReadCommitBody(ByteSpan body) {
  CborReader reader(body);
  Commit commit;
  KeySet keys;
  CborMap map(reader);
  while (const std::optional<uint64_t> key = map.Next()) {
    keys.Add(*key);
    if (*key <= kScanStarted) {
      ReadPlace(*key, reader, commit);
    } else if (*key <= kRemark) {
      ReadContent(*key, reader, commit);
    } else {
      map.Unknown();
    }
  }
  keys.Add(kPrevious);  // the rules say when it must be there
  reader.Require(keys.HasAllUpTo(kRemovals), "a commit lacks a field");
  reader.End();
  COFFER_TRY(reader.status());
  COFFER_TRY(CheckCommit(commit));
  return commit;
}

}  // namespace coffer::vault::internal
