// SPDX-License-Identifier: Apache-2.0
// A vault when the power goes, after every operation: it opens, has nothing to complain of, holds
// all that was acknowledged, and takes another commit.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/base/io.h"
#include "coffer/local/installation.h"
#include "coffer/os/clock.h"
#include "coffer/os/random.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/content_reader.h"
#include "coffer/vault/content_writer.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {
namespace {

using os::MemoryFileSystem;

constexpr uint64_t kSeedCount = 3;
const vault::VaultId kId = {7};

crypto::CofferSeed Seed() {
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

// A process with the vault open, on a file system whose power may go.
struct Process {
  explicit Process(os::FileSystem& files)
      : store(files, "/vault"),
        installation(local::FileInstallation::Open(
                         files, {.directory = "/state", .machine_id_path = "/machine-id"})
                         .value()) {}

  Status Open() {
    const vault::VaultContext context{store, *installation, os::SystemClock(), os::SystemRandom()};
    COFFER_ASSIGN_OR_RETURN(vault, vault::Vault::Open(context, Seed(), kId));
    return vault->Load();
  }

  Status Add(const std::string& name, std::string_view content) {
    COFFER_TRY(store.Prepare({}));
    vault::PieceCatalogue catalogue;
    const crypto::CofferSeed seed = Seed();
    const vault::SegmentAuthor author{kId, installation->writer(), vault::kOwnerCapability, &seed};
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

  Status Commit(vault::Draft draft) {
    const Result<vault::Vault::Committed> committed =
        vault->Commit(std::move(draft), /*padding=*/true);
    return committed.ok() ? OkStatus() : Status(committed.error());
  }

  store::LocalStore store;
  std::unique_ptr<local::FileInstallation> installation;
  std::unique_ptr<vault::Vault> vault;
};

// `key_name`: each attempt has a key file of its own, for it draws its salts.
Status Init(os::FileSystem& files, const std::string& key_name = "first.key") {
  store::LocalStore store(files, "/vault");
  const crypto::CofferSeed seed = Seed();
  return vault::InitVault(store, {kId, seed, Bytes(212, 1), key_name}, os::SystemRandom());
}

// What was acknowledged: names and contents, and nothing for a name that was removed.
using Ledger = std::map<std::string, std::optional<std::string>>;

struct Scenario {
  const char* name;
  std::function<void(MemoryFileSystem&, Ledger&)> before;
  std::function<void(os::FileSystem&, Ledger&)> act;
  size_t step = 1;  // between cuts
};

const std::string kBig(30'000, 'b');

void WithCommits(MemoryFileSystem& files, Ledger& ledger, int count) {
  EXPECT_TRUE(IsOk(Init(files)));
  Process process(files);
  EXPECT_TRUE(IsOk(process.Open()));
  for (int i = 0; i < count; ++i) {
    const std::string name = "old-" + std::to_string(i);
    EXPECT_TRUE(IsOk(process.Add(name, name)));
    EXPECT_TRUE(IsOk(process.vault->Load()));
    ledger[name] = name;
  }
}

std::vector<Scenario> Scenarios() {
  const auto with = [](int count) {
    return [count](MemoryFileSystem& files, Ledger& ledger) { WithCommits(files, ledger, count); };
  };
  const auto add = [](os::FileSystem& files, Ledger& ledger) {
    Process process(files);
    if (process.Open().ok() && process.Add("new", kBig).ok()) ledger["new"] = kBig;
  };
  return {
      {"Init", [](MemoryFileSystem&, Ledger&) {},
       [](os::FileSystem& files, Ledger& ledger) {
         if (Init(files).ok()) ledger["."] = std::nullopt;
       },
       13},
      {"FirstAdd", with(0), add},
      {"Add", with(2), add},
      {"AddWithCheckpoint", with(15), add},
      {"Remove", with(2),
       [](os::FileSystem& files, Ledger& ledger) {
         Process process(files);
         if (process.Open().ok() && process.Remove("old-1").ok()) {
           ledger["old-1"] = std::nullopt;
         } else {
           ledger.erase("old-1");  // there or not
         }
       }},
  };
}

std::string ContentOf(Process& process, std::string_view name) {
  const auto versions = process.vault->state().Find(name);
  if (versions.size() != 1) return "not there";
  vault::ContentReader reader(process.store, process.vault->state().segments());
  std::string content;
  const Status read = reader.Read(versions.front().entry, [&](uint64_t, ByteSpan bytes) {
    content += AsText(bytes);
    return OkStatus();
  });
  return read.ok() ? content : read.error().message();
}

void ExpectAllIsWell(MemoryFileSystem& left, const Ledger& ledger, bool is_init) {
  if (is_init && !ledger.contains(".")) {
    // Whatever was left, a second attempt makes a vault of it, or there is one.
    const Status again = Init(left, "second.key");
    EXPECT_TRUE(again.ok() || again.error().code() == ErrorCode::kAlreadyExists)
        << MessageOf(again);
  }
  Process process(left);
  ASSERT_TRUE(IsOk(process.Open()));
  for (const vault::Finding& finding : process.vault->findings()) {
    ADD_FAILURE() << FindingWord(finding.what) << ' ' << finding.key << ' ' << finding.message;
  }
  for (const auto& [name, content] : ledger) {
    if (name == ".") continue;
    if (content) {
      EXPECT_EQ(ContentOf(process, name), *content) << name;
    } else {
      EXPECT_TRUE(process.vault->state().Find(name).empty()) << name;
    }
  }
  ASSERT_TRUE(IsOk(process.Add("after", "wards")));
  ASSERT_TRUE(IsOk(process.vault->Load()));
  EXPECT_TRUE(process.vault->findings().empty());  // no number was used twice
  EXPECT_EQ(ContentOf(process, "after"), "wards");
}

class VaultCrash : public testing::TestWithParam<Scenario> {};

TEST_P(VaultCrash, LosesNothingThatWasAcknowledged) {
  const Scenario& scenario = GetParam();
  const bool is_init = std::string(scenario.name) == "Init";
  size_t cut_count = 0;
  for (size_t n = 0;; n += scenario.step) {
    MemoryFileSystem files;
    Ledger ledger;
    scenario.before(files, ledger);
    files.CutAfter(n);
    scenario.act(files, ledger);
    if (!files.cut()) break;
    ++cut_count;
    SCOPED_TRACE("after " + std::to_string(n) + " operations");
    for (uint64_t seed = 0; seed <= kSeedCount; ++seed) {
      const auto left = seed == 0 ? files.CrashDroppingUnsynced() : files.CrashKeepingSome(seed);
      ExpectAllIsWell(*left, ledger, is_init);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(cut_count, 8u);
}

INSTANTIATE_TEST_SUITE_P(Each, VaultCrash, testing::ValuesIn(Scenarios()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace coffer::cli
