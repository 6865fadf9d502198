// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/object.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "coffer/age/encrypt.h"
#include "coffer/age/header.h"
#include "coffer/age/stream.h"
#include "coffer/base/buffered_reader.h"
#include "coffer/base/checked.h"
#include "coffer/base/hex.h"
#include "coffer/crypto/sha2.h"

namespace coffer::vault {
namespace {

using age::ChunkCipher;
using age::ChunkPlace;
using age::kChunkSize;
using age::kPayloadNonceSize;
using age::kSealedChunkSize;
using age::kTagSize;

constexpr uint64_t kMaxObjectSize = uint64_t{1} << 48;
// A header with one coffer stanza has about 23 KiB. More than this is not read of any.
constexpr size_t kMaxObjectHeaderSize = size_t{64} << 10;
// Sealed chunks that are read with one call.
constexpr size_t kReadAheadChunks = 16;
// Contexts, of 1 MiB each, that are kept for the next reads.
constexpr size_t kKeptContexts = 2;

Error Damaged(const std::string& key, std::string_view what) {
  return Error(ErrorCode::kDamaged, key + " is damaged: " + std::string(what));
}

Error WrongSize(const std::string& key, uint64_t size) {
  return Damaged(key, "no object is " + std::to_string(size) + " bytes long");
}

// Counts and hashes what goes to an upload.
class HashingUpload final : public ByteSink {
 public:
  HashingUpload(std::unique_ptr<store::Upload> upload, crypto::Sha2Hasher hasher)
      : upload_(std::move(upload)), hasher_(std::move(hasher)) {}

  Status Write(ByteSpan bytes) override {
    COFFER_TRY(hasher_.Update(bytes));
    return upload_->Write(bytes);
  }

  Result<Id> Digest() {
    Id id;
    COFFER_TRY(hasher_.Finish(id));
    return id;
  }

  [[nodiscard]] std::unique_ptr<store::Upload> Take() { return std::move(upload_); }
  [[nodiscard]] store::Upload& upload() { return *upload_; }

 private:
  std::unique_ptr<store::Upload> upload_;
  crypto::Sha2Hasher hasher_;
};

// The header, in front of the payload's nonce, of an object for one recipient.
Result<Bytes> MakeObjectHeader(const age::FileKey& file_key, const age::CofferRecipient& recipient,
                               os::Random& random) {
  age::Header header;
  COFFER_ASSIGN_OR_RETURN(age::WrappedFileKey wrapped, recipient.Wrap(file_key, random));
  header.stanzas = std::move(wrapped.stanzas);
  COFFER_ASSIGN_OR_RETURN(header.mac, age::ComputeHeaderMac(file_key, header.stanzas));
  return age::EncodeHeader(header);
}

// An object's bytes from its start on, for the parser of headers; at most kMaxObjectHeaderSize.
class HeaderSource final : public ByteSource {
 public:
  explicit HeaderSource(store::StoredObject& object) : object_(object) {}

  Result<size_t> Read(MutableByteSpan out) override {
    const size_t size = std::min(out.size(), kMaxObjectHeaderSize - offset_);
    if (size == 0) return size_t{0};
    COFFER_ASSIGN_OR_RETURN(const size_t count, object_.ReadAt(offset_, out.first(size)));
    offset_ += count;
    return count;
  }

