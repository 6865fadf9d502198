// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/decrypt.h"

#include <algorithm>
#include <array>
#include <utility>

#include "coffer/age/scrypt.h"

namespace coffer::age {
namespace {

constexpr size_t kMaxTypesShown = 8;
constexpr size_t kMaxTypeLength = 40;

}  // namespace

std::string DescribeStanzas(const Header& header) {
  std::vector<std::pair<std::string_view, size_t>> types;
  size_t others = 0;
  for (const Stanza& stanza : header.stanzas) {
    const auto known =
        std::ranges::find(types, std::string_view(stanza.type), [](auto& t) { return t.first; });
    if (known != types.end()) {
      ++known->second;
    } else if (types.size() < kMaxTypesShown) {
      types.emplace_back(stanza.type, 1);
    } else {
      ++others;
    }
  }
  std::string text;
  for (const auto& [type, count] : types) {
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + std::string(type.substr(0, kMaxTypeLength));
    if (type.size() > kMaxTypeLength) text += "...";
  }
  if (others != 0) text += ", " + std::to_string(others) + " of other types";
  return text;
}

Result<FileKey> UnwrapFileKey(const Header& header, const Identities& identities) {
  COFFER_TRY(CheckScryptStandsAlone(header.stanzas));
  for (const auto& identity : identities) {
    COFFER_ASSIGN_OR_RETURN(std::optional<FileKey> file_key, identity->Unwrap(header.stanzas));
    if (!file_key) continue;
    COFFER_TRY(VerifyHeaderMac(*file_key, header));
    return std::move(*file_key);
  }
  return Error(ErrorCode::kNoMatch,
               (identities.size() == 1 ? std::string("identity did not match any of the recipients")
                                       : std::string("no identity matched any of the recipients")) +
                   ": the file has stanzas of type " + DescribeStanzas(header));
}

Result<Decryptor> Decryptor::Begin(BufferedReader& reader, const Identities& identities) {
  COFFER_ASSIGN_OR_RETURN(const Header header, ReadHeader(reader));
  COFFER_ASSIGN_OR_RETURN(const FileKey file_key, UnwrapFileKey(header, identities));
  return BeginPayload(file_key, reader);
}

Result<Decryptor> Decryptor::BeginPayload(const FileKey& file_key, BufferedReader& reader) {
  std::array<uint8_t, kPayloadNonceSize> nonce;
  COFFER_ASSIGN_OR_RETURN(const size_t size, ReadFull(reader, nonce));
  // The class that the format's test vectors give to this place.
  if (size != nonce.size()) {
    return Error(ErrorCode::kHeader,
                 "invalid header: the file ends before the payload's nonce; it was cut off");
  }
  COFFER_ASSIGN_OR_RETURN(const PayloadKey payload_key, DerivePayloadKey(file_key, nonce));
  COFFER_ASSIGN_OR_RETURN(StreamReader stream, StreamReader::Create(payload_key, reader));
  return Decryptor(std::move(stream));
}

}  // namespace coffer::age
