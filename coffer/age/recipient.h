// SPDX-License-Identifier: Apache-2.0
// What wraps a file key, and what unwraps it (C2SP age.md, "Recipient stanza").
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coffer/age/header.h"
#include "coffer/age/keys.h"
#include "coffer/base/result.h"
#include "coffer/os/random.h"

namespace coffer::age {

// Properties of a recipient that all recipients of a file must share, so that the strongest of them
// is not undone by the weakest.
using Labels = std::set<std::string>;

inline constexpr std::string_view kPostQuantumLabel = "postquantum";

struct WrappedFileKey {
  std::vector<Stanza> stanzas;
  Labels labels;
};

// Public: able to encrypt to, not to decrypt.
class Recipient {
 public:
  virtual ~Recipient() = default;
  virtual Result<WrappedFileKey> Wrap(const FileKey& file_key, os::Random& random) const = 0;
  // As it is given on a command line; empty if it has no such form.
  [[nodiscard]] virtual std::string ToString() const = 0;
};

using Recipients = std::vector<std::unique_ptr<Recipient>>;

class Identity {
 public:
  virtual ~Identity() = default;

  // The file key, if one of the stanzas is for this identity; nothing if none is. kHeader for a
  // stanza of its type that is malformed, even if another one would open: a sender who is confused
  // or hostile is not helped by guessing.
  virtual Result<std::optional<FileKey>> Unwrap(std::span<const Stanza> stanzas) = 0;

  // The public side, to encrypt to oneself. kInvalidArgument if there is none.
  virtual Result<std::unique_ptr<Recipient>> ToRecipient() const = 0;

  // Those of all the identities that this one stands for: of a file, or just its own.
  virtual Result<Recipients> ToRecipients() {
    COFFER_ASSIGN_OR_RETURN(std::unique_ptr<Recipient> recipient, ToRecipient());
    Recipients recipients;
    recipients.push_back(std::move(recipient));
    return recipients;
  }
};

using Identities = std::vector<std::unique_ptr<Identity>>;

}  // namespace coffer::age
