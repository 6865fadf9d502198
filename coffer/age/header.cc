// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/header.h"

#include <algorithm>
#include <utility>

#include "coffer/base/base64.h"
#include "coffer/base/check.h"
#include "coffer/base/ct.h"
#include "coffer/crypto/hkdf.h"
#include "coffer/crypto/hmac.h"

namespace coffer::age {
namespace {

using base64::Padding;

constexpr size_t kColumns = 64;
constexpr size_t kLineBytes = kColumns / 4 * 3;
// What the objects of a header may take beside its text: 200,000 stanzas of X25519.
constexpr size_t kMaxObjectSize = size_t{24} << 20;
constexpr std::string_view kStanzaPrefix = "->";
constexpr std::string_view kFooterPrefix = "---";

// Reads a header line by line and knows where it is, for messages.
class HeaderParser {
 public:
  explicit HeaderParser(BufferedReader& reader) : reader_(reader) {}

  Result<Stanza> ParseSingleStanza() {
    COFFER_ASSIGN_OR_RETURN(const std::string_view line, NextLine());
    Stanza stanza;
    COFFER_TRY(ParseStanza(line, stanza));
    return stanza;
  }

  Result<Header> Parse() {
    COFFER_TRY(ParseVersion());
    Header header;
    while (true) {
      COFFER_ASSIGN_OR_RETURN(const std::string_view line, NextLine());
      if (line.starts_with(kFooterPrefix)) {
        if (header.stanzas.empty()) return Malformed("there is no stanza");
        COFFER_TRY(ParseFooter(line, header.mac));
        return header;
      }
      COFFER_TRY(ParseStanza(line, header.stanzas.emplace_back()));
    }
  }

 private:
  Error Malformed(std::string_view reason) const {
    return Error(ErrorCode::kHeader, "invalid header: line " + std::to_string(line_number_) + ": " +
                                         std::string(reason));
  }

  // The next line without its LF; valid until the next call.
  Result<std::string_view> NextLine() {
    ++line_number_;
    COFFER_ASSIGN_OR_RETURN(const ByteSpan bytes, reader_.ReadLine(kMaxHeaderSize - size_));
    const std::string_view line = AsText(bytes);
    size_ += line.size();
    if (line.ends_with('\n')) return line.substr(0, line.size() - 1);
    if (size_ == kMaxHeaderSize) return Malformed("the header is larger than 16 MiB");
    return Malformed(size_ == 0 ? "the file is empty" : "the file ends within the header");
  }

  Status ParseVersion() {
    COFFER_ASSIGN_OR_RETURN(const ByteSpan start, reader_.Peek(kVersionLine.size()));
    constexpr std::string_view kUtf16Start(
        "\xff\xfe"
        "a\0g\0",
        6);
    if (AsText(start).starts_with(kUtf16Start)) return Mangled("it was changed to UTF-16");
    const bool is_age = AsText(start).starts_with("age-encryption.org/");
    if (!start.empty() && !is_age && start.size() == kVersionLine.size()) {
      line_number_ = 1;
      return Malformed("this is not an age file");
    }
    COFFER_ASSIGN_OR_RETURN(const std::string_view line, NextLine());
    if (line == kVersionLine) return OkStatus();
    if (line.ends_with('\r') && line.substr(0, line.size() - 1) == kVersionLine) {
      return Mangled("its line ends were changed to CRLF");
    }
    return Malformed(is_age ? "unsupported version of the age format" : "this is not an age file");
  }

  static Error Mangled(std::string_view how) {
    return Error(ErrorCode::kHeader, "invalid header: line 1: " + std::string(how) +
                                         ", as PowerShell redirection and text-mode transfers do; "
                                         "copy the file as binary, or use armor");
  }

  Status ParseStanza(std::string_view line, Stanza& stanza) {
    if (!line.starts_with(kStanzaPrefix)) return Malformed("expected a stanza or the MAC");
    COFFER_TRY(Charge(sizeof(Stanza)));
    std::string_view rest = line.substr(kStanzaPrefix.size());
    if (rest.empty()) return Malformed("the stanza has no type");
    bool has_type = false;
    while (!rest.empty()) {
      if (rest.front() != ' ') return Malformed("a stanza starts with \"-> \"");
      rest.remove_prefix(1);
      const std::string_view argument = rest.substr(0, std::min(rest.find(' '), rest.size()));
      rest.remove_prefix(argument.size());
      if (argument.empty()) return Malformed("empty argument in the stanza");
      if (!std::ranges::all_of(argument, [](char c) { return c >= 0x21 && c <= 0x7e; })) {
        return Malformed("invalid character in the stanza's arguments");
      }
      COFFER_TRY(Charge(sizeof(std::string)));
      if (has_type) {
        stanza.arguments.emplace_back(argument);
      } else {
        stanza.type = argument;
        has_type = true;
      }
    }
    return ParseBody(stanza.body);
  }

  // Six bytes of text make a stanza, two an argument: without a bound of their own, objects would
  // take many times the memory of the text.
  Status Charge(size_t object_size) {
    object_size_ += object_size;
    if (object_size_ <= kMaxObjectSize) return OkStatus();
    return Malformed("the header has too many stanzas or arguments");
  }

