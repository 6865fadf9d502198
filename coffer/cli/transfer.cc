// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/transfer.h"

#include "coffer/base/secret.h"
#include "coffer/cli/progress.h"
#include "coffer/os/clock.h"
#include "coffer/os/output_file.h"

namespace coffer::cli {
namespace {

constexpr size_t kBufferSize = size_t{256} << 10;

}  // namespace

Status Transfer(ByteSource& source, ByteSink& sink, const TransferOptions& options) {
  Progress progress(options.total_size, ProgressIsVisible(options.quiet), os::StandardError(),
                    os::SystemClock());
  SecretBuffer buffer(kBufferSize);
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const size_t size, source.Read(buffer.ExposeMutable()));
    if (size == 0) return OkStatus();
    COFFER_TRY(sink.Write(buffer.Expose().first(size)));
    progress.Add(size);
  }
}

}  // namespace coffer::cli
