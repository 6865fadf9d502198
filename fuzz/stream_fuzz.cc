// SPDX-License-Identifier: Apache-2.0
// STREAM under a fixed key. The first byte chooses; the rest is a script of edits to a sealed
// payload. Whatever is edited, the reader releases a prefix of the true plaintext in whole chunks,
// and says success only for the payload as it was sealed. Random access agrees with it.
#include <algorithm>
#include <array>

#include "coffer/age/stream.h"
#include "coffer/base/check.h"
#include "coffer/base/testing/memory_io.h"

namespace coffer {
namespace {

age::PayloadKey Key() {
  std::array<uint8_t, 32> key{};
  key[0] = 1;
  return age::PayloadKey::CopyOf(key);
}

Bytes Seal(const Bytes& plaintext) {
  testing::MemorySink sink;
  age::StreamWriter writer = age::StreamWriter::Create(Key(), sink).value();
  COFFER_CHECK(writer.Write(plaintext).ok());
  COFFER_CHECK(writer.Close().ok());
  return sink.bytes();
}

// Three bytes a step: what to do, and where.
void Edit(Bytes& sealed, ByteSpan script) {
  for (; script.size() >= 3; script = script.subspan(3)) {
    const size_t coarse = size_t{script[1]} << 10;
    const size_t at = sealed.empty() ? 0 : (coarse + script[2]) % sealed.size();
    const auto position = sealed.begin() + static_cast<ptrdiff_t>(at);
    switch (script[0] % 5) {
      case 0:
        if (!sealed.empty()) sealed[at] ^= static_cast<uint8_t>(1 << (script[0] / 5 % 8));
        break;
      case 1:
        sealed.resize(at);
        break;
      case 2:
        sealed.insert(position, script[0]);
        break;
      case 3:
        if (!sealed.empty()) sealed.erase(position);
        break;
      default: {  // a whole chunk again
        const size_t size = std::min<size_t>(age::kSealedChunkSize, sealed.size());
        const Bytes chunk(sealed.begin(), sealed.begin() + static_cast<ptrdiff_t>(size));
        if (sealed.size() < 4 * age::kSealedChunkSize) Append(sealed, chunk);
        break;
      }
    }
  }
}

void CheckRandomAccess(const Bytes& sealed, const Bytes& plaintext, bool whole) {
  testing::MemoryRandomAccess source(sealed);
  auto reader = age::SeekableStreamReader::Create(Key(), source, 0, sealed.size());
  if (!reader.ok()) {
    COFFER_CHECK(!whole && reader.error().code() == ErrorCode::kPayload);
    return;
  }
  Bytes out(static_cast<size_t>(reader->size()) + 1);
  const auto size = reader->ReadAt(0, out);
  COFFER_CHECK(size.ok() == whole);
  if (!whole) return;
  COFFER_CHECK(*size == plaintext.size());
  COFFER_CHECK(std::equal(plaintext.begin(), plaintext.end(), out.begin()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr std::array<size_t, 8> kSizes = {0, 1, 100, 65535, 65536, 65537, 131072, 140000};
  Bytes plaintext(kSizes[data[0] % kSizes.size()]);
  for (size_t i = 0; i < plaintext.size(); ++i) plaintext[i] = static_cast<uint8_t>(i * 31 >> 3);
  const Bytes original = Seal(plaintext);
  Bytes sealed = original;
  Edit(sealed, ByteSpan(data, size).subspan(1));

  testing::MemorySource source(sealed, data[0] >= 128 ? 1000 : SIZE_MAX);
  age::StreamReader reader = age::StreamReader::Create(Key(), source).value();
  const auto outcome = testing::ReadAll(reader, data[0] % 2 == 0 ? 70000 : 1001);
  const bool whole = sealed == original;
  COFFER_CHECK(outcome.status.ok() == whole);
  COFFER_CHECK(whole || outcome.status.error().code() == ErrorCode::kPayload);
  COFFER_CHECK(outcome.bytes.size() <= plaintext.size());
  COFFER_CHECK(std::equal(outcome.bytes.begin(), outcome.bytes.end(), plaintext.begin()));
  COFFER_CHECK(outcome.bytes.size() % age::kChunkSize == 0 ||
               outcome.bytes.size() == plaintext.size());
  CheckRandomAccess(sealed, plaintext, whole);
  return 0;
}

}  // namespace coffer
