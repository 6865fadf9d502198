// SPDX-License-Identifier: Apache-2.0
// The twelve parameter sets of FrodoKEM as types: draft-longa-cfrg-frodokem-03 section 10
// ("Parameter Sets"), the open text of the scheme in ISO/IEC 18033-2:2006/Amd 2.
//
//                  D   n    B   lensec   FrodoKEM: seedSE and salt   eFrodoKEM: seedSE (no salt)
//   (e)FrodoKEM-640  15  640  2  16 bytes            32 bytes                 16 bytes
//   (e)FrodoKEM-976  16  976  3  24 bytes            48 bytes                 24 bytes
//   (e)FrodoKEM-1344 16 1344  4  32 bytes            64 bytes                 32 bytes
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coffer/crypto/sha3.h"

namespace coffer::crypto {

// What expands the seed of the public matrix A.
enum class FrodoGenerator : uint8_t { kShake128, kAes128 };

// The salted form is for keys of any life. The ephemeral form (round 3 of the NIST process) is
// unsafe once a public key has seen 2^8 ciphertexts: for short exchanges only, never for stored
// recipients.
enum class FrodoForm : uint8_t { kSalted, kEphemeral };

// T_X, the table of the error distribution, without its last entry, which is never read: at most
// this many values of the 15-bit t are below or at it (section 7.5).
template <size_t kDimension>
inline constexpr std::array<uint16_t, 0> kFrodoErrorTable{};
template <>
inline constexpr std::array<uint16_t, 12> kFrodoErrorTable<640>{
    4643, 13363, 20579, 25843, 29227, 31145, 32103, 32525, 32689, 32745, 32762, 32766};
template <>
inline constexpr std::array<uint16_t, 10> kFrodoErrorTable<976>{5638,  15915, 23689, 28571, 31116,
                                                                32217, 32613, 32731, 32760, 32766};
template <>
inline constexpr std::array<uint16_t, 6> kFrodoErrorTable<1344>{9142,  23462, 30338,
                                                                32361, 32725, 32765};

template <size_t kDimension, FrodoGenerator kMatrixGenerator, FrodoForm kKeyForm>
struct FrodoParameters {
  static_assert(kDimension == 640 || kDimension == 976 || kDimension == 1344);

  static constexpr FrodoGenerator kGenerator = kMatrixGenerator;
  static constexpr FrodoForm kForm = kKeyForm;

  static constexpr size_t kN = kDimension;
  static constexpr size_t kNBar = 8;                           // nHat
  static constexpr unsigned kD = kDimension == 640 ? 15 : 16;  // q = 2^D
  static constexpr uint16_t kModulusMask = (uint32_t{1} << kD) - 1;
  static constexpr unsigned kB = kDimension == 640 ? 2 : kDimension == 976 ? 3 : 4;
  static constexpr const auto& kErrorTable = kFrodoErrorTable<kDimension>;
  // SHAKE128 for 640, SHAKE256 for the others. A is always expanded at the 128-bit level.
  static constexpr SpongeKind kHash = kDimension == 640 ? kShake128Kind : kShake256Kind;

  // Sizes in bytes.
  static constexpr size_t kSecuritySize = kB * kNBar * kNBar / 8;  // lensec: s, mu, k, pkh, ss
  static constexpr bool kSalted = kForm == FrodoForm::kSalted;
  static constexpr size_t kSeedSeSize = kSalted ? 2 * kSecuritySize : kSecuritySize;
  static constexpr size_t kSaltSize = kSalted ? 2 * kSecuritySize : 0;
  static constexpr size_t kSeedASize = 16;

  static constexpr size_t kPackedRowSize = kD * kNBar / 8;  // eight coefficients
  static constexpr size_t kPackedBSize = kN * kPackedRowSize;
  static constexpr size_t kC1Size = kPackedBSize;
  static constexpr size_t kC2Size = kNBar * kPackedRowSize;
  static constexpr size_t kSecretMatrixSize = 2 * kN * kNBar;  // S^T in the private key

  static constexpr size_t kSharedSecretSize = kSecuritySize;
  static constexpr size_t kPublicKeySize = kSeedASize + kPackedBSize;
  static constexpr size_t kPrivateKeySize =
      kSecuritySize + kPublicKeySize + kSecretMatrixSize + kSecuritySize;
  static constexpr size_t kCiphertextSize = kC1Size + kC2Size + kSaltSize;
  static constexpr size_t kSeedsSize = kSecuritySize + kSeedSeSize + kSeedASize;  // s, seedSE, z
  static constexpr size_t kCoinsSize = kSecuritySize + kSaltSize;                 // mu, salt

  // E.g. "eFrodoKEM-976-SHAKE".
  static constexpr std::string_view kName = [] {
    constexpr bool kShake = kGenerator == FrodoGenerator::kShake128;
    constexpr std::string_view kNames[3][2] = {{"eFrodoKEM-640-AES", "eFrodoKEM-640-SHAKE"},
                                               {"eFrodoKEM-976-AES", "eFrodoKEM-976-SHAKE"},
                                               {"eFrodoKEM-1344-AES", "eFrodoKEM-1344-SHAKE"}};
    constexpr size_t kRow = kDimension == 640 ? 0 : kDimension == 976 ? 1 : 2;
    return kNames[kRow][kShake ? 1 : 0].substr(kSalted ? 1 : 0);
  }();
};

using FrodoKem640ShakeParameters =
    FrodoParameters<640, FrodoGenerator::kShake128, FrodoForm::kSalted>;
using FrodoKem976ShakeParameters =
    FrodoParameters<976, FrodoGenerator::kShake128, FrodoForm::kSalted>;
using FrodoKem1344ShakeParameters =
    FrodoParameters<1344, FrodoGenerator::kShake128, FrodoForm::kSalted>;
using FrodoKem640AesParameters = FrodoParameters<640, FrodoGenerator::kAes128, FrodoForm::kSalted>;
using FrodoKem976AesParameters = FrodoParameters<976, FrodoGenerator::kAes128, FrodoForm::kSalted>;
using FrodoKem1344AesParameters =
    FrodoParameters<1344, FrodoGenerator::kAes128, FrodoForm::kSalted>;
using EFrodoKem640ShakeParameters =
    FrodoParameters<640, FrodoGenerator::kShake128, FrodoForm::kEphemeral>;
using EFrodoKem976ShakeParameters =
    FrodoParameters<976, FrodoGenerator::kShake128, FrodoForm::kEphemeral>;
using EFrodoKem1344ShakeParameters =
    FrodoParameters<1344, FrodoGenerator::kShake128, FrodoForm::kEphemeral>;
using EFrodoKem640AesParameters =
    FrodoParameters<640, FrodoGenerator::kAes128, FrodoForm::kEphemeral>;
using EFrodoKem976AesParameters =
    FrodoParameters<976, FrodoGenerator::kAes128, FrodoForm::kEphemeral>;
using EFrodoKem1344AesParameters =
    FrodoParameters<1344, FrodoGenerator::kAes128, FrodoForm::kEphemeral>;

}  // namespace coffer::crypto
