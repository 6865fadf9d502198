// SPDX-License-Identifier: Apache-2.0
// A ByteSource with look-ahead, for formats whose start decides how the rest is read.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer {

class BufferedReader final : public ByteSource {
 public:
  explicit BufferedReader(ByteSource& source) : source_(source) {}

  // The next bytes without taking them: `size` of them, fewer only at the end of the source. Valid
  // until the next call.
  Result<ByteSpan> Peek(size_t size);

  // The next line with its '\n', taken: at most `limit` bytes in all. Without a '\n' in the result,
  // the source ended or the limit was reached. Empty at the end. Valid until the next call.
  Result<ByteSpan> ReadLine(size_t limit);

  // Reads straight into `out` once nothing is left of what was looked at.
  Result<size_t> Read(MutableByteSpan out) override;

 private:
  // Reads some more behind what is buffered; false at the end.
  Result<bool> Fill(size_t more);
  ByteSpan Buffered() const { return ByteSpan(buffer_).subspan(begin_); }

  ByteSource& source_;
  // What is read ahead may be a secret, in the plugin protocol.
  std::vector<uint8_t, WipingAllocator<uint8_t>> buffer_;
  size_t begin_ = 0;
  bool ended_ = false;
};

}  // namespace coffer
