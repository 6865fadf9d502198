// SPDX-License-Identifier: Apache-2.0
// The objects of a vault: age files to its recipient, named by their SHA-256 (docs/format/vault.md,
// "Names", "Objects").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "coffer/age/coffer_recipient.h"
#include "coffer/age/keys.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"
#include "coffer/os/random.h"
#include "coffer/store/store.h"
#include "coffer/vault/entry.h"
#include "coffer/vault/records.h"

namespace coffer::vault {

enum class ObjectClass : uint8_t { kSegment, kCommit, kCheckpoint };

// "segments/ab/<hex>", "commits/<hex>", "checkpoints/<hex>".
std::string ObjectKey(ObjectClass object_class, const Id& id);
// The id that a key of that class names; nothing if it is no such key.
std::optional<Id> IdOfKey(ObjectClass object_class, std::string_view key);

// A finished object that waits to be published.
struct SealedObject {
  std::unique_ptr<store::Upload> upload;
  Id id{};
  uint64_t object_size = 0;
  uint64_t header_size = 0;
  age::FileKey file_key;
};

// Encrypts one object as it is written. One per thread.
class ObjectWriter final : public ByteSink {
 public:
  // Draws the file key and encapsulates once. `plaintext_size` is a hint for the store.
  static Result<std::unique_ptr<ObjectWriter>> Begin(store::Store& store,
                                                     const age::CofferRecipient& recipient,
                                                     os::Random& random,
                                                     std::optional<uint64_t> plaintext_size);
  ~ObjectWriter() override;
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;

  Status Write(ByteSpan plaintext) override;
  [[nodiscard]] uint64_t plaintext_size() const;
  // Completes the object. Called once; afterwards the writer can only be destroyed.
  Result<SealedObject> Finish(ObjectClass object_class);

 private:
  struct Impl;
  explicit ObjectWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A whole object from its plaintext, padded with zeros if `padding`.
Result<SealedObject> SealObject(store::Store& store, const age::CofferRecipient& recipient,
                                os::Random& random, ObjectClass object_class, ByteSpan plaintext,
                                bool padding);

// What opening an object without knowing its file key finds out.
struct ObjectKeys {
  uint64_t header_size = 0;
  age::FileKey file_key;
};

// Random access to the plaintext of an object. Several threads may read at once.
class ObjectReader {
 public:
  // kNotFound if there is no such object; kDamaged for what does not open under the file key, or is
  // not of the size that it should have.
  static Result<std::unique_ptr<ObjectReader>> OpenKnown(store::Store& store,
                                                         ObjectClass object_class,
                                                         const KnownObject& known);
  // By decapsulation: kDamaged if header or payload are damaged, kForged if the header is not
  // exactly one coffer stanza or the object was not made for `identity`.
  static Result<std::unique_ptr<ObjectReader>> Open(store::Store& store, ObjectClass object_class,
                                                    const Id& id, age::CofferIdentity& identity);
  ~ObjectReader();
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;

  [[nodiscard]] uint64_t plaintext_size() const;
  [[nodiscard]] uint64_t object_size() const;
  // A copy of what opens it.
  [[nodiscard]] ObjectKeys keys() const;

  // Fills `out` from `offset`. kDamaged with the object's key in the message if a chunk is not
  // authentic, or if the plaintext ends before.
  Status ReadAt(uint64_t offset, MutableByteSpan out);
  // All of it; kTooLarge beyond `limit` bytes.
  Result<SecretBuffer> ReadAll(uint64_t limit);

 private:
  struct Impl;
  explicit ObjectReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace coffer::vault
