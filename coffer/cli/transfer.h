// SPDX-License-Identifier: Apache-2.0
// Moving bytes from a source to a sink.
#pragma once

#include <cstdint>
#include <optional>

#include "coffer/base/io.h"
#include "coffer/base/result.h"

namespace coffer::cli {

struct TransferOptions {
  std::optional<uint64_t> total_size;  // for the progress line
  bool quiet = false;
};

// Copies all of `source`, with progress, in a fixed amount of memory that is wiped afterwards.
Status Transfer(ByteSource& source, ByteSink& sink, const TransferOptions& options);

// Takes everything and keeps nothing.
class NullSink final : public ByteSink {
 public:
  Status Write(ByteSpan) override { return OkStatus(); }
};

}  // namespace coffer::cli