 private:
  store::StoredObject& object_;
  size_t offset_ = 0;
};

std::string_view ClassPrefix(ObjectClass object_class) {
  switch (object_class) {
    case ObjectClass::kSegment:
      return "segments/";
    case ObjectClass::kCommit:
      return "commits/";
    case ObjectClass::kCheckpoint:
      return "checkpoints/";
  }
  COFFER_CHECK(false);
  return {};
}

}  // namespace

std::string ObjectKey(ObjectClass object_class, const Id& id) {
  const std::string digits = hex::Encode(id);
  std::string key(ClassPrefix(object_class));
  if (object_class == ObjectClass::kSegment) key += digits.substr(0, 2) + "/";
  return key + digits;
}

std::optional<Id> IdOfKey(ObjectClass object_class, std::string_view key) {
  constexpr size_t kDigits = 2 * std::tuple_size_v<Id>;
  if (key.size() < kDigits) return std::nullopt;
  const std::optional<Bytes> bytes = hex::Decode(key.substr(key.size() - kDigits));
  if (!bytes) return std::nullopt;
  Id id;
  std::ranges::copy(*bytes, id.begin());
  if (ObjectKey(object_class, id) != key) return std::nullopt;
  return id;
}

struct ObjectWriter::Impl {
  Impl(HashingUpload sink_in, ChunkCipher cipher_in)
      : sink(std::move(sink_in)), cipher(std::move(cipher_in)), sealed(kSealedChunkSize) {
    pending.Reserve(kChunkSize);
  }

  Status SealChunk(ChunkPlace place, ByteSpan plaintext) {
    const MutableByteSpan out = MutableByteSpan(sealed).first(plaintext.size() + kTagSize);
    COFFER_TRY(cipher.Seal(index++, place, plaintext, out));
    return sink.Write(out);
  }

  HashingUpload sink;
  ChunkCipher cipher;
  age::FileKey file_key;
  uint64_t header_size = 0;
  uint64_t plaintext_size = 0;
  uint64_t index = 0;
  SecretBuffer pending;  // plaintext that does not fill a chunk, or may be the last one
  Bytes sealed;
};

ObjectWriter::ObjectWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ObjectWriter::~ObjectWriter() = default;

Result<std::unique_ptr<ObjectWriter>> ObjectWriter::Begin(store::Store& store,
                                                          const age::CofferRecipient& recipient,
                                                          os::Random& random,
                                                          std::optional<uint64_t> plaintext_size) {
  age::FileKey file_key = age::NewFileKey(random);
  COFFER_ASSIGN_OR_RETURN(const Bytes header, MakeObjectHeader(file_key, recipient, random));
  std::array<uint8_t, kPayloadNonceSize> nonce;
  random.Fill(nonce);
  COFFER_ASSIGN_OR_RETURN(const age::PayloadKey key, age::DerivePayloadKey(file_key, nonce));
  COFFER_ASSIGN_OR_RETURN(ChunkCipher cipher, ChunkCipher::Create(key));
  COFFER_ASSIGN_OR_RETURN(crypto::Sha2Hasher hasher,
                          crypto::Sha2Hasher::Create(crypto::Sha2::kSha256));

  std::optional<uint64_t> expected;
  if (plaintext_size) expected = age::SealedSize(*plaintext_size);
  if (expected) expected = CheckedAdd<uint64_t>(*expected, header.size() + kPayloadNonceSize);
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<store::Upload> upload, store.Begin(expected));
  auto impl = std::make_unique<Impl>(HashingUpload(std::move(upload), std::move(hasher)),
                                     std::move(cipher));
  impl->file_key = std::move(file_key);
  impl->header_size = header.size();
  COFFER_TRY(impl->sink.Write(header));
  COFFER_TRY(impl->sink.Write(nonce));
  return std::unique_ptr<ObjectWriter>(new ObjectWriter(std::move(impl)));
}

Status ObjectWriter::Write(ByteSpan plaintext) {
  Impl& impl = *impl_;
  impl.plaintext_size += plaintext.size();
  // A full chunk is sealed only when more follows: before that it may be the last.
  while (impl.pending.size() + plaintext.size() > kChunkSize) {
    if (impl.pending.empty()) {
      COFFER_TRY(impl.SealChunk(ChunkPlace::kNotLast, plaintext.first(kChunkSize)));
      plaintext = plaintext.subspan(kChunkSize);
      continue;
    }
    const size_t missing = kChunkSize - impl.pending.size();
    impl.pending.Append(plaintext.first(missing));
    plaintext = plaintext.subspan(missing);
    COFFER_TRY(impl.SealChunk(ChunkPlace::kNotLast, impl.pending.Expose()));
    impl.pending.Truncate(0);
  }
  impl.pending.Append(plaintext);
  return OkStatus();
}

