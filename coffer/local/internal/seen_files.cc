// SPDX-License-Identifier: Apache-2.0
#include "coffer/local/internal/seen_files.h"

#include <algorithm>
#include <array>
#include <map>

#include "coffer/base/quote.h"
#include "coffer/crypto/sha2.h"
#include "coffer/local/internal/fields.h"
#include "coffer/os/temporary_file.h"

namespace coffer::local::internal {
namespace {

using vault::Absence;
using vault::FirstNoticed;
using vault::SeenCommit;

constexpr std::string_view kMagic = "coffer seen1\r\n\x1a\n";
constexpr size_t kChecksumSize = 32;
// 280,000 writers, or absences.
constexpr uint64_t kFileBound = uint64_t{16} << 20;
constexpr std::array<const char*, 2> kNames = {"seen-0", "seen-1"};

static_assert(kMagic.size() == 16);

Error Damaged() { return {ErrorCode::kDamaged, "what was seen of the vault is damaged"}; }

bool TakeCommit(ByteReader& reader, SeenCommit& commit) {
  return TakeArray(reader, commit.writer) && TakeInteger(reader, commit.seq) &&
         TakeArray(reader, commit.id);
}

bool TakeAbsence(ByteReader& reader, FirstNoticed& noticed) {
  uint64_t seconds = 0;
  if (!TakeArray(reader, noticed.absence.id) || !TakeArray(reader, noticed.absence.writer) ||
      !TakeInteger(reader, noticed.absence.seq) || !TakeInteger(reader, seconds) ||
      !TakeInteger(reader, noticed.when.nanoseconds)) {
    return false;
  }
  noticed.when.seconds = static_cast<int64_t>(seconds);
  return noticed.when.nanoseconds < 1'000'000'000;
}

Result<Bytes> ReadBounded(os::FileSystem& file_system, const std::string& path) {
  os::OpenOptions options;
  options.follow_symlink = false;
  options.wait_for_peer = false;
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::File> file, file_system.Open(path, options));
  COFFER_ASSIGN_OR_RETURN(const os::FileStat stat, file->Stat());
  if (stat.kind != os::FileKind::kRegular || stat.size > kFileBound) return Damaged();
  Bytes bytes(static_cast<size_t>(stat.size));
  COFFER_ASSIGN_OR_RETURN(const size_t size, file->ReadAt(0, bytes));
  bytes.resize(size);
  return bytes;
}

}  // namespace

bool MergeCommits(SeenState& state, std::span<const SeenCommit> commits) {
  bool changed = false;
  for (const SeenCommit& commit : commits) {
    const auto at = std::ranges::lower_bound(state.commits, commit.writer, {}, &SeenCommit::writer);
    if (at == state.commits.end() || at->writer != commit.writer) {
      state.commits.insert(at, commit);
    } else if (at->seq < commit.seq) {
      *at = commit;
    } else {
      continue;
    }
    changed = true;
  }
  return changed;
}

bool SetAbsences(SeenState& state, std::span<const FirstNoticed> now) {
  std::map<Absence, vault::FileTime> known;
  for (const FirstNoticed& noticed : state.absences) known[noticed.absence] = noticed.when;
  std::map<Absence, vault::FileTime> next;
  for (const FirstNoticed& noticed : now) {
    const auto found = known.find(noticed.absence);
    next[noticed.absence] = found != known.end() ? found->second : noticed.when;
  }
  state.absences.clear();
  for (const auto& [absence, when] : next) state.absences.push_back({absence, when});
  return next != known;
}

