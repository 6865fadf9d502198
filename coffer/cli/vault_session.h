// SPDX-License-Identifier: Apache-2.0
// An open vault, and what its commands share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coffer/base/result.h"
#include "coffer/cli/console.h"
#include "coffer/cli/vault_options.h"
#include "coffer/cli/vault_unlock.h"
#include "coffer/local/installation.h"
#include "coffer/store/local_store.h"
#include "coffer/vault/vault.h"

namespace coffer::cli {

struct VaultSession {
  std::string path;
  std::unique_ptr<store::LocalStore> store;
  std::unique_ptr<local::FileInstallation> installation;
  std::unique_ptr<vault::Vault> vault;
  ExitCode exit_code = ExitCode::kOk;  // what the findings so far ask for

  [[nodiscard]] const vault::State& state() const { return vault->state(); }
};

// Whether opening says what is wrong, or leaves that to the command.
enum class Reporting : uint8_t { kSay, kLeave };

// Unlocks the vault and loads it. What is wrong in it is said on standard error.
Result<std::unique_ptr<VaultSession>> OpenVault(const VaultTarget& target,
                                                Reporting reporting = Reporting::kSay);

// Says what was found, and how a command ends that found it.
ExitCode ReportFindings(std::span<const vault::Finding> findings);
// The graver of two ends: damage, then failure, then done in part.
ExitCode Graver(ExitCode a, ExitCode b);

// A commit by the first digits of its id: kNotFound, or kInvalidArgument if several begin so.
Result<const vault::CommitInfo*> FindCommit(const vault::State& state, std::string_view digits);
// The state at a time or commit, as --at says.
Result<vault::State> StateAtText(vault::Vault& vault, const std::string& text);

// The first digits of an id that messages show.
std::string ShortId(ByteSpan id);
// NAME@WRITER:SEQ.
std::string VersionName(const vault::State& state, const vault::Version& version);

// The live versions that a name stands for, current ones only: the name itself and what is below
// it, or the one version of NAME@WRITER:SEQ. kNotFound if there is none.
Result<std::vector<const vault::Version*>> Select(const vault::State& state,
                                                  const std::string& name);

}  // namespace coffer::cli
