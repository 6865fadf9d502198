// SPDX-License-Identifier: Apache-2.0
#include "coffer/crypto/kt128.h"

#include <algorithm>
#include <array>

#include "coffer/crypto/internal/keccak.h"

namespace coffer::crypto {
namespace {

constexpr size_t kGroup = 8;  // leaves hashed side by side
constexpr size_t kGroupSize = kGroup * Kt128::kChunkSize;
constexpr size_t kChainingValueSize = 32;

constexpr uint8_t kSingleNode = 0x07;
constexpr uint8_t kFinalNode = 0x06;
constexpr SpongeKind kLeafKind = {kShake128Kind.rate, 0x0b, KeccakRounds::k12};

// length_encode of RFC 9861 section 3.3: the bytes of the number from the highest that is not zero,
// then how many they are.
struct EncodedLength {
  std::array<uint8_t, 9> bytes;
  size_t size;
};

EncodedLength LengthEncode(uint64_t length) {
  EncodedLength encoded{};
  for (int shift = 56; shift >= 0; shift -= 8) {
    if (encoded.size == 0 && (length >> shift) == 0) continue;
    encoded.bytes[encoded.size++] = static_cast<uint8_t>(length >> shift);
  }
  encoded.bytes[encoded.size] = static_cast<uint8_t>(encoded.size);
  ++encoded.size;
  return encoded;
}

// Hashes up to kLanes whole chunks side by side and gives their chaining values to the final node.
// Lanes that are left over hash the last chunk again, for nothing.
template <size_t kLanes>
void AbsorbChunksSideBySide(ByteSpan chunks, Sponge& final_node) {
  const size_t count = chunks.size() / Kt128::kChunkSize;
  std::array<uint8_t, kLanes * kChainingValueSize> values;
  std::array<ByteSpan, kLanes> inputs;
  std::array<MutableByteSpan, kLanes> outputs;
  for (size_t i = 0; i < kLanes; ++i) {
    const size_t chunk = std::min(i, count - 1);
    inputs[i] = chunks.subspan(chunk * Kt128::kChunkSize, Kt128::kChunkSize);
    outputs[i] = MutableByteSpan(values).subspan(i * kChainingValueSize, kChainingValueSize);
  }
  ParallelSponge<kLanes> leaves(kLeafKind);
  leaves.Absorb(inputs);
  leaves.Squeeze(outputs);
  final_node.Absorb(ByteSpan(values).first(count * kChainingValueSize));
  SecureWipe(values);
}

void AbsorbOneChunk(ByteSpan chunk, Sponge& final_node) {
  std::array<uint8_t, kChainingValueSize> value;
  Sponge leaf(kLeafKind);
  leaf.Absorb(chunk);
  leaf.Squeeze(value);
  final_node.Absorb(value);
  SecureWipe(value);
}

// How many of `whole` chunks to hash in one go. On the vector unit four lanes cost less than two
// single ones, and eight less than five; portable code has nothing from them.
size_t GroupOf(size_t whole) {
  if (internal::Keccak().level == os::SimdLevel::kPortable) return std::min<size_t>(whole, 1);
  return std::min(whole, kGroup);
}

}  // namespace

// `chunks` are whole but for the last, which is the message's last if it is not.
void Kt128::AbsorbLeaves(ByteSpan chunks) {
  while (!chunks.empty()) {
    const size_t count = GroupOf(chunks.size() / kChunkSize);
    const size_t size = std::min(chunks.size(), std::max<size_t>(count, 1) * kChunkSize);
    const ByteSpan group = chunks.first(size);
    if (count > 4) {
      AbsorbChunksSideBySide<8>(group, final_node_);
    } else if (count > 1) {
      AbsorbChunksSideBySide<4>(group, final_node_);
    } else {
      AbsorbOneChunk(group, final_node_);
    }
    leaf_count_ += std::max<size_t>(count, 1);
    chunks = chunks.subspan(size);
  }
}

// Bytes after the first chunk. Whole groups are hashed where they stand, the rest is kept.
void Kt128::AbsorbRest(ByteSpan bytes) {
  if (!pending_.empty()) {
    const size_t taken = std::min(bytes.size(), kGroupSize - pending_.size());
    pending_.Append(bytes.first(taken));
    bytes = bytes.subspan(taken);
    if (pending_.size() < kGroupSize) return;
    AbsorbLeaves(pending_.Expose());
    pending_.Truncate(0);
  }
  const size_t whole = bytes.size() - bytes.size() % kGroupSize;
  AbsorbLeaves(bytes.first(whole));
  bytes = bytes.subspan(whole);
  if (bytes.empty()) return;
  pending_.Reserve(kGroupSize);
  pending_.Append(bytes);
}

void Kt128::Update(ByteSpan message) {
  const size_t taken = std::min(message.size(), kChunkSize - first_chunk_size_);
  final_node_.Absorb(message.first(taken));
  first_chunk_size_ += taken;
  message = message.subspan(taken);
  if (message.empty()) return;
  if (leaf_count_ == 0 && pending_.empty()) {
    static constexpr std::array<uint8_t, 8> kAfterFirstChunk = {0x03};
    final_node_.Absorb(kAfterFirstChunk);
  }
  AbsorbRest(message);
}

void Kt128::Finish(ByteSpan customization, MutableByteSpan out) {
  Update(customization);
  const EncodedLength customization_size = LengthEncode(customization.size());
  Update(ByteSpan(customization_size.bytes).first(customization_size.size));
  AbsorbLeaves(pending_.Expose());
  pending_.Clear();
  if (leaf_count_ == 0) {
    final_node_.SetSuffix(kSingleNode);
  } else {
    static constexpr std::array<uint8_t, 2> kEnd = {0xff, 0xff};
    const EncodedLength leaves = LengthEncode(leaf_count_);
    final_node_.Absorb(ByteSpan(leaves.bytes).first(leaves.size));
    final_node_.Absorb(kEnd);
    final_node_.SetSuffix(kFinalNode);
  }
  final_node_.Squeeze(out);
  final_node_.Reset();
  first_chunk_size_ = 0;
  leaf_count_ = 0;
}

void Kt128Hash(ByteSpan message, ByteSpan customization, MutableByteSpan out) {
  Kt128 hasher;
  hasher.Update(message);
  hasher.Finish(customization, out);
}

}  // namespace coffer::crypto
