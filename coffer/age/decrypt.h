// SPDX-License-Identifier: Apache-2.0
// Reading whole age files.
#pragma once

#include <string>

#include "coffer/age/header.h"
#include "coffer/age/keys.h"
#include "coffer/age/recipient.h"
#include "coffer/age/stream.h"
#include "coffer/base/buffered_reader.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"

namespace coffer::age {

// The file key of a header, proved by its MAC. Identities are tried in their order, and a malformed
// stanza that one of them looks at ends the search. kNoMatch, with the stanza types that the file
// has, if none opens it.
Result<FileKey> UnwrapFileKey(const Header& header, const Identities& identities);

// The stanza types of a header for people, e.g. "2 X25519, 1 ssh-ed25519". Bounded in length.
std::string DescribeStanzas(const Header& header);

// The plaintext of a file; see StreamReader for what it releases when.
class Decryptor final : public ByteSource {
 public:
  // Reads the header and the payload's nonce. `reader` must outlive the result.
  static Result<Decryptor> Begin(BufferedReader& reader, const Identities& identities);
  // The same behind a header that was read.
  static Result<Decryptor> BeginPayload(const FileKey& file_key, BufferedReader& reader);

  Result<size_t> Read(MutableByteSpan out) override { return stream_.Read(out); }

 private:
  explicit Decryptor(StreamReader stream) : stream_(std::move(stream)) {}

  StreamReader stream_;
};

}  // namespace coffer::age
