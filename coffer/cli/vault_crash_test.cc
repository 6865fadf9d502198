// SPDX-License-Identifier: Apache-2.0
// A vault when the power goes, after every operation: it opens, has nothing to complain of, holds
// all that was acknowledged, and takes another commit. With each sync left out in turn, as the
// negative control: every place that waits for the disk must be missed by one of the scenarios. And
// with each call of the file system failing once.
#include <errno.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coffer/cli/testing/vault_process.h"
#include "coffer/os/random.h"
#include "coffer/os/testing/fault_file_system.h"
#include "coffer/os/testing/matchers.h"
#include "coffer/os/testing/memory_file_system.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/key_file.h"
#include "coffer/vault/key_store.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {
namespace {

using os::MemoryFileSystem;

constexpr uint64_t kSeedCount = 3;
const std::string kState = "/users/me/state";

struct Process : VaultProcess {
  explicit Process(os::FileSystem& on) : VaultProcess(on, kState) {}
};

SecretBuffer Secret(std::string_view text) {
  SecretBuffer secret;
  secret.Append(text);
  return secret;
}

// The vault's first key file; it opens with "old".
const Bytes& FirstKeyFile() {
  static const Bytes bytes = [] {
    const crypto::CofferSeed seed = TestSeed();
    const SecretBuffer passphrase = Secret("old");
    return vault::KeyFile::Create({kTestVaultId, seed, passphrase}, os::SystemRandom())
        ->Encode()
        .value();
  }();
  return bytes;
}

// `key_name`: two attempts have different salts, and so different names.
Status Init(os::FileSystem& files, const std::string& key_name = "first.key") {
  store::LocalStore store(files, "/vault");
  const crypto::CofferSeed seed = TestSeed();
  return vault::InitVault(store, {kTestVaultId, seed, FirstKeyFile(), key_name},
                          os::SystemRandom());
}

// As `coffer passwd` from "old" to "new".
Status ChangePassphrase(os::FileSystem& files) {
  store::LocalStore store(files, "/vault");
  COFFER_ASSIGN_OR_RETURN(const vault::KeyFile old, vault::KeyFile::Parse(FirstKeyFile()));
  const SecretBuffer secret = Secret("new");
  COFFER_ASSIGN_OR_RETURN(const vault::KeyFile replaced,
                          old.ReplaceSlot({TestSeed(), 0}, 0, secret, os::SystemRandom()));
  COFFER_ASSIGN_OR_RETURN(const Bytes bytes, replaced.Encode());
  return vault::ReplaceKeyFile(store, "keys/first.key", bytes, secret);
}

// What was acknowledged.
struct Ledger {
  bool init = false;
  std::map<std::string, std::optional<std::string>> files;  // nothing for one that was removed
  // Which opens: either may, while it is being changed.
  enum class Passphrase : uint8_t { kOld, kEither, kNew } passphrase = Passphrase::kOld;
};

struct Scenario {
  const char* name;
  std::function<void(MemoryFileSystem&, Ledger&)> before;
  std::function<void(os::FileSystem&, Ledger&)> act;
  size_t step = 1;          // between cuts
  size_t failure_step = 1;  // between calls that fail
};

const std::string kBig(30'000, 'b');

void MakeUsers(MemoryFileSystem& files) {
  EXPECT_TRUE(IsOk(files.MakeDirectory("/users", 0755)));
  EXPECT_TRUE(IsOk(files.SyncDirectory("/")));
}

void WithCommits(MemoryFileSystem& files, Ledger& ledger, int count) {
  MakeUsers(files);
  EXPECT_TRUE(IsOk(Init(files)));
  ledger.init = true;
  Process process(files);
  EXPECT_TRUE(IsOk(process.Open()));
  for (int i = 0; i < count; ++i) {
    const std::string name = "old-" + std::to_string(i);
    EXPECT_TRUE(IsOk(process.Add(name, name)));
    EXPECT_TRUE(IsOk(process.vault->Load()));
    ledger.files[name] = name;
  }
}

// Does something to an opened vault, and to the ledger what is certain afterwards.
using Act = std::function<void(os::FileSystem&, Ledger&)>;

void DoAdd(os::FileSystem& files, Ledger& ledger) {
  Process process(files);
  if (process.Open().ok() && process.Add("new", kBig).ok()) ledger.files["new"] = kBig;
}

void DoRemove(os::FileSystem& files, Ledger& ledger) {
  Process process(files);
  if (!process.Open().ok()) return;
  ledger.files.erase("old-1");  // there or not
  if (process.Remove("old-1").ok()) ledger.files["old-1"] = std::nullopt;
}

void DoMove(os::FileSystem& files, Ledger& ledger) {
  Process process(files);
  if (!process.Open().ok()) return;
  ledger.files.erase("old-1");
  if (process.Move("old-1", "moved").ok()) {
    ledger.files["old-1"] = std::nullopt;
    ledger.files["moved"] = "old-1";
  }
}

void DoChangePassphrase(os::FileSystem& files, Ledger& ledger) {
  ledger.passphrase = Ledger::Passphrase::kEither;
  if (ChangePassphrase(files).ok()) ledger.passphrase = Ledger::Passphrase::kNew;
}

std::vector<Scenario> Scenarios() {
  const auto with = [](int count) {
    return [count](MemoryFileSystem& files, Ledger& ledger) { WithCommits(files, ledger, count); };
  };
  return {
      {"Init", [](MemoryFileSystem& files, Ledger&) { MakeUsers(files); },
       [](os::FileSystem& files, Ledger& ledger) { ledger.init = Init(files).ok(); }, 13, 13},
      {"FirstAdd", with(0), DoAdd},
      {"Add", with(2), DoAdd},
      {"AddWithCheckpoint", with(15), DoAdd, 1, 17},
      {"Remove", with(2), DoRemove},
      {"Move", with(2), DoMove},
      {"ChangePassphrase", with(0), DoChangePassphrase, 1, 3},
  };
}

// Whether a key file of the vault opens with a passphrase.
bool Opens(Process& process, std::string_view passphrase) {
  const auto listed = process.store.List("keys");
  if (!listed.ok()) return false;
  return std::ranges::any_of(*listed, [&](const store::ObjectInfo& info) {
    const auto bytes = store::ReadObject(process.store, info.key, 1000);
    return bytes.ok() && vault::ProveKeyFile(*bytes, Secret(passphrase)).ok();
  });
}

std::string ComplaintOfKeys(Process& process, Ledger::Passphrase expected) {
  const bool with_new = expected != Ledger::Passphrase::kOld && Opens(process, "new");
  if (expected == Ledger::Passphrase::kNew && !with_new) return "the new passphrase does not open";
  if (expected == Ledger::Passphrase::kEither && with_new) return "";
  const bool with_old = Opens(process, "old");
  if (expected != Ledger::Passphrase::kNew && !with_old) return "no passphrase opens";
  if (expected == Ledger::Passphrase::kNew && with_old) return "the old passphrase is back";
  return "";
}

enum class Keys : uint8_t { kAreProved, kAreNot };  // which takes a second

// What is wrong with what was left; nothing if all is well.
std::string Complaint(os::FileSystem& left, const Ledger& ledger, Keys keys) {
  if (!ledger.init) {
    // Whatever was left, a second attempt makes a vault of it, or there is one.
    const Status again = Init(left, "second.key");
    if (!again.ok() && again.error().code() != ErrorCode::kAlreadyExists) {
      return "no second init: " + MessageOf(again);
    }
  }
  Process process(left);
  if (const Status opened = process.Open(); !opened.ok()) return MessageOf(opened);
  for (const vault::Finding& finding : process.vault->findings()) {
    return std::string(FindingWord(finding.what)) + ' ' + finding.key + ' ' + finding.message;
  }
  for (const auto& [name, content] : ledger.files) {
    if (content && process.ContentOf(name) != *content) return name + " is lost";
    if (!content && !process.vault->state().Find(name).empty()) return name + " is back";
  }
  if (keys == Keys::kAreProved) {
    std::string complaint = ComplaintOfKeys(process, ledger.passphrase);
    if (!complaint.empty()) return complaint;
  } else if (!process.store.Stat("keys/first.key").ok() &&
             !process.store.Stat("keys/second.key").ok()) {
    return "the key file is lost";
  }
  if (const Status added = process.Add("after", "wards"); !added.ok()) return MessageOf(added);
  if (const Status loaded = process.vault->Load(); !loaded.ok()) return MessageOf(loaded);
  if (!process.vault->findings().empty()) return "a number was used twice";
  return process.ContentOf("after") == "wards" ? "" : "a new file is lost";
}

Keys KeysIn(const Scenario& scenario) {
  return std::string_view(scenario.name) == "ChangePassphrase" ? Keys::kAreProved : Keys::kAreNot;
}

class VaultCrash : public testing::TestWithParam<Scenario> {};

TEST_P(VaultCrash, LosesNothingThatWasAcknowledged) {
  const Scenario& scenario = GetParam();
  size_t cut_count = 0;
  for (size_t n = 0;; n += scenario.step) {
    MemoryFileSystem files;
    Ledger ledger;
    scenario.before(files, ledger);
    files.CutAfter(n);
    scenario.act(files, ledger);
    if (!files.cut()) break;
    ++cut_count;
    for (uint64_t seed = 0; seed <= kSeedCount; ++seed) {
      const auto left = seed == 0 ? files.CrashDroppingUnsynced() : files.CrashKeepingSome(seed);
      ASSERT_EQ(Complaint(*left, ledger, KeysIn(scenario)), "")
          << "after " << n << " operations, seed " << seed;
    }
  }
  EXPECT_GT(cut_count, 8u);
}

// No call that fails loses anything, whatever becomes of the command; and what it left is no
// obstacle to the next one.
TEST_P(VaultCrash, SurvivesEveryFailure) {
  const Scenario& scenario = GetParam();
  size_t failure_count = 0;
  for (const int error : {EIO, ENOSPC}) {
    for (size_t n = 1;; n += scenario.failure_step) {
      MemoryFileSystem memory;
      os::FaultFileSystem files(memory);
      Ledger ledger;
      scenario.before(memory, ledger);
      files.FailNthOfAny(n, error);
      scenario.act(files, ledger);
      if (!files.struck()) break;
      ++failure_count;
      ASSERT_EQ(Complaint(memory, ledger, KeysIn(scenario)), "") << "call " << n << ' ' << error;
      // What was acknowledged although something failed is durable all the same.
      const auto left = memory.CrashDroppingUnsynced();
      ASSERT_EQ(Complaint(*left, ledger, KeysIn(scenario)), "") << "call " << n << ' ' << error;
    }
  }
  EXPECT_GT(failure_count, 8u);
}

INSTANTIATE_TEST_SUITE_P(Each, VaultCrash, testing::ValuesIn(Scenarios()),
                         [](const auto& one) { return std::string(one.param.name); });

// Where a sync was: a kind of file or directory, whatever its name.
std::string SiteOf(const std::string& path) {
  if (path.starts_with("/vault/tmp/")) return "an upload";
  if (path == "/vault/.." || path == "/") return "what is above the vault";
  if (path.starts_with("/vault/")) return "a directory of the vault";
  if (path == "/vault") return "the vault";
  if (path.starts_with(kState + "/")) return "a file of the state";
  return path == kState ? "the state" : "what is above the state";
}

// Whether the machine misses its commits if somebody takes all of them away.
std::string ComplaintOfMemory(os::FileSystem& left) {
  store::LocalStore store(left, "/vault");
  const auto listed = store.List("commits");
  if (!listed.ok()) return MessageOf(listed);
  for (const store::ObjectInfo& info : *listed) {
    if (const Status removed = store.Remove(info.key); !removed.ok()) return MessageOf(removed);
  }
  Process process(left);
  if (const Status opened = process.Open(); !opened.ok()) return MessageOf(opened);
  return process.vault->findings().empty() ? "a commit that is gone is not missed" : "";
}

// What is wrong if sync `n` of a scenario does nothing and the power goes after some operations;
// nothing if the scenario has no such sync.
struct Control {
  std::string site;
  std::string complaint;
};

std::optional<Control> LeaveOutSync(const Scenario& scenario, size_t n,
                                    std::optional<size_t> operations) {
  MemoryFileSystem memory;
  os::FaultFileSystem files(memory);
  Ledger ledger;
  scenario.before(memory, ledger);
  files.SkipNthSync(n);
  if (operations) memory.CutAfter(*operations);
  scenario.act(files, ledger);
  if (!files.struck() || (operations && !memory.cut())) return std::nullopt;
  const auto left = memory.CrashDroppingUnsynced();
  Control control{SiteOf(files.skipped_path()), Complaint(*left, ledger, KeysIn(scenario))};
  if (control.complaint.empty() && ledger.files.contains("new")) {
    control.complaint = ComplaintOfMemory(*memory.CrashDroppingUnsynced());
  }
  return control;
}

// The power goes at the end of each scenario, and in that of an add after every operation as well:
// what a machine remembers of a commit counts only until it has confirmed it.
TEST(VaultNegativeControl, EveryKindOfSyncIsMissed) {
  std::map<std::string, std::set<std::string>> complaints;  // by site
  const auto note = [&](const Scenario& scenario, const Control& control) {
    auto& of_site = complaints[control.site];
    if (!control.complaint.empty()) of_site.insert(scenario.name + (": " + control.complaint));
  };
  for (const Scenario& scenario : Scenarios()) {
    size_t n = 1;
    while (const auto control = LeaveOutSync(scenario, n, std::nullopt)) {
      note(scenario, *control);
      ++n;
    }
    EXPECT_GE(n, 3u) << scenario.name;
    if (std::string_view(scenario.name) != "Add") continue;
    for (size_t skipped = 1; skipped < n; ++skipped) {
      for (size_t operations = 1; operations < 200; operations += 3) {
        const auto control = LeaveOutSync(scenario, skipped, operations);
        if (control) note(scenario, *control);
      }
    }
  }
  for (const auto& [site, missed] : complaints) {
    EXPECT_FALSE(missed.empty()) << "nothing is lost without the sync of " << site;
  }
  EXPECT_GE(complaints.size(), 5u);
}

}  // namespace
}  // namespace coffer::cli
