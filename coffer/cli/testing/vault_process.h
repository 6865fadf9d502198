// SPDX-License-Identifier: Apache-2.0
// A process with a vault open, for tests: what the commands do, on any file system and by any
// clock.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "coffer/base/io.h"
#include "coffer/local/installation.h"
#include "coffer/os/clock.h"
#include "coffer/os/file_system.h"
#include "coffer/os/random.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/content_reader.h"
#include "coffer/vault/content_writer.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {

inline const vault::VaultId kTestVaultId = {7};

inline crypto::CofferSeed TestSeed() {
  crypto::CofferSeed seed;
  seed.ExposeMutable()[0] = 1;
  return seed;
}

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : rest_(AsBytes(text)) {}
  Result<size_t> Read(MutableByteSpan out) override {
    const size_t size = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), size, out.begin());
    rest_ = rest_.subspan(size);
    return size;
  }

 private:
  ByteSpan rest_;
};

// The vault is in /vault; `state` is the directory of the machine's memory of it.
struct VaultProcess {
  VaultProcess(os::FileSystem& files_in, std::string state_in,
               os::Clock& clock_in = os::SystemClock())
      : files(files_in), state(std::move(state_in)), clock(clock_in), store(files_in, "/vault") {}

  Status Open() {
    COFFER_ASSIGN_OR_RETURN(installation,
                            local::FileInstallation::Open(
                                files, {.directory = state, .machine_id_path = "/machine-id"}));
    const vault::VaultContext context{store, *installation, clock, os::SystemRandom()};
    COFFER_ASSIGN_OR_RETURN(vault, vault::Vault::Open(context, TestSeed(), kTestVaultId));
    return vault->Load();
  }

  Status Add(const std::string& name, std::string_view content) {
    COFFER_TRY(store.Prepare({}));
    vault::PieceCatalogue catalogue;
    const crypto::CofferSeed seed = TestSeed();
    const vault::SegmentAuthor author{kTestVaultId, installation->writer(), vault::kOwnerCapability,
                                      &seed};
    COFFER_ASSIGN_OR_RETURN(
        const auto writer,
        vault::ContentWriter::Create(store, vault->recipient(), os::SystemRandom(), author,
                                     vault->state().segments(), catalogue, {.thread_count = 1}));
    TextSource source(content);
    COFFER_ASSIGN_OR_RETURN(const size_t ticket, writer->Add(source));
    COFFER_TRY(writer->Flush());
    vault::StoredContent stored = writer->Take(ticket);
    vault::Entry entry;
    entry.path = name;
    entry.size = content.size();
    entry.content_hash = stored.content_hash;
    entry.blobs = std::move(stored.blobs);
    vault::Draft draft;
    draft.entries.push_back(std::move(entry));
    return Commit(std::move(draft));
  }

  Status Remove(const std::string& name) {
    vault::Draft draft;
    draft.removals.push_back(name);
    return Commit(std::move(draft));
  }

  Status Move(const std::string& from, const std::string& to) {
    vault::Draft draft;
    draft.removals.push_back(from);
    draft.entries.push_back(vault->state().Find(from).front().entry);
    draft.entries.back().path = to;
    return Commit(std::move(draft));
  }

  Status Commit(vault::Draft draft) {
    const Result<vault::Vault::Committed> committed =
        vault->Commit(std::move(draft), /*padding=*/true);
    return committed.ok() ? OkStatus() : Status(committed.error());
  }

  // Of the current version of a name, or what is wrong with it.
  std::string ContentOf(std::string_view name) {
    const auto versions = vault->state().Find(name);
    if (versions.empty()) return "not there";
    vault::ContentReader reader(store, vault->state().segments());
    std::string content;
    const Status read = reader.Read(versions.front().entry, [&](uint64_t, ByteSpan bytes) {
      content += AsText(bytes);
      return OkStatus();
    });
    return read.ok() ? content : read.error().message();
  }

  os::FileSystem& files;
  std::string state;
  os::Clock& clock;
  store::LocalStore store;
  std::unique_ptr<local::FileInstallation> installation;
  std::unique_ptr<vault::Vault> vault;
};

}  // namespace coffer::cli
