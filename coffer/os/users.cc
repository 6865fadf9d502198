// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <vector>

namespace coffer::os {
namespace {

// A record that does not fit in this has more members than anybody lists: its name is left out.
constexpr size_t kRecordBound = size_t{1} << 20;

// `get(record, buffer, size, found)` is getpwuid_r or getgrgid_r for one number.
template <class Record, class Get>
std::string NameOf(Get get, char* Record::* name) {
  std::vector<char> buffer(1024);
  for (;;) {
    Record record = {};
    Record* found = nullptr;
    const int error = get(&record, buffer.data(), buffer.size(), &found);
    if (error == 0) return found != nullptr && found->*name != nullptr ? found->*name : "";
    if (error == EINTR) continue;
    if (error != ERANGE || buffer.size() >= kRecordBound) return "";
    buffer.resize(buffer.size() * 4);
  }
}

class CachedUsers final : public Users {
 public:
  std::string UserName(uint32_t user) override {
    return Cached(users_, user, [&] {
      return NameOf<passwd>(
          [&](passwd* record, char* buffer, size_t size, passwd** found) {
            return getpwuid_r(user, record, buffer, size, found);
          },
          &passwd::pw_name);
    });
  }

  std::string GroupName(uint32_t group) override {
    return Cached(groups_, group, [&] {
      return NameOf<struct group>(
          [&](struct group* record, char* buffer, size_t size, struct group** found) {
            return getgrgid_r(group, record, buffer, size, found);
          },
          &::group::gr_name);
    });
  }

 private:
  using Names = std::map<uint32_t, std::string>;

  template <class Ask>
  std::string Cached(Names& names, uint32_t number, Ask ask) {
    const std::lock_guard lock(mutex_);
    const auto known = names.find(number);
    if (known != names.end()) return known->second;
    return names[number] = ask();
  }

  std::mutex mutex_;
  Names users_;
  Names groups_;
};

}  // namespace

Users& SystemUsers() {
  static CachedUsers users;
  return users;
}

bool MaySetOwners() { return geteuid() == 0; }

}  // namespace coffer::os
