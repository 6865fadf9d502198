// SPDX-License-Identifier: Apache-2.0
// Armor reader: what it reads to the end armors to the same text, but for line ends and white space
// around it; how the text arrives changes nothing.
#include <string>

#include "coffer/age/armor.h"
#include "coffer/base/check.h"
#include "coffer/base/testing/memory_io.h"

namespace {

coffer::testing::ReadOutcome Read(coffer::ByteSpan input, size_t piece) {
  coffer::testing::MemorySource source(input, piece);
  coffer::BufferedReader reader(source);
  coffer::age::ArmorReader armor(reader);
  return coffer::testing::ReadAll(armor, piece == 1 ? 7 : 4096);
}

std::string Canonical(std::string_view text) {
  const std::string_view space = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  std::string out(text.substr(0, text.find_last_not_of(space) + 1));
  for (size_t at = 0; (at = out.find("\r\n", at)) != std::string::npos;) out.erase(at, 1);
  return out + "\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const coffer::ByteSpan input(data, size);
  const auto outcome = Read(input, SIZE_MAX);
  const auto in_pieces = Read(input, 1);
  COFFER_CHECK(outcome.bytes == in_pieces.bytes);
  COFFER_CHECK(outcome.status.ok() == in_pieces.status.ok());
  if (!outcome.status.ok()) {
    COFFER_CHECK(outcome.status.error().code() == coffer::ErrorCode::kArmor);
    COFFER_CHECK(outcome.status.error().message() == in_pieces.status.error().message());
    return 0;
  }
  coffer::testing::MemorySink sink;
  coffer::age::ArmorWriter writer(sink);
  COFFER_CHECK(writer.Write(outcome.bytes).ok());
  COFFER_CHECK(writer.Close().ok());
  COFFER_CHECK(sink.text() == Canonical(coffer::AsText(input)));
  return 0;
}
