// SPDX-License-Identifier: Apache-2.0
// The header of an age file (C2SP age.md, "Header"):
//
//   header    = "age-encryption.org/v1" LF 1*stanza "---" SP mac LF
//   stanza    = "->" 1*(SP argument) LF *full-line short-line
//   argument  = 1*VCHAR
//   full-line = 64base64char LF
//   short-line = *63base64char LF
//   mac       = 43base64char
//
// Base64 is canonical and without padding, so a header has exactly one encoding: what parses
// encodes to the same bytes again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "coffer/age/keys.h"
#include "coffer/base/buffered_reader.h"
#include "coffer/base/bytes.h"
#include "coffer/base/result.h"

namespace coffer::age {

inline constexpr std::string_view kVersionLine = "age-encryption.org/v1";

// No honest header comes near it: about 160,000 X25519 recipients.
inline constexpr size_t kMaxHeaderSize = size_t{16} << 20;

inline constexpr size_t kHeaderMacSize = 32;
using HeaderMac = std::array<uint8_t, kHeaderMacSize>;

// One way to get at the file key.
struct Stanza {
  std::string type;                    // the first argument
  std::vector<std::string> arguments;  // those after the type
  Bytes body;

  bool operator==(const Stanza&) const = default;
};

struct Header {
  std::vector<Stanza> stanzas;
  HeaderMac mac{};

  bool operator==(const Header&) const = default;
};

// Reads a header and leaves `reader` at the first byte after it. kHeader with the line and the
// reason if it is malformed, of another version or larger than kMaxHeaderSize.
Result<Header> ReadHeader(BufferedReader& reader);

Bytes EncodeHeader(const Header& header);

// Reads one stanza as it stands in a header; the unit of the plugin protocol too. kHeader as above.
Result<Stanza> ReadStanza(BufferedReader& reader);

void AppendStanza(Bytes& out, const Stanza& stanza);

// HMAC-SHA-256 over the header up to and including "---", with a key derived from the file key.
Result<HeaderMac> ComputeHeaderMac(const FileKey& file_key, const std::vector<Stanza>& stanzas);

// kHeaderMac if the header's MAC is not that of `file_key`. In constant time.
Status VerifyHeaderMac(const FileKey& file_key, const Header& header);

}  // namespace coffer::age
