// SPDX-License-Identifier: Apache-2.0
// What this machine remembers of a vault: which writer it is, how far it has counted, and what it
// has seen. None of it is needed to read a vault; with it a vault that lost its newest commits, or
// came back from an older copy, is noticed. coffer/local keeps it in files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "coffer/base/result.h"
#include "coffer/vault/entry.h"
#include "coffer/vault/records.h"

namespace coffer::vault {

struct SeenCommit {
  WriterId writer{};
  uint64_t seq = 0;
  Id id{};

  auto operator<=>(const SeenCommit&) const = default;
};

// Something that is referred to and not there.
struct Absence {
  Id id{};            // zeros if only the number is known
  WriterId writer{};  // zeros for objects that are not commits
  uint64_t seq = 0;

  auto operator<=>(const Absence&) const = default;
};

struct FirstNoticed {
  Absence absence;
  FileTime when;
};

// The right to make this writer's next commit: one holder at a time on this machine.
class Turn {
 public:
  virtual ~Turn() = default;

  // This writer's latest commit that is known to be published; nothing before the first.
  [[nodiscard]] virtual std::optional<SeenCommit> last() const = 0;
  // A commit that was about to be published when the holder of an earlier turn stopped. Whether it
  // was shows in the store; Confirm it or Record another one over it.
  [[nodiscard]] virtual std::optional<SeenCommit> intended() const = 0;

  // Puts on stable storage what is about to be published.
  virtual Status Record(uint64_t seq, const Id& id) = 0;
  // What was recorded is published. Need not be durable at once.
  virtual Status Confirm() = 0;
};

class Installation {
 public:
  virtual ~Installation() = default;

  [[nodiscard]] virtual const WriterId& writer() const = 0;
  // Waits for its turn. The turn ends with the object.
  virtual Result<std::unique_ptr<Turn>> TakeTurn() = 0;

  // The newest commit of each writer that this machine has seen, ascending by writer.
  [[nodiscard]] virtual std::vector<SeenCommit> Seen() const = 0;
  // When each absence was first noticed: what `now` has counts for those that are new. Those that
  // are not in `now` are forgotten.
  virtual Result<std::vector<FirstNoticed>> NoteAbsences(std::span<const FirstNoticed> now) = 0;
  // Advances what was seen; a writer's number never goes back.
  virtual Status Remember(std::span<const SeenCommit> newest) = 0;
};

}  // namespace coffer::vault