uint64_t ObjectWriter::plaintext_size() const { return impl_->plaintext_size; }

Result<SealedObject> ObjectWriter::Finish(ObjectClass object_class) {
  Impl& impl = *impl_;
  COFFER_TRY(impl.SealChunk(ChunkPlace::kLast, impl.pending.Expose()));
  impl.pending.Clear();
  COFFER_ASSIGN_OR_RETURN(const Id id, impl.sink.Digest());
  COFFER_TRY(impl.sink.upload().Finish(ObjectKey(object_class, id)));
  SealedObject object;
  object.upload = impl.sink.Take();
  object.id = id;
  object.object_size = object.upload->size();
  object.header_size = impl.header_size;
  object.file_key = std::move(impl.file_key);
  return object;
}

Result<SealedObject> SealObject(store::Store& store, const age::CofferRecipient& recipient,
                                os::Random& random, ObjectClass object_class, ByteSpan plaintext,
                                bool padding) {
  const uint64_t size = padding ? PaddedSize(plaintext.size()) : plaintext.size();
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectWriter> writer,
                          ObjectWriter::Begin(store, recipient, random, size));
  COFFER_TRY(writer->Write(plaintext));
  const Bytes zeros(std::min<uint64_t>(size - plaintext.size(), kChunkSize));
  for (uint64_t left = size - plaintext.size(); left != 0;) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(left, zeros.size()));
    COFFER_TRY(writer->Write(ByteSpan(zeros).first(count)));
    left -= count;
  }
  return writer->Finish(object_class);
}

struct ObjectReader::Impl {
  // What one reading thread needs: several may read at once, each with its own.
  struct Context {
    explicit Context(ChunkCipher cipher_in) : cipher(std::move(cipher_in)) {}
    ChunkCipher cipher;
    Bytes sealed;         // chunks that were read together
    SecretBuffer opened;  // one chunk, for reads of a part of it
  };

  std::string key;  // of the object
  std::unique_ptr<store::StoredObject> object;
  ObjectKeys keys;
  age::PayloadKey payload_key;
  uint64_t payload_offset = 0;
  uint64_t plaintext_size = 0;
  uint64_t chunk_count = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<Context>> contexts;  // guarded by mutex

  Result<std::unique_ptr<Context>> Borrow() {
    {
      const std::scoped_lock lock(mutex);
      if (!contexts.empty()) {
        std::unique_ptr<Context> context = std::move(contexts.back());
        contexts.pop_back();
        return context;
      }
    }
    COFFER_ASSIGN_OR_RETURN(ChunkCipher cipher, ChunkCipher::Create(payload_key));
    return std::make_unique<Context>(std::move(cipher));
  }

  void GiveBack(std::unique_ptr<Context> context) {
    const std::scoped_lock lock(mutex);
    if (contexts.size() < kKeptContexts) contexts.push_back(std::move(context));
  }

  [[nodiscard]] size_t ChunkPlaintextSize(uint64_t index) const {
    return static_cast<size_t>(std::min<uint64_t>(kChunkSize, plaintext_size - index * kChunkSize));
  }

  Status OpenChunk(Context& context, uint64_t index, ByteSpan sealed, MutableByteSpan out) const {
    const ChunkPlace place = index + 1 == chunk_count ? ChunkPlace::kLast : ChunkPlace::kNotLast;
    COFFER_ASSIGN_OR_RETURN(const bool authentic, context.cipher.Open(index, place, sealed, out));
    if (!authentic) return Damaged(key, "chunk " + std::to_string(index) + " is not authentic");
    return OkStatus();
  }

  // The chunks from `first` to `end`, of which the plaintext from `offset` on is wanted in `out`.
  Status ReadChunks(Context& context, uint64_t first, uint64_t end, uint64_t offset,
                    MutableByteSpan out) const;
  Status Read(Context& context, uint64_t offset, MutableByteSpan out) const;
  // Sets what depends on the place of the payload, and proves its last chunk.
  Status Start(uint64_t header_size);
};

