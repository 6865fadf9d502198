// SPDX-License-Identifier: Apache-2.0
// The names of users and groups.
#pragma once

#include <cstdint>
#include <string>

namespace coffer::os {

class Users {
 public:
  virtual ~Users() = default;

  // Empty if the number has no name. Safe for several threads.
  virtual std::string UserName(uint32_t user) = 0;
  virtual std::string GroupName(uint32_t group) = 0;
};

// The system's, each asked for once: name services may be far away.
Users& SystemUsers();

// Whether this process may give files away to other users.
bool MaySetOwners();

}  // namespace coffer::os
