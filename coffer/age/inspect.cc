// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/inspect.h"

#include <algorithm>
#include <array>

#include "coffer/age/armor.h"
#include "coffer/age/header.h"
#include "coffer/age/stream.h"
#include "coffer/base/buffered_reader.h"

namespace coffer::age {
namespace {

class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(ByteSource& source) : source_(source) {}

  Result<size_t> Read(MutableByteSpan out) override {
    Result<size_t> size = source_.Read(out);
    if (size.ok()) count_ += *size;
    return size;
  }
  [[nodiscard]] uint64_t count() const { return count_; }

 private:
  ByteSource& source_;
  uint64_t count_ = 0;
};

constexpr std::array<std::string_view, 5> kClassicTypes = {"X25519", "ssh-rsa", "ssh-ed25519",
                                                           "p256tag", "piv-p256"};
constexpr std::array<std::string_view, 4> kPostQuantumTypes = {
    "scrypt", "mlkem768x25519", "mlkem768p256tag", "coffer-frodo976-xwing"};

// A file is as strong as its weakest stanza. A stanza of an unknown type beside post-quantum ones
// is taken for grease, as age-inspect does; alone it says nothing.
PostQuantum Judge(const std::vector<Stanza>& stanzas) {
  bool post_quantum = false;
  for (const Stanza& stanza : stanzas) {
    if (std::ranges::find(kClassicTypes, stanza.type) != kClassicTypes.end()) {
      return PostQuantum::kNo;
    }
    post_quantum |= std::ranges::find(kPostQuantumTypes, stanza.type) != kPostQuantumTypes.end();
  }
  return post_quantum ? PostQuantum::kYes : PostQuantum::kUnknown;
}

Result<uint64_t> CountRest(ByteSource& source) {
  Bytes buffer(65536);
  uint64_t total = 0;
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const size_t size, source.Read(buffer));
    if (size == 0) return total;
    total += size;
  }
}

}  // namespace

Result<Inspection> Inspect(ByteSource& source, std::optional<uint64_t> file_size) {
  CountingSource counted(source);
  BufferedReader outer(counted);
  ArmorReader armor(outer);
  BufferedReader inner(armor);
  Inspection inspection;
  COFFER_ASSIGN_OR_RETURN(inspection.armored, StartsWithArmor(outer));
  BufferedReader& reader = inspection.armored ? inner : outer;
  COFFER_ASSIGN_OR_RETURN(const Header header, ReadHeader(reader));
  for (const Stanza& stanza : header.stanzas) inspection.stanza_types.push_back(stanza.type);
  inspection.post_quantum = Judge(header.stanzas);
  inspection.header_size = EncodeHeader(header).size();

  uint64_t binary_size;
  if (inspection.armored || !file_size) {
    COFFER_ASSIGN_OR_RETURN(const uint64_t rest, CountRest(reader));
    binary_size = inspection.header_size + rest;
    // White space behind the armor counts as armor too.
    COFFER_TRY(CountRest(outer));
    inspection.armor_size = counted.count() - binary_size;
  } else {
    binary_size = std::max(*file_size, inspection.header_size);
  }
  const uint64_t body_size = binary_size - inspection.header_size;
  const std::optional<uint64_t> payload_size =
      body_size < kPayloadNonceSize ? std::nullopt : OpenedSize(body_size - kPayloadNonceSize);
  if (!payload_size) {
    return Error(ErrorCode::kPayload, "invalid encrypted payload size: no payload takes " +
                                          std::to_string(body_size) +
                                          " bytes; the file was cut off or added to");
  }
  inspection.payload_size = *payload_size;
  inspection.overhead_size = body_size - *payload_size;
  return inspection;
}

}  // namespace coffer::age