Result<Bytes> EncodeSeen(const SeenState& state) {
  if (state.commits.size() > UINT32_MAX || state.absences.size() > UINT32_MAX) {
    return Error(ErrorCode::kTooLarge, "more was seen of the vault than can be kept");
  }
  Bytes out;
  Append(out, AsBytes(kMagic));
  AppendInteger(out, state.generation);
  AppendInteger(out, static_cast<uint32_t>(state.commits.size()));
  AppendInteger(out, static_cast<uint32_t>(state.absences.size()));
  for (const SeenCommit& commit : state.commits) {
    Append(out, commit.writer);
    AppendInteger(out, commit.seq);
    Append(out, commit.id);
  }
  for (const FirstNoticed& noticed : state.absences) {
    Append(out, noticed.absence.id);
    Append(out, noticed.absence.writer);
    AppendInteger(out, noticed.absence.seq);
    AppendInteger(out, static_cast<uint64_t>(noticed.when.seconds));
    AppendInteger(out, noticed.when.nanoseconds);
  }
  COFFER_ASSIGN_OR_RETURN(const auto checksum, crypto::Sha256(out));
  Append(out, checksum);
  if (out.size() > kFileBound) {
    return Error(ErrorCode::kTooLarge, "more was seen of the vault than can be kept");
  }
  return out;
}

Result<SeenState> DecodeSeen(ByteSpan bytes) {
  if (bytes.size() < kMagic.size() + kChecksumSize) return Damaged();
  const ByteSpan content = bytes.first(bytes.size() - kChecksumSize);
  COFFER_ASSIGN_OR_RETURN(const auto checksum, crypto::Sha256(content));
  if (!std::ranges::equal(checksum, bytes.last(kChecksumSize))) return Damaged();
  ByteReader reader(content);
  const std::optional<ByteSpan> magic = reader.Take(kMagic.size());
  if (!magic || AsText(*magic) != kMagic) return Damaged();
  SeenState state;
  uint32_t commit_count = 0;
  uint32_t absence_count = 0;
  if (!TakeInteger(reader, state.generation) || !TakeInteger(reader, commit_count) ||
      !TakeInteger(reader, absence_count)) {
    return Damaged();
  }
  // Each item takes bytes, so that the counts allocate nothing by themselves.
  for (uint32_t i = 0; i < commit_count; ++i) {
    SeenCommit commit;
    if (!TakeCommit(reader, commit)) return Damaged();
    if (i > 0 && !(state.commits.back().writer < commit.writer)) return Damaged();
    state.commits.push_back(commit);
  }
  for (uint32_t i = 0; i < absence_count; ++i) {
    FirstNoticed noticed;
    if (!TakeAbsence(reader, noticed)) return Damaged();
    state.absences.push_back(noticed);
  }
  if (!reader.empty() || state.generation == 0) return Damaged();
  return state;
}

Result<LoadedSeen> LoadSeen(os::FileSystem& file_system, const std::string& directory) {
  LoadedSeen loaded;
  bool whole = false;
  for (const char* name : kNames) {
    const Result<Bytes> bytes = ReadBounded(file_system, os::JoinPath(directory, name));
    if (!bytes.ok() && bytes.error().code() == ErrorCode::kNotFound) continue;
    Result<SeenState> state = bytes.ok() ? DecodeSeen(*bytes) : Result<SeenState>(bytes.error());
    if (!state.ok() && state.error().code() != ErrorCode::kDamaged) return state.error();
    loaded.damaged = loaded.damaged || !state.ok();
    if (!state.ok()) continue;
    whole = true;
    if (state->generation > loaded.state.generation) loaded.state = std::move(state).value();
  }
  loaded.damaged = loaded.damaged && !whole;
  return loaded;
}

Status StoreSeen(os::FileSystem& file_system, const std::string& directory, SeenState& state) {
  ++state.generation;
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, EncodeSeen(state));
  os::SweepTemporaries(file_system, directory);
  COFFER_ASSIGN_OR_RETURN(const std::unique_ptr<os::TemporaryFile> temporary,
                          os::TemporaryFile::Create(file_system, directory, 0600));
  COFFER_TRY(temporary->file().WriteAt(0, bytes));
  return temporary->Replace(os::JoinPath(directory, kNames[state.generation % kNames.size()]));
}

}  // namespace coffer::local::internal