Status ObjectReader::Impl::ReadChunks(Context& context, uint64_t first, uint64_t end,
                                      uint64_t offset, MutableByteSpan out) const {
  const size_t sealed_size = static_cast<size_t>(end - first - 1) * kSealedChunkSize +
                             ChunkPlaintextSize(end - 1) + kTagSize;
  if (context.sealed.size() < sealed_size) context.sealed.resize(sealed_size);
  const MutableByteSpan sealed = MutableByteSpan(context.sealed).first(sealed_size);
  COFFER_ASSIGN_OR_RETURN(const size_t count,
                          object->ReadAt(payload_offset + first * kSealedChunkSize, sealed));
  if (count != sealed_size) return Damaged(key, "it is cut off");

  for (uint64_t index = first; index < end; ++index) {
    const size_t size = ChunkPlaintextSize(index);
    const ByteSpan chunk =
        sealed.subspan(static_cast<size_t>(index - first) * kSealedChunkSize, size + kTagSize);
    const uint64_t start = index * kChunkSize;
    const size_t skip = offset > start ? static_cast<size_t>(offset - start) : 0;
    const auto out_offset = static_cast<size_t>(start + skip - offset);
    const size_t wanted = std::min(size - skip, out.size() - out_offset);
    const MutableByteSpan target = out.subspan(out_offset, wanted);
    if (wanted == size) {
      COFFER_TRY(OpenChunk(context, index, chunk, target));
      continue;
    }
    if (context.opened.empty()) context.opened = SecretBuffer(kChunkSize);
    const MutableByteSpan opened = context.opened.ExposeMutable().first(size);
    COFFER_TRY(OpenChunk(context, index, chunk, opened));
    std::ranges::copy(opened.subspan(skip, wanted), target.begin());
  }
  return OkStatus();
}

Status ObjectReader::Impl::Read(Context& context, uint64_t offset, MutableByteSpan out) const {
  while (!out.empty()) {
    const uint64_t first = offset / kChunkSize;
    const uint64_t last = (offset + out.size() - 1) / kChunkSize;
    const uint64_t end = std::min(last + 1, first + kReadAheadChunks);
    const auto size =
        static_cast<size_t>(std::min<uint64_t>(out.size(), end * kChunkSize - offset));
    COFFER_TRY(ReadChunks(context, first, end, offset, out.first(size)));
    offset += size;
    out = out.subspan(size);
  }
  return OkStatus();
}

Status ObjectReader::Impl::Start(uint64_t header_size) {
  const uint64_t size = object->size();
  const std::optional<uint64_t> offset = CheckedAdd<uint64_t>(header_size, kPayloadNonceSize);
  if (size > kMaxObjectSize || !offset || *offset > size) return WrongSize(key, size);
  const std::optional<uint64_t> opened = age::OpenedSize(size - *offset);
  if (!opened) return WrongSize(key, size);
  keys.header_size = header_size;
  payload_offset = *offset;
  plaintext_size = *opened;
  chunk_count = std::max<uint64_t>(
      1, plaintext_size / kChunkSize + (plaintext_size % kChunkSize == 0 ? 0 : 1));

  std::array<uint8_t, kPayloadNonceSize> nonce;
  COFFER_ASSIGN_OR_RETURN(const size_t count, object->ReadAt(header_size, nonce));
  if (count != nonce.size()) return Damaged(key, "it is cut off");
  COFFER_ASSIGN_OR_RETURN(payload_key, age::DerivePayloadKey(keys.file_key, nonce));

  // The last chunk first: where it ends is all that says how long the plaintext is.
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<Context> context, Borrow());
  const uint64_t last = chunk_count - 1;
  SecretBuffer opened_chunk(ChunkPlaintextSize(last));
  COFFER_TRY(ReadChunks(*context, last, last + 1, last * kChunkSize, opened_chunk.ExposeMutable()));
  GiveBack(std::move(context));
  return OkStatus();
}

ObjectReader::ObjectReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ObjectReader::~ObjectReader() = default;

