// SPDX-License-Identifier: Apache-2.0
// A vault in a store: opening it, its state, and changing it (docs/format/vault.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coffer/age/coffer_recipient.h"
#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/crypto/coffer_kem.h"
#include "coffer/os/clock.h"
#include "coffer/os/random.h"
#include "coffer/store/store.h"
#include "coffer/vault/findings.h"
#include "coffer/vault/installation.h"
#include "coffer/vault/object.h"
#include "coffer/vault/records.h"
#include "coffer/vault/state.h"
#include "coffer/vault/vault_file.h"

namespace coffer::vault {

struct NewVault {
  VaultId id{};
  const crypto::CofferSeed& seed;
  Bytes key_file;
  // The key file's name in keys/; nothing if it is kept elsewhere.
  std::optional<std::string> key_file_name;
};

// Makes a vault. Before it has `coffer-vault`, which comes last, nothing is a vault, and what an
// interrupted attempt left is built upon. kAlreadyExists if there is one.
Status InitVault(store::Store& store, const NewVault& vault, os::Random& random);

// kNotFound if the store has no vault.
Result<Bytes> ReadVaultFile(store::Store& store);

// Where a vault lives, and with whose help. All of it outlives the vault.
struct VaultContext {
  store::Store& store;
  Installation& installation;
  os::Clock& clock;
  os::Random& random;
};

// What is to become a commit. Paths are in no order.
struct Draft {
  FileTime scan_started;
  std::vector<Entry> entries;         // blobs refer to the state's segments; replaces are set here
  std::vector<std::string> removals;  // paths, all live versions of each
  std::vector<Pin> pins;
  std::optional<std::string> remark;
  // Objects this process refers to and did not publish: made durable first.
  std::vector<std::string> keys_to_settle;
};

class Vault {
 public:
  // Verifies coffer-vault against the seed: kForged if its recipient was changed.
  static Result<std::unique_ptr<Vault>> Open(const VaultContext& context,
                                             const crypto::CofferSeed& seed, const VaultId& id);

  // Reads checkpoints and commits. What is damaged, forged or not there is a finding and does not
  // end the loading; an error is only what says nothing about the vault.
  Status Load();

  [[nodiscard]] const VaultId& id() const { return id_; }
  [[nodiscard]] const crypto::CofferSeed& seed() const { return seed_; }
  [[nodiscard]] store::Store& store() { return context_.store; }
  [[nodiscard]] const State& state() const { return *state_; }
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  // How many objects were opened by decapsulation since Open.
  [[nodiscard]] size_t decapsulation_count() const { return decapsulation_count_; }
  // The recipient of new objects.
  [[nodiscard]] const age::CofferRecipient& recipient() const { return *recipient_; }
  [[nodiscard]] age::CofferIdentity& identity() { return identity_; }

  // kNeedsNewer if a newer coffer has written to the vault.
  [[nodiscard]] Status CheckWritable() const;

  struct Committed {
    Id id{};
    uint64_t seq = 0;
    std::vector<std::string> warnings;  // of a checkpoint that could not be written
  };
  // Publishes a commit, which is on stable storage when this succeeds, and a checkpoint if it is
  // time for one. The state then has it. All segments that entries refer to were published before.
  Result<Committed> Commit(Draft draft, bool padding);

  // The state of the commits up to a time, or up to a commit, in their order (time, id).
  struct Moment {
    FileTime time;
    std::optional<Id> commit;
  };
  Result<State> StateAt(const Moment& moment);

  // Reads every commit of the state, in no order. One that cannot be read is a finding, and left
  // out.
  using CommitVisitor = std::function<void(const CommitInfo& info, const vault::Commit& commit)>;
  Status VisitCommits(const CommitVisitor& visit);

 private:
  struct Loading;
  struct OwnCommit {
    Id id{};
    uint64_t header_size = 0;
    age::FileKey file_key;
  };

  Vault(const VaultContext& context, crypto::CofferSeed seed, const VaultId& id,
        age::CofferIdentity identity);

  void LoadCheckpoints(Loading& loading, std::vector<store::ObjectInfo> listed);
  Status AddCheckpoint(Loading& loading, Checkpoint checkpoint, int depth);
  Status LoadCommits(Loading& loading, std::vector<store::ObjectInfo> listed);
  Status LoadCommit(Loading& loading, const Id& id);
  Result<SecretBuffer> ReadRecord(ObjectClass object_class, const Id& id, const ObjectKeys* known,
                                  ObjectKeys* keys);
  Result<vault::Commit> ReadCommit(const CommitInfo& info);
  void AddFinding(FindingClass what, std::string key, std::string message);
  Status FindAbsences(const Loading& loading);
  Status Remember();

  Result<uint64_t> NextSeq(Turn& turn);
  Result<vault::Commit> MakeCommit(Draft& draft, uint64_t seq,
                                   const std::optional<SeenCommit>& last) const;
  Status WriteCheckpoint(bool padding);

  VaultContext context_;
  crypto::CofferSeed seed_;
  VaultId id_;
  age::CofferIdentity identity_;
  std::unique_ptr<age::CofferRecipient> recipient_;
  // One for all states, so that numbers of segments stay right when one is loaded anew.
  std::shared_ptr<SegmentTable> segments_ = std::make_shared<SegmentTable>();
  std::unique_ptr<State> state_;
  std::vector<Finding> findings_;
  size_t decapsulation_count_ = 0;
};

// From how many commits on that no checkpoint covers one is written.
inline constexpr size_t kCheckpointInterval = 16;

}  // namespace coffer::vault
