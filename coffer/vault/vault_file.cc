// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/vault_file.h"

#include <algorithm>
#include <array>
#include <string>

#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/crypto/hmac.h"
#include "coffer/crypto/sha2.h"
#include "coffer/vault/records.h"

namespace coffer::vault {
namespace {

constexpr std::string_view kMagic = "coffer vault1\r\n\x1a";
static_assert(kMagic.size() == 16);
constexpr uint16_t kVersion = 1;
constexpr uint16_t kFlags = 0;
constexpr size_t kVersionOffset = 16;
constexpr size_t kFlagsOffset = 18;
constexpr size_t kIdOffset = 20;
constexpr size_t kEkOffset = 36;
constexpr size_t kChecksumOffset = kEkOffset + crypto::kCofferEncapsulationKeySize;
constexpr size_t kMacOffset = kChecksumOffset + 32;
static_assert(kMacOffset + 32 == kVaultFileSize);

Error Damaged(const char* message) { return Error(ErrorCode::kDamaged, message); }

Error NeedsNewer(const char* what) {
  return Error(ErrorCode::kNeedsNewer,
               "the vault " + std::string(what) + " that needs a newer coffer");
}

Error Forged(const char* what) {
  return Error(ErrorCode::kForged,
               "the recipient in coffer-vault was changed: " + std::string(what) +
                   "; someone else could read what is added, so nothing was written");
}

Result<std::array<uint8_t, 32>> ComputeMac(ByteSpan covered, const crypto::CofferSeed& seed,
                                           const VaultId& id) {
  COFFER_ASSIGN_OR_RETURN(const MacKey key, VaultMacKey(seed, id));
  COFFER_ASSIGN_OR_RETURN(crypto::HmacSha256 hmac, crypto::HmacSha256::Create(key.Expose()));
  COFFER_TRY(hmac.Update(covered));
  std::array<uint8_t, 32> mac;
  COFFER_TRY(hmac.Finish(mac));
  return mac;
}

void AppendU16(Bytes& out, uint16_t number) {
  std::array<uint8_t, 2> bytes;
  StoreBigEndian(number, bytes);
  Append(out, bytes);
}

}  // namespace

Result<VaultFile> VaultFile::FromSeed(const crypto::CofferSeed& seed, const VaultId& id) {
  COFFER_ASSIGN_OR_RETURN(const crypto::CofferDecapsulationKey key,
                          crypto::CofferDecapsulationKey::FromSeed(seed));
  return VaultFile{.id = id, .ek = key.encapsulation_key().bytes()};
}

Result<Bytes> EncodeVaultFile(const VaultFile& file, const crypto::CofferSeed& seed) {
  COFFER_CHECK(file.ek.size() == crypto::kCofferEncapsulationKeySize);
  Bytes out;
  out.reserve(kVaultFileSize);
  Append(out, AsBytes(kMagic));
  AppendU16(out, kVersion);
  AppendU16(out, kFlags);
  Append(out, file.id);
  Append(out, file.ek);
  COFFER_ASSIGN_OR_RETURN(const auto checksum, crypto::Sha256(out));
  Append(out, checksum);
  COFFER_ASSIGN_OR_RETURN(const auto mac, ComputeMac(out, seed, file.id));
  Append(out, mac);
  COFFER_CHECK(out.size() == kVaultFileSize);
  return out;
}

Result<VaultFile> ParseVaultFile(ByteSpan bytes) {
  if (!std::ranges::equal(bytes.first(std::min(bytes.size(), kMagic.size())), AsBytes(kMagic))) {
    return Damaged("this is not a vault, or the start of coffer-vault is damaged");
  }
  if (bytes.size() < kFlagsOffset + 2) return Damaged("coffer-vault is cut off");
  // What a later version looks like behind these two is not for this one to say.
  if (LoadBigEndian<uint16_t>(bytes.subspan<kVersionOffset, 2>()) != kVersion) {
    return NeedsNewer("is of a version");
  }
  if (LoadBigEndian<uint16_t>(bytes.subspan<kFlagsOffset, 2>()) != kFlags) {
    return NeedsNewer("uses a feature");
  }
  if (bytes.size() < kVaultFileSize) return Damaged("coffer-vault is cut off");
  if (bytes.size() > kVaultFileSize) return Damaged("coffer-vault is longer than it was written");
  COFFER_ASSIGN_OR_RETURN(const auto checksum, crypto::Sha256(bytes.first(kChecksumOffset)));
  if (!std::ranges::equal(checksum, bytes.subspan(kChecksumOffset, checksum.size()))) {
    return Damaged("coffer-vault is damaged: its checksum does not match");
  }
  VaultFile file;
  std::ranges::copy(bytes.subspan(kIdOffset, file.id.size()), file.id.begin());
  Append(file.ek, bytes.subspan(kEkOffset, crypto::kCofferEncapsulationKeySize));
  return file;
}

Result<VaultFile> VerifyVaultFile(ByteSpan bytes, const crypto::CofferSeed& seed,
                                  const VaultId& expected_id) {
  COFFER_ASSIGN_OR_RETURN(VaultFile file, ParseVaultFile(bytes));
  if (file.id != expected_id) return Forged("it is that of another vault than the key file's");
  COFFER_ASSIGN_OR_RETURN(const auto mac, ComputeMac(bytes.first(kMacOffset), seed, file.id));
  if (!ct::Equal(mac, bytes.subspan(kMacOffset))) return Forged("its authentication code is wrong");
  COFFER_ASSIGN_OR_RETURN(const VaultFile expected, VaultFile::FromSeed(seed, file.id));
  if (!ct::Equal(expected.ek, file.ek)) return Forged("it does not belong to the vault's key");
  return file;
}

}  // namespace coffer::vault
