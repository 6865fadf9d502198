// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/key_file.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <vector>

#include "coffer/base/check.h"
#include "coffer/base/ct.h"
#include "coffer/base/endian.h"
#include "coffer/base/hex.h"
#include "coffer/crypto/chacha20_poly1305.h"
#include "coffer/crypto/hkdf.h"
#include "coffer/crypto/sha2.h"

namespace coffer::vault {
namespace {

using crypto::Argon2idJob;
using crypto::Argon2idParameters;
using crypto::ChaCha20Poly1305;
using crypto::CofferSeed;

constexpr std::string_view kMagic = "coffer key v1\r\n\x1a";
static_assert(kMagic.size() == 16);
constexpr uint16_t kVersion = 1;
constexpr uint16_t kFlags = 0;
constexpr uint8_t kArgon2id = 1;
constexpr std::string_view kSlotLabel = "coffer/slot/v1";

constexpr size_t kVersionOffset = 16;
constexpr size_t kFlagsOffset = 18;
constexpr size_t kChecksumSize = 32;
constexpr size_t kParameterBytes = 8;
constexpr size_t kNameLimit = 64;

struct TagRole;
struct SlotKeyRole;
struct StreamRole;
using Tag = SecretArray<32, TagRole>;
using SlotKey = SecretArray<32, SlotKeyRole>;

Error Damaged(const char* message) { return Error(ErrorCode::kDamaged, message); }
Error NeedsNewer(const char* what) {
  return Error(ErrorCode::kNeedsNewer,
               std::string("the key file ") + what + " that needs a newer coffer");
}

template <std::unsigned_integral T>
void AppendNumber(Bytes& out, T number) {
  std::array<uint8_t, sizeof(T)> bytes;
  StoreBigEndian(number, bytes);
  Append(out, bytes);
}

template <std::unsigned_integral T>
T TakeNumber(ByteReader& reader) {
  const std::optional<ByteSpan> bytes = reader.Take(sizeof(T));
  COFFER_CHECK(bytes.has_value());
  return LoadBigEndian<T>(bytes->first<sizeof(T)>());
}

template <size_t N>
void TakeArray(ByteReader& reader, std::array<uint8_t, N>& out) {
  const std::optional<ByteSpan> bytes = reader.Take(N);
  COFFER_CHECK(bytes.has_value());
  std::ranges::copy(*bytes, out.begin());
}

// kdf, lanes, passes and memory, as they stand in the file and in what a slot's key depends on.
Bytes EncodeParameters(const Argon2idParameters& parameters) {
  Bytes bytes = {kArgon2id, static_cast<uint8_t>(parameters.lanes)};
  AppendNumber(bytes, static_cast<uint16_t>(parameters.passes));
  AppendNumber(bytes, parameters.memory_kib);
  COFFER_CHECK(bytes.size() == kParameterBytes);
  return bytes;
}

std::string Describe(const Argon2idParameters& parameters) {
  return std::to_string(parameters.memory_kib) + " KiB of memory, " +
         std::to_string(parameters.passes) + " passes and " + std::to_string(parameters.lanes) +
         " lanes";
}

bool AnyAbove(const Argon2idParameters& a, const Argon2idParameters& b) {
  return a.memory_kib > b.memory_kib || a.passes > b.passes || a.lanes > b.lanes;
}

Status CheckCosts(const Argon2idParameters& parameters, const KeyFilePolicy& policy) {
  if (AnyAbove(parameters, policy.ceiling)) {
    return Error(ErrorCode::kTooLarge, "the key file asks for " + Describe(parameters) +
                                           ", and at most " + Describe(policy.ceiling) +
                                           " are allowed");
  }
  if (AnyAbove(policy.floor, parameters)) {
    return Error(ErrorCode::kInvalidArgument, "the key file asks for " + Describe(parameters) +
                                                  ", and at least " + Describe(policy.floor) +
                                                  " are needed to be safe");
  }
  return OkStatus();
}

Status CheckHeader(ByteSpan bytes) {
  if (!std::ranges::equal(bytes.first(std::min(bytes.size(), kMagic.size())), AsBytes(kMagic))) {
    return Damaged("this is not a key file, or its start is damaged");
  }
  if (bytes.size() < kFlagsOffset + 2) return Damaged("the key file is cut off");
  // What a later version looks like behind these two is not for this one to say.
  if (LoadBigEndian<uint16_t>(bytes.subspan<kVersionOffset, 2>()) != kVersion) {
    return NeedsNewer("is of a version");
  }
  if (LoadBigEndian<uint16_t>(bytes.subspan<kFlagsOffset, 2>()) != kFlags) {
    return NeedsNewer("uses a feature");
  }
  if (bytes.size() < kKeyFileSize) return Damaged("the key file is cut off");
  if (bytes.size() > kKeyFileSize) return Damaged("the key file is longer than it was written");
  return OkStatus();
}

Status CheckChecksum(ByteSpan bytes) {
  COFFER_ASSIGN_OR_RETURN(const auto digest,
                          crypto::Sha256(bytes.first(bytes.size() - kChecksumSize)));
  if (!std::ranges::equal(digest, bytes.last(kChecksumSize))) {
    return Damaged("the key file is damaged: its checksum does not match");
  }
  return OkStatus();
}

// What a slot's key opens: the seed, and 0xff if it is one. Neither is known to be good or bad
// before the caller has chosen.
struct Candidate {
  CofferSeed seed;
  uint8_t good = 0;
};

// Opens a slot by sealing alone, which has no branch on whether the tag is right: the seal of zeros
// is the key stream; what that gives is sealed again and compared. Seals under this key never leave
// this function, so its one nonce may be used twice.
Result<Candidate> Open(const SlotKey& key, std::span<const uint8_t, 48> sealed) {
  constexpr std::array<uint8_t, ChaCha20Poly1305::kNonceSize> kZeroNonce{};
  COFFER_ASSIGN_OR_RETURN(ChaCha20Poly1305 aead, ChaCha20Poly1305::Create(key.Expose()));
  const CofferSeed zeros;
  SecretArray<48, StreamRole> stream;
  COFFER_TRY(aead.Seal(kZeroNonce, {}, zeros.Expose(), stream.ExposeMutable()));
  Candidate candidate;
  for (size_t i = 0; i < CofferSeed::kSize; ++i) {
    candidate.seed.ExposeMutable()[i] = stream.Expose()[i] ^ sealed[i];
  }
  SecretArray<48, StreamRole> again;
  COFFER_TRY(aead.Seal(kZeroNonce, {}, candidate.seed.Expose(), again.ExposeMutable()));
  candidate.good = ct::EqualMask(again.Expose(), sealed);
  return candidate;
}

Status Seal(const SlotKey& key, const CofferSeed& seed, std::span<uint8_t, 48> sealed) {
  constexpr std::array<uint8_t, ChaCha20Poly1305::kNonceSize> kZeroNonce{};
  COFFER_ASSIGN_OR_RETURN(ChaCha20Poly1305 aead, ChaCha20Poly1305::Create(key.Expose()));
  return aead.Seal(kZeroNonce, {}, seed.Expose(), sealed);
}

Status RefuseEmpty(const SecretBuffer& secret) {
  if (!secret.empty()) return OkStatus();
  return Error(ErrorCode::kInvalidArgument, "a passphrase must not be empty");
}

Error OpensBoth() {
  return Error(ErrorCode::kInvalidArgument,
               "this passphrase opens the other slot of the key file already; choose another one");
}

}  // namespace

// A slot, and the secret that is tried on it.
struct KeyFile::SlotAccess {
  const Slot& slot;
  size_t index;
  const SecretBuffer& secret;

