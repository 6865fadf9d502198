// SPDX-License-Identifier: Apache-2.0
// Whole records: framing and MACs. The bodies are in internal/.
#include "coffer/vault/records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/hmac.h"
#include "coffer/vault/internal/record_body.h"
#include "coffer/vault/internal/record_frame.h"
#include "coffer/vault/internal/record_rules.h"

namespace coffer::vault {
namespace {

constexpr std::string_view kCommitMagic = "cofcomm1";
constexpr std::string_view kCheckpointMagic = "cofchkp1";
constexpr size_t kFrontSize = 16;

struct Frame {
  ByteSpan authenticated;  // all before the MAC
  ByteSpan body;
  ByteSpan mac;
};

Result<Frame> ParseFrame(ByteSpan plaintext, std::string_view magic) {
  const auto damaged = [](std::string_view what) {
    return Error(ErrorCode::kDamaged, std::string(what));
  };
  if (plaintext.size() < kFrontSize + internal::kMacSize) return damaged("a record is cut off");
  if (!std::ranges::equal(plaintext.first(magic.size()), AsBytes(magic))) {
    return damaged("a record does not start as one");
  }
  const auto body_size = LoadBigEndian<uint64_t>(plaintext.subspan<8, 8>());
  if (body_size > kMaxRecordBodySize ||
      body_size > plaintext.size() - kFrontSize - internal::kMacSize) {
    return damaged("a record is cut off");
  }
  const size_t end = kFrontSize + body_size;
  if (!ct::IsAllZero(plaintext.subspan(end + internal::kMacSize))) {
    return damaged("there is more than zeros behind a record");
  }
  return Frame{.authenticated = plaintext.first(end),
               .body = plaintext.subspan(kFrontSize, body_size),
               .mac = plaintext.subspan(end, internal::kMacSize)};
}

// A frame whose body `write_body` writes, up to the MAC. Bodies of many megabytes are usual: the
// size is found first, so that memory never holds two of it.
template <class WriteBody>
CborWriter BeginFrame(std::string_view magic, const WriteBody& write_body) {
  CborWriter counter = CborWriter::Counter();
  write_body(counter);
  CborWriter writer;
  writer.Reserve(kFrontSize + counter.size() + internal::kMacSize);
  writer.Raw(AsBytes(magic));
  writer.Raw(std::array<uint8_t, 8>{});
  write_body(writer);
  return writer;
}

Result<SecretBuffer> FinishFrame(const MacKey& key, CborWriter& writer) {
  SecretBuffer& buffer = writer.buffer();
  const uint64_t body_size = buffer.size() - kFrontSize;
  if (body_size > kMaxRecordBodySize) {
    return Error(ErrorCode::kTooLarge, "a record of more than 1 GiB; add less at a time");
  }
  StoreBigEndian<uint64_t>(body_size, buffer.ExposeMutable().subspan<8, 8>());
  COFFER_TRY(internal::AppendMac(key, buffer));
  return std::move(buffer);
}

Status CheckVault(CborReader& reader, const VaultId& vault) {
  VaultId found{};
  reader.Map();
  reader.Require(reader.Uint() == 0, "a record does not name its vault");
  reader.ByteStringInto(found);
  COFFER_TRY(reader.status());
  if (found != vault) return Error(ErrorCode::kForged, "a record of another vault");
  return OkStatus();
}

}  // namespace

namespace internal {

Status AppendMac(const MacKey& key, SecretBuffer& bytes) {
  COFFER_ASSIGN_OR_RETURN(crypto::HmacSha256 hmac, crypto::HmacSha256::Create(key.Expose()));
  std::array<uint8_t, kMacSize> mac;
  COFFER_TRY(hmac.Update(bytes.Expose()));
  COFFER_TRY(hmac.Finish(mac));
  bytes.Append(mac);
  return OkStatus();
}

Status VerifyMac(const MacKey& key, ByteSpan bytes, ByteSpan mac) {
  COFFER_ASSIGN_OR_RETURN(crypto::HmacSha256 hmac, crypto::HmacSha256::Create(key.Expose()));
  std::array<uint8_t, kMacSize> expected;
  COFFER_TRY(hmac.Update(bytes));
  COFFER_TRY(hmac.Finish(expected));
  const bool right = ct::Equal(expected, mac);
  SecureWipe(expected);  // it would authenticate what an attacker wrote
  if (!right) return Error(ErrorCode::kForged, "no writer of this vault wrote this record");
  return OkStatus();
}

Result<MacKey> KeyOfWriter(ByteSpan body, const crypto::CofferSeed& seed, const VaultId& vault) {
  CborReader reader(body);
  COFFER_TRY(CheckVault(reader, vault));
  WriterId writer{};
  reader.Require(reader.Uint() == 1, "a record does not name its writer");
  reader.ByteStringInto(writer);
  reader.Require(reader.Uint() == 2, "a record does not name its capability");
  const uint64_t capability = reader.UintUpTo(0xff);
  COFFER_TRY(reader.status());
  return WriterMacKey(seed, vault, writer, capability);
}

}  // namespace internal

Result<SecretBuffer> EncodeCommit(const Commit& commit, const crypto::CofferSeed& seed) {
  COFFER_CHECK(internal::CheckCommit(commit).ok());
  CborWriter writer =
      BeginFrame(kCommitMagic, [&](CborWriter& out) { internal::WriteCommitBody(commit, out); });
  COFFER_ASSIGN_OR_RETURN(const MacKey key,
                          WriterMacKey(seed, commit.vault, commit.writer, commit.capability));
  return FinishFrame(key, writer);
}

Result<SecretBuffer> EncodeCheckpoint(const Checkpoint& checkpoint,
                                      const crypto::CofferSeed& seed) {
  COFFER_CHECK(internal::CheckCheckpoint(checkpoint).ok());
  CborWriter writer = BeginFrame(
      kCheckpointMagic, [&](CborWriter& out) { internal::WriteCheckpointBody(checkpoint, out); });
  COFFER_ASSIGN_OR_RETURN(const MacKey key, CheckpointMacKey(seed, checkpoint.vault));
  return FinishFrame(key, writer);
}

Result<Commit> DecodeCommit(ByteSpan plaintext, const crypto::CofferSeed& seed,
                            const VaultId& vault) {
  COFFER_ASSIGN_OR_RETURN(const Frame frame, ParseFrame(plaintext, kCommitMagic));
  COFFER_ASSIGN_OR_RETURN(const MacKey key, internal::KeyOfWriter(frame.body, seed, vault));
  COFFER_TRY(internal::VerifyMac(key, frame.authenticated, frame.mac));
  return internal::ReadCommitBody(frame.body);
}

Result<Checkpoint> DecodeCheckpoint(ByteSpan plaintext, const crypto::CofferSeed& seed,
                                    const VaultId& vault) {
  COFFER_ASSIGN_OR_RETURN(const Frame frame, ParseFrame(plaintext, kCheckpointMagic));
  CborReader reader(frame.body);
  COFFER_TRY(CheckVault(reader, vault));
  COFFER_ASSIGN_OR_RETURN(const MacKey key, CheckpointMacKey(seed, vault));
  COFFER_TRY(internal::VerifyMac(key, frame.authenticated, frame.mac));
  return internal::ReadCheckpointBody(frame.body);
}

uint64_t PaddedSize(uint64_t size) {
  if (size < 2) return size;
  const auto e = static_cast<uint64_t>(std::bit_width(size)) - 1;
  const uint64_t s = static_cast<uint64_t>(std::bit_width(e));
  if (e <= s) return size;
  const uint64_t mask = (uint64_t{1} << (e - s)) - 1;
  return (size + mask) & ~mask;
}

}  // namespace coffer::vault
