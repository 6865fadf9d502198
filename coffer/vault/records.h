// SPDX-License-Identifier: Apache-2.0
// The records of a vault, as structures and as bytes (docs/format/vault.md, "Records", "Segments",
// "State"). Decoding is strict: what decodes encodes to the same bytes again, except for ignorable
// keys of a record itself. It trusts nothing: sizes are bounded by the bytes at hand, and nothing
// of a record counts before its MAC was right.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coffer/age/keys.h"
#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/crypto/coffer_kem.h"
#include "coffer/vault/entry.h"
#include "coffer/vault/key_file.h"

namespace coffer::vault {

struct MacKeyRole;
using MacKey = SecretArray<32, MacKeyRole>;

inline constexpr uint64_t kOwnerCapability = 0;
inline constexpr uint64_t kMaxRecordBodySize = uint64_t{1} << 30;

// The keys of MACs (docs/format/vault.md): of coffer-vault, of a writer's commits and indexes, and
// of checkpoints.
Result<MacKey> VaultMacKey(const crypto::CofferSeed& seed, const VaultId& vault);
Result<MacKey> WriterMacKey(const crypto::CofferSeed& seed, const VaultId& vault,
                            const WriterId& writer, uint64_t capability);
Result<MacKey> CheckpointMacKey(const crypto::CofferSeed& seed, const VaultId& vault);

// What it takes to read an object without decapsulating.
struct KnownObject {
  Id id{};
  uint64_t header_size = 0;
  age::FileKey file_key;
};

struct KnownSegment {
  Id id{};
  uint64_t object_size = 0;
  uint64_t header_size = 0;
  age::FileKey file_key;
};

struct WriterSeq {
  WriterId writer{};
  uint64_t seq = 0;

  auto operator<=>(const WriterSeq&) const = default;
};

struct Removal {
  std::string path;
  std::vector<VersionRef> versions;
};

struct Pin {
  Id commit{};
  bool pinned = true;
};

struct Commit {
  VaultId vault{};
  WriterId writer{};
  uint64_t capability = kOwnerCapability;
  uint64_t seq = 1;
  std::optional<Id> previous;
  FileTime time;
  FileTime scan_started;
  std::vector<WriterSeq> vector;       // of the other writers; ascending
  std::vector<KnownObject> known;      // commits that no checkpoint covered; ascending by id
  std::vector<Id> referred_commits;    // ascending
  std::vector<KnownSegment> segments;  // ascending by id
  std::vector<Entry> entries;          // ascending by path, no path twice
  std::vector<Removal> removals;       // ascending by path, no path twice
  std::vector<Pin> pins;
  std::optional<FileTime> horizon;
  std::optional<std::string> remark;  // UTF-8
};

struct CoveredCommit {
  Id id{};
  WriterId writer{};
  uint64_t seq = 0;
  FileTime time;
  FileTime scan_started;
  uint64_t header_size = 0;
  age::FileKey file_key;
};

struct CheckpointEntry {
  VersionRef version;  // commit is an index into Checkpoint::covered
  Entry entry;
};

struct PinState {
  Pin pin;
  FileTime time;
  Id by{};  // the commit that says so
};

struct Checkpoint {
  VaultId vault{};
  uint64_t level = 0;
  FileTime time;
  std::vector<CoveredCommit> covered;  // ascending by id
  std::vector<WriterSeq> vector;       // ascending
  std::vector<KnownSegment> segments;  // ascending by id
  std::vector<Id> referred_commits;    // ascending
  std::vector<CheckpointEntry> entries;
  std::vector<VersionRef> tombstones;  // ascending
  std::vector<PinState> pins;
  std::optional<FileTime> horizon;
  std::vector<KnownObject> bases;
};

struct IndexedBlob {
  uint64_t offset = 0;
  uint64_t stored_size = 0;
  uint64_t size = 0;
  uint64_t codec = 0;
  Id hash{};
};

struct SegmentIndex {
  VaultId vault{};
  WriterId writer{};
  uint64_t capability = kOwnerCapability;
  std::vector<IndexedBlob> blobs;
};

inline constexpr size_t kSegmentTrailerSize = 24;

// Whole records: magic, size, body and MAC, without the zeros that pad them. COFFER_CHECK holds
// callers to the orders that the format asks for.
Result<SecretBuffer> EncodeCommit(const Commit& commit, const crypto::CofferSeed& seed);
Result<SecretBuffer> EncodeCheckpoint(const Checkpoint& checkpoint, const crypto::CofferSeed& seed);

// The other way, from a whole plaintext with its zeros, for the vault `vault`. kDamaged for what no
// writer writes, kNeedsNewer for what only a newer coffer understands, kForged for a wrong MAC or
// another vault's record.
Result<Commit> DecodeCommit(ByteSpan plaintext, const crypto::CofferSeed& seed,
                            const VaultId& vault);
Result<Checkpoint> DecodeCheckpoint(ByteSpan plaintext, const crypto::CofferSeed& seed,
                                    const VaultId& vault);

// The index of a segment, with its MAC; and the trailer for an index of that place.
Result<Bytes> EncodeSegmentIndex(const SegmentIndex& index, const crypto::CofferSeed& seed);
Result<SegmentIndex> DecodeSegmentIndex(ByteSpan bytes, const crypto::CofferSeed& seed,
                                        const VaultId& vault);
struct SegmentTrailer {
  uint64_t index_offset = 0;
  uint64_t index_size = 0;
};
std::array<uint8_t, kSegmentTrailerSize> EncodeSegmentTrailer(const SegmentTrailer& trailer);
Result<SegmentTrailer> DecodeSegmentTrailer(ByteSpan bytes);

// The size to which a plaintext of `size` bytes is padded (Padme).
uint64_t PaddedSize(uint64_t size);

}  // namespace coffer::vault
