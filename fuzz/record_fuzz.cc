// SPDX-License-Identifier: Apache-2.0
// The bodies of records, without their MACs, which no fuzzer would find: what is read is written
// again as the same bytes, or as fewer, without the ignorable keys of the record itself. The first
// byte says which kind of record the rest is.
#include <algorithm>

#include "coffer/base/check.h"
#include "coffer/vault/internal/record_body.h"

namespace {

namespace internal = coffer::vault::internal;
using coffer::ByteSpan;
using coffer::ErrorCode;

template <class Read, class Write>
void CheckBody(ByteSpan body, Read read, Write write) {
  const auto record = read(body);
  if (!record.ok()) {
    const ErrorCode code = record.error().code();
    COFFER_CHECK(code == ErrorCode::kDamaged || code == ErrorCode::kNeedsNewer);
    return;
  }
  coffer::vault::CborWriter first;
  write(*record, first);
  const ByteSpan written = first.buffer().Expose();
  COFFER_CHECK(written.size() < body.size() || std::ranges::equal(written, body));
  const auto again = read(written);
  COFFER_CHECK(again.ok());
  coffer::vault::CborWriter second;
  write(*again, second);
  COFFER_CHECK(std::ranges::equal(second.buffer().Expose(), written));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ByteSpan body = ByteSpan(data, size).subspan(1);
  switch (data[0] % 3) {
    case 0:
      CheckBody(body, internal::ReadCommitBody, internal::WriteCommitBody);
      break;
    case 1:
      CheckBody(body, internal::ReadCheckpointBody, internal::WriteCheckpointBody);
      break;
    default:
      CheckBody(body, internal::ReadSegmentIndexBody, internal::WriteSegmentIndexBody);
  }
  return 0;
}
