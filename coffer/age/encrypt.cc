// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/encrypt.h"

#include <array>
#include <string>
#include <utility>

namespace coffer::age {
namespace {

Error IncompatibleRecipients(const Labels& a, const Labels& b) {
  const std::string pq(kPostQuantumLabel);
  if (a.contains(pq) != b.contains(pq)) {
    return Error(ErrorCode::kInvalidArgument,
                 "incompatible recipients: can't mix post-quantum and classic recipients, or the "
                 "file would be no safer than the classic ones");
  }
  return Error(ErrorCode::kInvalidArgument,
               "incompatible recipients: a passphrase must be the only recipient of a file");
}

}  // namespace

FileKey NewFileKey(os::Random& random) {
  FileKey file_key;
  random.Fill(file_key.ExposeMutable());
  return file_key;
}

Result<Header> MakeHeader(const FileKey& file_key, const Recipients& recipients,
                          os::Random& random) {
  if (recipients.empty()) return Error(ErrorCode::kInvalidArgument, "no recipients");
  Header header;
  std::optional<Labels> labels;
  for (const auto& recipient : recipients) {
    COFFER_ASSIGN_OR_RETURN(WrappedFileKey wrapped, recipient->Wrap(file_key, random));
    if (labels && *labels != wrapped.labels) return IncompatibleRecipients(*labels, wrapped.labels);
    labels = std::move(wrapped.labels);
    for (Stanza& stanza : wrapped.stanzas) header.stanzas.push_back(std::move(stanza));
  }
  COFFER_ASSIGN_OR_RETURN(header.mac, ComputeHeaderMac(file_key, header.stanzas));
  return header;
}

Result<Encryptor> Encryptor::Begin(const FileKey& file_key, const Recipients& recipients,
                                   os::Random& random, ByteSink& sink) {
  COFFER_ASSIGN_OR_RETURN(const Header header, MakeHeader(file_key, recipients, random));
  std::array<uint8_t, kPayloadNonceSize> nonce;
  random.Fill(nonce);
  COFFER_ASSIGN_OR_RETURN(const PayloadKey payload_key, DerivePayloadKey(file_key, nonce));
  Bytes start = EncodeHeader(header);
  Append(start, nonce);
  COFFER_TRY(sink.Write(start));
  COFFER_ASSIGN_OR_RETURN(StreamWriter stream, StreamWriter::Create(payload_key, sink));
  return Encryptor(std::move(stream));
}

}  // namespace coffer::age