  Status ParseBody(Bytes& body) {
    while (true) {
      COFFER_ASSIGN_OR_RETURN(const std::string_view line, NextLine());
      if (line.size() > kColumns) return Malformed("a line of the body is longer than 64 columns");
      std::array<uint8_t, kLineBytes> bytes;
      const std::optional<size_t> size = base64::DecodedSize(line, Padding::kNone);
      if (!size || !base64::DecodeTo(line, Padding::kNone, bytes)) {
        const bool next_part = line.starts_with(kStanzaPrefix) || line.starts_with(kFooterPrefix);
        return Malformed(next_part ? "the body before it has no short last line"
                                   : "a line of the body is not canonical base64");
      }
      Append(body, ByteSpan(bytes).first(*size));
      SecureWipe(bytes);  // in the plugin protocol a body may be a file key
      if (line.size() < kColumns) return OkStatus();
    }
  }

  Status ParseFooter(std::string_view line, HeaderMac& mac) const {
    line.remove_prefix(kFooterPrefix.size());
    if (!line.starts_with(' ')) return Malformed("there is no MAC after \"---\"");
    line.remove_prefix(1);
    if (base64::DecodedSize(line, Padding::kNone) != mac.size() ||
        !base64::DecodeTo(line, Padding::kNone, mac)) {
      return Malformed("the MAC is not 32 bytes in canonical base64");
    }
    return OkStatus();
  }

  BufferedReader& reader_;
  uint64_t line_number_ = 0;
  size_t size_ = 0;
  size_t object_size_ = 0;
};

void AppendText(Bytes& out, std::string_view text) { Append(out, AsBytes(text)); }

void AppendBase64Line(Bytes& out, ByteSpan bytes) {
  const size_t old_size = out.size();
  const size_t encoded_size = base64::EncodedSize(bytes.size(), Padding::kNone);
  out.resize(old_size + encoded_size + 1, '\n');
  base64::EncodeTo(bytes, Padding::kNone,
                   {reinterpret_cast<char*>(out.data()) + old_size, encoded_size});
}

// Everything that the MAC covers.
Bytes EncodeForMac(const std::vector<Stanza>& stanzas) {
  Bytes out;
  AppendText(out, kVersionLine);
  AppendText(out, "\n");
  for (const Stanza& stanza : stanzas) AppendStanza(out, stanza);
  AppendText(out, kFooterPrefix);
  return out;
}

}  // namespace

Result<Header> ReadHeader(BufferedReader& reader) { return HeaderParser(reader).Parse(); }

Result<Stanza> ReadStanza(BufferedReader& reader) {
  return HeaderParser(reader).ParseSingleStanza();
}

void AppendStanza(Bytes& out, const Stanza& stanza) {
  // All memory at once, so that growing leaves no copy of a body behind.
  size_t size = kStanzaPrefix.size() + 1 + stanza.type.size() + 1;
  for (const std::string& argument : stanza.arguments) size += 1 + argument.size();
  size +=
      base64::EncodedSize(stanza.body.size(), Padding::kNone) + stanza.body.size() / kLineBytes + 1;
  if (out.capacity() - out.size() < size) out.reserve(std::max(out.size() + size, 2 * out.size()));
  AppendText(out, kStanzaPrefix);
  AppendText(out, " ");
  AppendText(out, stanza.type);
  for (const std::string& argument : stanza.arguments) {
    AppendText(out, " ");
    AppendText(out, argument);
  }
  AppendText(out, "\n");
  ByteSpan rest = stanza.body;
  while (rest.size() >= kLineBytes) {
    AppendBase64Line(out, rest.first(kLineBytes));
    rest = rest.subspan(kLineBytes);
  }
  // The last line is always short, and empty where the body fills its lines.
  AppendBase64Line(out, rest);
}

Bytes EncodeHeader(const Header& header) {
  Bytes out = EncodeForMac(header.stanzas);
  AppendText(out, " ");
  AppendText(out, base64::Encode(header.mac, Padding::kNone));
  AppendText(out, "\n");
  return out;
}

Result<HeaderMac> ComputeHeaderMac(const FileKey& file_key, const std::vector<Stanza>& stanzas) {
  struct HeaderMacKeyRole;
  SecretArray<32, HeaderMacKeyRole> key;
  COFFER_TRY(crypto::HkdfSha256({.ikm = file_key.Expose(), .salt = {}, .info = AsBytes("header")},
                                key.ExposeMutable()));
  COFFER_ASSIGN_OR_RETURN(crypto::HmacSha256 hmac, crypto::HmacSha256::Create(key.Expose()));
  COFFER_TRY(hmac.Update(EncodeForMac(stanzas)));
  HeaderMac mac;
  COFFER_TRY(hmac.Finish(mac));
  return mac;
}

Status VerifyHeaderMac(const FileKey& file_key, const Header& header) {
  COFFER_ASSIGN_OR_RETURN(const HeaderMac mac, ComputeHeaderMac(file_key, header.stanzas));
  if (!ct::Equal(mac, header.mac)) {
    return Error(ErrorCode::kHeaderMac, "bad header MAC: the header was changed");
  }
  return OkStatus();
}

}  // namespace coffer::age