Result<std::unique_ptr<ObjectReader>> ObjectReader::OpenKnown(store::Store& store,
                                                              ObjectClass object_class,
                                                              const KnownObject& known) {
  auto impl = std::make_unique<Impl>();
  impl->key = ObjectKey(object_class, known.id);
  COFFER_ASSIGN_OR_RETURN(impl->object, store.Open(impl->key));
  impl->keys.file_key = known.file_key.Duplicate();
  COFFER_TRY(impl->Start(known.header_size));
  return std::unique_ptr<ObjectReader>(new ObjectReader(std::move(impl)));
}

Result<std::unique_ptr<ObjectReader>> ObjectReader::Open(store::Store& store,
                                                         ObjectClass object_class, const Id& id,
                                                         age::CofferIdentity& identity) {
  auto impl = std::make_unique<Impl>();
  impl->key = ObjectKey(object_class, id);
  COFFER_ASSIGN_OR_RETURN(impl->object, store.Open(impl->key));
  HeaderSource source(*impl->object);
  BufferedReader reader(source);
  Result<age::Header> header = age::ReadHeader(reader);
  if (!header.ok() && header.error().code() == ErrorCode::kHeader) {
    return Damaged(impl->key, header.error().message());
  }
  if (!header.ok()) return std::move(header).error();
  if (header->stanzas.size() != 1 || header->stanzas[0].type != age::kCofferStanzaType) {
    return Error(ErrorCode::kForged,
                 impl->key + " is not encrypted to exactly one coffer recipient");
  }
  Result<std::optional<age::FileKey>> file_key = identity.Unwrap(header->stanzas);
  if (!file_key.ok() && file_key.error().code() == ErrorCode::kHeader) {
    return Damaged(impl->key, file_key.error().message());
  }
  if (!file_key.ok()) return std::move(file_key).error();
  if (!file_key->has_value()) {
    return Error(ErrorCode::kForged, impl->key + " was not made for this vault, or is damaged");
  }
  impl->keys.file_key = std::move(**file_key);
  Status mac = age::VerifyHeaderMac(impl->keys.file_key, *header);
  if (!mac.ok() && mac.error().code() == ErrorCode::kHeaderMac) {
    return Damaged(impl->key, "its header was changed");
  }
  COFFER_TRY(std::move(mac));
  // What parses encodes to the same bytes, so that this is where the payload starts.
  COFFER_TRY(impl->Start(age::EncodeHeader(*header).size()));
  return std::unique_ptr<ObjectReader>(new ObjectReader(std::move(impl)));
}

uint64_t ObjectReader::plaintext_size() const { return impl_->plaintext_size; }
uint64_t ObjectReader::object_size() const { return impl_->object->size(); }

ObjectKeys ObjectReader::keys() const {
  return {.header_size = impl_->keys.header_size, .file_key = impl_->keys.file_key.Duplicate()};
}

Status ObjectReader::ReadAt(uint64_t offset, MutableByteSpan out) {
  const std::optional<uint64_t> end = CheckedAdd<uint64_t>(offset, out.size());
  Status status = OkStatus();
  if (!end || *end > impl_->plaintext_size) {
    status = Damaged(impl_->key, "it ends before what is to be read of it");
  } else {
    COFFER_ASSIGN_OR_RETURN(std::unique_ptr<Impl::Context> context, impl_->Borrow());
    status = impl_->Read(*context, offset, out);
    impl_->GiveBack(std::move(context));
  }
  if (!status.ok()) SecureWipe(out);
  return status;
}

Result<SecretBuffer> ObjectReader::ReadAll(uint64_t limit) {
  const uint64_t size = impl_->plaintext_size;
  if (size > limit) {
    return Error(ErrorCode::kTooLarge, impl_->key + " holds " + std::to_string(size) +
                                           " bytes, and at most " + std::to_string(limit) +
                                           " are expected");
  }
  SecretBuffer all(static_cast<size_t>(size));
  COFFER_TRY(ReadAt(0, all.ExposeMutable()));
  return all;
}

}  // namespace coffer::vault
