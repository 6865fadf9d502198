// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/memory.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

namespace coffer::os {
namespace {

// The system locks a page once however often it is asked to, and unlocks it at the first request.
// So the locks of each page are counted here.
struct LockedPages {
  std::mutex mutex;
  std::map<size_t, size_t> counts;  // by page number
};

LockedPages& Pages() {
  static auto* pages = new LockedPages;  // never destroyed: secrets may outlive other statics
  return *pages;
}

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

void* PageAddress(size_t page) { return reinterpret_cast<void*>(page * PageSize()); }

// Returns whether the page is locked in memory; in any case it is kept out of core dumps. By
// syscall(2), since sanitizers let mlock(3) do nothing.
bool LockPage(size_t page) {
  (void)madvise(PageAddress(page), PageSize(), MADV_DONTDUMP);
  return syscall(SYS_mlock, PageAddress(page), PageSize()) == 0;
}

void UnlockPage(size_t page) {
  (void)syscall(SYS_munlock, PageAddress(page), PageSize());
  (void)madvise(PageAddress(page), PageSize(), MADV_DODUMP);
}

}  // namespace

MemoryLock::MemoryLock(ByteSpan region) {
  if (region.empty()) return;
  const auto start = reinterpret_cast<size_t>(region.data());
  first_page_ = start / PageSize();
  page_count_ = (start + region.size() - 1) / PageSize() - first_page_ + 1;
  LockedPages& pages = Pages();
  const std::lock_guard lock(pages.mutex);
  locked_ = true;
  for (size_t page = first_page_; page < first_page_ + page_count_; ++page) {
    ++pages.counts[page];
    locked_ = LockPage(page) && locked_;
  }
}

MemoryLock::MemoryLock(MemoryLock&& other) noexcept
    : first_page_(other.first_page_),
      page_count_(std::exchange(other.page_count_, 0)),
      locked_(std::exchange(other.locked_, false)) {}

MemoryLock& MemoryLock::operator=(MemoryLock&& other) noexcept {
  if (this == &other) return *this;
  Release();
  first_page_ = other.first_page_;
  page_count_ = std::exchange(other.page_count_, 0);
  locked_ = std::exchange(other.locked_, false);
  return *this;
}

MemoryLock::~MemoryLock() { Release(); }

void MemoryLock::Release() {
  if (page_count_ == 0) return;
  LockedPages& pages = Pages();
  const std::lock_guard lock(pages.mutex);
  for (size_t page = first_page_; page < first_page_ + page_count_; ++page) {
    const auto count = pages.counts.find(page);
    if (--count->second > 0) continue;
    pages.counts.erase(count);
    UnlockPage(page);
  }
  page_count_ = 0;
  locked_ = false;
}

void HardenProcess() {
  const rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace coffer::os
