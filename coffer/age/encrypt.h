// SPDX-License-Identifier: Apache-2.0
// Writing whole age files: header, payload nonce, payload.
#pragma once

#include "coffer/age/keys.h"
#include "coffer/age/recipient.h"
#include "coffer/age/stream.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/os/random.h"

namespace coffer::age {

FileKey NewFileKey(os::Random& random);

// The header that wraps `file_key` to all of `recipients`, at least one. kInvalidArgument if their
// labels differ, for then they must not share a file.
Result<Header> MakeHeader(const FileKey& file_key, const Recipients& recipients,
                          os::Random& random);

// Encrypts what is written to it. Close() completes the file.
class Encryptor final : public ByteSink {
 public:
  // Writes the header and the payload's nonce to `sink`. `file_key` is fresh from NewFileKey.
  static Result<Encryptor> Begin(const FileKey& file_key, const Recipients& recipients,
                                 os::Random& random, ByteSink& sink);

  Status Write(ByteSpan bytes) override { return stream_.Write(bytes); }
  Status Close() { return stream_.Close(); }

 private:
  explicit Encryptor(StreamWriter stream) : stream_(std::move(stream)) {}

  StreamWriter stream_;
};

}  // namespace coffer::age