  // The keys of several slots, all computed at the same time.
  static Result<std::vector<SlotKey>> DeriveKeys(const VaultId& vault_id,
                                                 std::span<const SlotAccess> accesses,
                                                 const KeyFilePolicy& policy) {
    std::vector<Tag> tags(accesses.size());
    std::vector<Argon2idJob> jobs;
    jobs.reserve(accesses.size());
    for (size_t i = 0; i < accesses.size(); ++i) {
      jobs.push_back({.parameters = accesses[i].slot.parameters,
                      .input = {accesses[i].secret.Expose(), accesses[i].slot.salt},
                      .tag = tags[i].ExposeMutable()});
    }
    COFFER_TRY(policy.hash(jobs));
    std::vector<SlotKey> keys(accesses.size());
    for (size_t i = 0; i < accesses.size(); ++i) {
      Bytes info(kSlotLabel.begin(), kSlotLabel.end());
      info.push_back(static_cast<uint8_t>(accesses[i].index));
      Append(info, EncodeParameters(accesses[i].slot.parameters));
      Append(info, vault_id);
      COFFER_TRY(crypto::HkdfSha256({.ikm = tags[i].Expose(), .salt = {}, .info = info},
                                    keys[i].ExposeMutable()));
    }
    return keys;
  }
};

Result<KeyFile> KeyFile::Create(const Contents& contents, os::Random& random,
                                const KeyFilePolicy& policy) {
  COFFER_TRY(RefuseEmpty(contents.passphrase));
  KeyFile file;
  file.vault_id_ = contents.vault_id;
  for (Slot& slot : file.slots_) {
    slot.parameters = policy.written;
    random.Fill(slot.salt);
  }
  std::vector<SlotAccess> accesses = {{file.slots_[0], 0, contents.passphrase}};
  if (contents.second_secret != nullptr) {
    COFFER_TRY(RefuseEmpty(*contents.second_secret));
    if (ct::Equal(contents.passphrase.Expose(), contents.second_secret->Expose())) {
      return OpensBoth();
    }
    accesses.push_back({file.slots_[1], 1, *contents.second_secret});
  } else {
    random.Fill(file.slots_[1].sealed);
  }
  COFFER_ASSIGN_OR_RETURN(const std::vector<SlotKey> keys,
                          SlotAccess::DeriveKeys(file.vault_id_, accesses, policy));
  for (size_t i = 0; i < keys.size(); ++i) {
    COFFER_TRY(Seal(keys[i], contents.seed, file.slots_[i].sealed));
  }
  return file;
}

Result<KeyFile> KeyFile::Parse(ByteSpan bytes, const KeyFilePolicy& policy) {
  COFFER_TRY(CheckHeader(bytes));
  COFFER_TRY(CheckChecksum(bytes));
  ByteReader reader(bytes.subspan(kFlagsOffset + 2));
  KeyFile file;
  TakeArray(reader, file.vault_id_);
  for (Slot& slot : file.slots_) {
    if (TakeNumber<uint8_t>(reader) != kArgon2id) return NeedsNewer("has a password hash");
    slot.parameters.lanes = TakeNumber<uint8_t>(reader);
    slot.parameters.passes = TakeNumber<uint16_t>(reader);
    slot.parameters.memory_kib = TakeNumber<uint32_t>(reader);
    TakeArray(reader, slot.salt);
    TakeArray(reader, slot.sealed);
  }
  for (const Slot& slot : file.slots_) COFFER_TRY(CheckCosts(slot.parameters, policy));
  return file;
}

Result<Bytes> KeyFile::Encode() const {
  Bytes out(kMagic.begin(), kMagic.end());
  AppendNumber(out, kVersion);
  AppendNumber(out, kFlags);
  Append(out, vault_id_);
  for (const Slot& slot : slots_) {
    Append(out, EncodeParameters(slot.parameters));
    Append(out, slot.salt);
    Append(out, slot.sealed);
  }
  COFFER_ASSIGN_OR_RETURN(const auto digest, crypto::Sha256(out));
  Append(out, digest);
  COFFER_CHECK(out.size() == kKeyFileSize);
  return out;
}

Result<UnlockedKeyFile> KeyFile::Unlock(const SecretBuffer& secret,
                                        const KeyFilePolicy& policy) const {
  const std::array<SlotAccess, kKeySlotCount> accesses = {SlotAccess{slots_[0], 0, secret},
                                                          SlotAccess{slots_[1], 1, secret}};
  COFFER_ASSIGN_OR_RETURN(const std::vector<SlotKey> keys,
                          SlotAccess::DeriveKeys(vault_id_, accesses, policy));
  COFFER_ASSIGN_OR_RETURN(const Candidate first, Open(keys[0], slots_[0].sealed));
  COFFER_ASSIGN_OR_RETURN(const Candidate second, Open(keys[1], slots_[1].sealed));
  UnlockedKeyFile unlocked;
  ct::SelectBytes(first.good, first.seed.Expose(), second.seed.Expose(),
                  unlocked.seed.ExposeMutable());
  const uint8_t slot = ct::Select<uint8_t>(first.good, 0, 1);
  // From here on everybody may know whether it opened, and the caller which slot.
  if (ct::Declassify<uint8_t>(first.good | second.good) == 0) {
    return Error(ErrorCode::kWrongPassphrase, "wrong passphrase or recovery code");
  }
  unlocked.slot = ct::Declassify(slot);
  return unlocked;
}

Result<KeyFile> KeyFile::ReplaceSlot(const UnlockedKeyFile& unlocked, size_t slot,
                                     const SecretBuffer& new_secret, os::Random& random,
                                     const KeyFilePolicy& policy) const {
  COFFER_CHECK(slot < kKeySlotCount);
  COFFER_TRY(RefuseEmpty(new_secret));
  const size_t other = 1 - slot;
  KeyFile file = *this;
  file.slots_[slot].parameters = policy.written;
  random.Fill(file.slots_[slot].salt);
  const std::array<SlotAccess, kKeySlotCount> accesses = {
      SlotAccess{file.slots_[slot], slot, new_secret},
      SlotAccess{file.slots_[other], other, new_secret}};
  COFFER_ASSIGN_OR_RETURN(const std::vector<SlotKey> keys,
                          SlotAccess::DeriveKeys(vault_id_, accesses, policy));
  COFFER_ASSIGN_OR_RETURN(const Candidate opened, Open(keys[1], file.slots_[other].sealed));
  if (ct::Declassify(opened.good) != 0) return OpensBoth();
  COFFER_TRY(Seal(keys[0], unlocked.seed, file.slots_[slot].sealed));
  return file;
}

Result<std::string> KeyFileName(std::string_view name, ByteSpan file) {
  const auto is_allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (name.empty() || name.size() > kNameLimit || !std::ranges::all_of(name, is_allowed)) {
    return Error(ErrorCode::kInvalidArgument,
                 "the name of a key is 1 to 64 letters, digits, dots, underscores and hyphens");
  }
  COFFER_ASSIGN_OR_RETURN(const auto digest, crypto::Sha256(file));
  return std::string(name) + "-" + hex::Encode(ByteSpan(digest).first(8)) + ".key";
}

}  // namespace coffer::vault
