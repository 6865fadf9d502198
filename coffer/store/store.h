// SPDX-License-Identifier: Apache-2.0
// A store: named objects, opaque and immutable, in a flat namespace of keys. It knows nothing of
// what is in them. Objects come into being whole and durable or not at all; there is no rename,
// append or change in place, so that a local directory, a server of objects and memory can all do
// what is promised here. One conformance suite holds them to it (store_conformance_test.cc).
//
//   COFFER_ASSIGN_OR_RETURN(auto upload, store.Begin(size));
//   COFFER_TRY(upload->Write(bytes));
//   COFFER_TRY(upload->Finish("segments/ab/abcd"));
//   uploads.push_back(std::move(upload));
//   COFFER_TRY(store.Publish(std::move(uploads)));
//
// Keys are one to four components, separated by '/', each of 1 to 128 characters of A-Z a-z 0-9 . _
// and -, and neither "." nor ".."; the first is not "tmp", which is the store's own. Any other key
// is kInvalidArgument.
//
// Errors name the object or the store; kNotFound and kAlreadyExists are used for objects only as
// said below. Where the system refused, system_errno() says why: ENOSPC and EDQUOT are a full disk.
//
// All calls of a Store may come from several threads at once; Prepare, Publish, Settle and Remove
// wait for each other. An Upload is used by one thread at a time. Nothing that a store gave out
// outlives it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coffer/base/bytes.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/os/file_time.h"

namespace coffer::store {

inline constexpr size_t kMaxComponentSize = 128;
inline constexpr size_t kMaxComponentCount = 4;

// The first component that no key has: below it a store keeps what is not published.
inline constexpr std::string_view kReservedComponent = "tmp";

bool IsValidKey(std::string_view key);

// An object that is being made. Whatever was not published is gone with the Upload.
//
// On a local store each one holds a file descriptor until it is published: publish them by the
// dozen, not by the thousand.
class Upload : public ByteSink {
 public:
  // Takes the next bytes, and starts to write out what has gathered. After a failure the upload can
  // only be destroyed.
  Status Write(ByteSpan bytes) override = 0;

  // The object is complete, and its key is to be `key`. Called once, and no Write after it. Whether
  // the key is free only Publish says. After a failure the upload can only be destroyed.
  virtual Status Finish(std::string_view key) = 0;

  // How many bytes were written.
  [[nodiscard]] virtual uint64_t size() const = 0;
  // As given to Finish; empty before.
  [[nodiscard]] virtual const std::string& key() const = 0;
};

// The content of an object, of a size that does not change. A read that finds less than there was
// when the object was opened is an error, never a short count. Several threads may read at once.
class StoredObject : public RandomAccessSource {
 public:
  [[nodiscard]] uint64_t size() const override = 0;
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override = 0;
};

enum class EntryKind : uint8_t {
  kObject,
  kDirectory,  // only on stores that have such a thing; what Prepare made is among them
  kStranger,   // what no store makes: a name that is no key, a symbolic link, a device, ...
};

struct ObjectInfo {
  std::string key;  // raw bytes, if it is a stranger
  EntryKind kind = EntryKind::kObject;
  uint64_t size = 0;  // 0 unless it is an object
  os::FileTime modified;
};

class Store {
 public:
  virtual ~Store() = default;

  // Makes what the store needs for keys directly below each of `prefixes`, e.g. "commits" or
  // "segments/ab", each of which is a valid key of at most three components; and, even for none,
  // what it needs for itself and for keys of one component. All of it is on stable storage when
  // this succeeds. May be called again at any time; a process that publishes calls it first, since
  // another one may have been stopped half-way through. Without it Begin and Publish may fail.
  // Prefixes that got lost since, Publish makes anew where it needs them.
  virtual Status Prepare(std::span<const std::string> prefixes) = 0;

  // Starts an object. `expected_size` is a hint; on a full disk this may fail in place of a Write.
  virtual Result<std::unique_ptr<Upload>> Begin(std::optional<uint64_t> expected_size) = 0;

  // Gives finished uploads of this store their keys, in their order. When it succeeds, all of them
  // are on stable storage under their keys, and so is all that was published before: a later
  // Publish never becomes durable before an earlier one.
  //
  // kAlreadyExists if a key is taken, also by an upload of the same call; the object that was there
  // is untouched. After any failure the first few uploads may be visible under their keys, each of
  // them whole, and the rest is gone.
  //
  // After a failure to make names durable, and no other, here or in Prepare, Settle or Remove, the
  // store takes no more changes: what a second attempt would report about the first is guesswork.
  virtual Status Publish(std::vector<std::unique_ptr<Upload>> uploads) = 0;

  // Makes sure that objects are durable that this store did not publish itself: an interrupted or
  // concurrent process may have made them visible and no more. To be called before an object that
  // refers to them is published. kNotFound if one is not there.
  virtual Status Settle(std::span<const std::string> keys) = 0;

  // kNotFound if there is no such object. What is at its place and is not an object is kIo.
  virtual Result<std::unique_ptr<StoredObject>> Open(std::string_view key) = 0;
  virtual Result<ObjectInfo> Stat(std::string_view key) = 0;

  // All there is below `prefix`, a valid key of at most three components, or everything if it is
  // empty; sorted by key. What is not an object is listed as what it is, never left out. Nothing
  // below a prefix is no error. What is published or removed in the meantime may be listed or not.
  virtual Result<std::vector<ObjectInfo>> List(std::string_view prefix) = 0;

  // Removes objects, durably when it succeeds, in no order. If one is not there this is kNotFound,
  // and the others are removed all the same. What is at a key's place and is not an object is kIo.
  virtual Status RemoveAll(std::span<const std::string> keys) = 0;
  Status Remove(const std::string& key) { return RemoveAll({&key, 1}); }

  // Removes what interrupted processes left of uploads and is at least `age` old. Uploads of living
  // processes are safe at any age.
  virtual Status Sweep(std::chrono::seconds age) = 0;

  // What a status command should show: sentences about what this store cannot promise, as far as
  // calls so far have met it. Prepare with no prefixes meets all of it.
  [[nodiscard]] virtual std::vector<std::string> Warnings() const = 0;
};

// The content of a small object, or its first `limit` bytes.
Result<Bytes> ReadObject(Store& store, std::string_view key, size_t limit);

// An object of `content`, finished under `key`, to be published.
Result<std::unique_ptr<Upload>> MakeObject(Store& store, std::string_view key, ByteSpan content);

}  // namespace coffer::store
