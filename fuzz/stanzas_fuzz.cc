// SPDX-License-Identifier: Apache-2.0
// Files before their payload: inspection, with and without a known size, agrees with the header and
// accounts for each byte; and identities of every type open or refuse the stanzas alike in whatever
// order these stand.
#include <algorithm>
#include <memory>
#include <optional>

#include "coffer/age/header.h"
#include "coffer/age/inspect.h"
#include "coffer/age/key_files.h"
#include "coffer/base/check.h"
#include "coffer/base/testing/memory_io.h"

namespace coffer {
namespace {

// Keys that nothing but the corpus was encrypted to.
constexpr std::string_view kIdentities =
    "AGE-SECRET-KEY-15ERSCRH88E6H048HSFE9057QD3SC3H8YL5PDLDAAKVHGDX6CMXUQZ47GN4\n"
    "AGE-SECRET-KEY-PQ-1F5NVT0QHVCHQTC0HU286L04UQZHGH4RPKT94PJMMW96CSXLXE02QMX750T\n"
    "AGE-PLUGIN-COFFER-189JTRTEZJPTTQPU9H7L0Q604V9XJLQF3FGAQMA2H3Q9DXJUJPVMS0MNKDN\n";

void CheckInspection(ByteSpan file) {
  testing::MemorySource source(file);
  const auto inspection = age::Inspect(source, std::nullopt);
  testing::MemorySource again(file, 5);
  const auto sized = age::Inspect(again, file.size());
  COFFER_CHECK(sized.ok() == inspection.ok());
  if (!inspection.ok()) {
    const ErrorCode code = inspection.error().code();
    COFFER_CHECK(code == ErrorCode::kHeader || code == ErrorCode::kArmor ||
                 code == ErrorCode::kPayload);
    COFFER_CHECK(sized.error().code() == code);
    return;
  }
  COFFER_CHECK(inspection->header_size + inspection->armor_size + inspection->overhead_size +
                   inspection->payload_size ==
               file.size());
  COFFER_CHECK(sized->payload_size == inspection->payload_size);
  COFFER_CHECK(sized->stanza_types == inspection->stanza_types);
  COFFER_CHECK(sized->post_quantum == inspection->post_quantum);
  COFFER_CHECK(inspection->armored || inspection->armor_size == 0);
}

void CheckUnwrapping(std::vector<age::Stanza> stanzas) {
  static age::Identities& identities =
      *new age::Identities(age::ParseIdentityFile(kIdentities).value());
  for (const auto& identity : identities) {
    const auto file_key = identity->Unwrap(stanzas);
    std::ranges::reverse(stanzas);
    const auto reversed = identity->Unwrap(stanzas);
    COFFER_CHECK(file_key.ok() == reversed.ok());
    if (file_key.ok()) {
      COFFER_CHECK(file_key->has_value() == reversed->has_value());
    } else {
      COFFER_CHECK(file_key.error().code() == ErrorCode::kHeader);
      COFFER_CHECK(reversed.error().code() == ErrorCode::kHeader);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan file(data, size);
  CheckInspection(file);
  testing::MemorySource source(file);
  BufferedReader reader(source);
  auto header = age::ReadHeader(reader);
  if (header.ok()) CheckUnwrapping(std::move(header->stanzas));
  return 0;
}

}  // namespace coffer
