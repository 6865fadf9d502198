// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/memory.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "coffer/base/checked.h"
#include "coffer/base/secret.h"

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
  static const auto kSize = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return kSize;
}

void* PageAddress(size_t page) {
  return reinterpret_cast<void*>(page * PageSize());  // NOLINT(performance-no-int-to-ptr)
}

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

namespace {

// The usual size of a huge page. Only whole ones that start at a multiple can become huge.
constexpr size_t kHugePage = size_t{2} << 20;

Error NoMemory(size_t size) {
  return Error(ErrorCode::kTooLarge, "the system does not have the " +
                                         std::to_string(size / (size_t{1} << 20) + 1) +
                                         " MiB of memory that are needed")
      .set_system_errno(ENOMEM);
}

}  // namespace

Result<ScratchMemory> ScratchMemory::Create(size_t size) {
  COFFER_CHECK(size != 0);
  const size_t page = size < kHugePage ? PageSize() : kHugePage;
  // Up to whole pages, and one more to start at a multiple.
  const std::optional<size_t> room = CheckedAdd(size, 2 * page);
  if (!room) return NoMemory(size);
  const size_t mapped = (size + page - 1) / page * page;
  const size_t reserved = mapped + page;
  void* const start =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NoMemory(size);
  auto* const first = static_cast<uint8_t*>(start);
  const size_t before = (page - reinterpret_cast<uintptr_t>(first) % page) % page;
  // Giving back a part of one's own mapping fails only for want of another mapping in the kernel's
  // list; then it is given back with the process.
  if (before != 0) (void)munmap(first, before);
  (void)munmap(first + before + mapped, page - before);
  uint8_t* const data = first + before;
  (void)madvise(data, mapped, MADV_DONTDUMP);
  (void)madvise(data, mapped, MADV_HUGEPAGE);
  return ScratchMemory(data, size, mapped);
}

ScratchMemory::ScratchMemory(ScratchMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

ScratchMemory& ScratchMemory::operator=(ScratchMemory&& other) noexcept {
  if (this == &other) return *this;
  Release();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  mapped_ = std::exchange(other.mapped_, 0);
  return *this;
}

ScratchMemory::~ScratchMemory() { Release(); }

void ScratchMemory::Release() {
  if (data_ == nullptr) return;
  SecureWipe(data_, size_);
  (void)munmap(data_, mapped_);
  data_ = nullptr;
}

void HardenProcess() {
  const rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace coffer::os
