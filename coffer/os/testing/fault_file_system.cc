// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/testing/fault_file_system.h"

#include <utility>

#include "coffer/os/error.h"

namespace coffer::os {

// What is to fail, and the counts; shared with the files, which may outlive the file system.
class FaultFileSystem::State {
 public:
  // Counts a call and says whether it fails.
  Status Enter(Call call, const std::string& path) {
    if (const auto action = TakeAction()) action();
    const std::lock_guard lock(mutex_);
    ++counts_[Index(call)];
    ++total_;
    if (always_[Index(call)] != 0) return PathError("reach", path, always_[Index(call)]);
    if (const int error = Take(nth_[Index(call)]); error != 0)
      return PathError("reach", path, error);
    if (const int error = Take(nth_of_any_); error != 0) return PathError("reach", path, error);
    return OkStatus();
  }

  // Whether the read that was just counted is one to shorten.
  bool TakeShortRead() {
    const std::lock_guard lock(mutex_);
    return Take(short_read_) != 0;
  }

  // Whether the sync that was just counted is one to leave out.
  bool TakeSkippedSync(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (Take(skipped_sync_) == 0) return false;
    skipped_path_ = path;
    return true;
  }

  std::function<void()> TakeAction() {
    const std::lock_guard lock(mutex_);
    if (action_left_ == 0) return nullptr;
    --action_left_;
    if (action_left_ != 0) return nullptr;
    return std::exchange(action_, nullptr);
  }

  static size_t Index(Call call) { return static_cast<size_t>(call); }

  struct Fault {
    size_t left = 0;  // calls until it strikes; 0: none is set
    int error = 0;
    size_t times = 1;
  };

  int Take(Fault& fault) {
    if (fault.left == 0) return 0;
    --fault.left;
    if (fault.left != 0) return 0;
    struck_ = true;
    if (--fault.times > 0) fault.left = 1;
    return fault.error;
  }

  mutable std::mutex mutex_;
  std::array<size_t, static_cast<size_t>(Call::kCount)> counts_{};
  std::array<Fault, static_cast<size_t>(Call::kCount)> nth_{};
  std::array<int, static_cast<size_t>(Call::kCount)> always_{};
  Fault nth_of_any_;
  Fault short_read_;
  Fault skipped_sync_;
  std::string skipped_path_;
  size_t action_left_ = 0;
  std::function<void()> action_;
  size_t total_ = 0;
  bool struck_ = false;
};

class FaultFileSystem::FaultFile final : public File {
 public:
  FaultFile(std::unique_ptr<File> base, std::shared_ptr<State> state)
      : base_(std::move(base)), state_(std::move(state)) {}

  [[nodiscard]] File& base() { return *base_; }

  Result<size_t> Read(MutableByteSpan out) override {
    COFFER_TRY(Enter(Call::kRead));
    return base_->Read(state_->TakeShortRead() ? out.first(1) : out);
  }
  Status Write(ByteSpan bytes) override {
    Status entered = Enter(Call::kWrite);
    if (entered.ok()) return base_->Write(bytes);
    (void)base_->Write(bytes.first(bytes.size() / 2));
    return entered;
  }
  Result<size_t> ReadAt(uint64_t offset, MutableByteSpan out) override {
    COFFER_TRY(Enter(Call::kRead));
    return base_->ReadAt(offset, out);
  }
  Status WriteAt(uint64_t offset, ByteSpan bytes) override {
    Status entered = Enter(Call::kWrite);
    if (entered.ok()) return base_->WriteAt(offset, bytes);
    (void)base_->WriteAt(offset, bytes.first(bytes.size() / 2));
    return entered;
  }
  Result<uint64_t> Position() override { return base_->Position(); }
  Result<FileStat> Stat() override {
    COFFER_TRY(Enter(Call::kStat));
    return base_->Stat();
  }
  Result<std::optional<uint64_t>> NextData(uint64_t offset) override {
    COFFER_TRY(Enter(Call::kSeek));
    return base_->NextData(offset);
  }
  Result<std::optional<uint64_t>> NextHole(uint64_t offset) override {
    COFFER_TRY(Enter(Call::kSeek));
    return base_->NextHole(offset);
  }
  Status Truncate(uint64_t size) override {
    COFFER_TRY(Enter(Call::kTruncate));
    return base_->Truncate(size);
  }
  Status Allocate(uint64_t offset, uint64_t size) override {
    COFFER_TRY(Enter(Call::kAllocate));
    return base_->Allocate(offset, size);
  }
  Status Sync() override {
    COFFER_TRY(Enter(Call::kSync));
    return state_->TakeSkippedSync(base_->path()) ? OkStatus() : base_->Sync();
  }
  Status Flush() override {
    COFFER_TRY(Enter(Call::kFlush));
    return base_->Flush();
  }
  void StartWriteback(uint64_t offset, uint64_t size) override {
    base_->StartWriteback(offset, size);
  }
  void AdviseSequential() override { base_->AdviseSequential(); }
  Status SetMode(uint32_t mode) override {
    COFFER_TRY(Enter(Call::kSetAttribute));
    return base_->SetMode(mode);
  }
  Status SetOwner(std::optional<uint32_t> user, std::optional<uint32_t> group) override {
    COFFER_TRY(Enter(Call::kSetAttribute));
    return base_->SetOwner(user, group);
  }
  Status SetTimes(FileTime access_time, FileTime modify_time) override {
    COFFER_TRY(Enter(Call::kSetAttribute));
    return base_->SetTimes(access_time, modify_time);
  }
  Result<std::vector<std::string>> ListAttributes() override {
    COFFER_TRY(Enter(Call::kGetAttribute));
    return base_->ListAttributes();
  }
  Result<Bytes> GetAttribute(const std::string& name) override {
    COFFER_TRY(Enter(Call::kGetAttribute));
    return base_->GetAttribute(name);
  }
  Status SetAttribute(const std::string& name, ByteSpan value) override {
    COFFER_TRY(Enter(Call::kSetAttribute));
    return base_->SetAttribute(name, value);
  }
  Result<bool> TryLock() override {
    COFFER_TRY(Enter(Call::kLock));
    return base_->TryLock();
  }
  Status Lock() override {
    COFFER_TRY(Enter(Call::kLock));
    return base_->Lock();
  }
  Status Close() override {
    Status entered = Enter(Call::kClose);
    Status closed = base_->Close();
    return entered.ok() ? closed : entered;
  }
  [[nodiscard]] const std::string& path() const override { return base_->path(); }

 private:
  Status Enter(Call call) { return state_->Enter(call, base_->path()); }

  std::unique_ptr<File> base_;
  std::shared_ptr<State> state_;
};

FaultFileSystem::FaultFileSystem(FileSystem& base)
    : base_(base), state_(std::make_shared<State>()) {}

FaultFileSystem::FaultFileSystem(std::unique_ptr<FileSystem> base, std::shared_ptr<State> state)
    : owned_base_(std::move(base)), base_(*owned_base_), state_(std::move(state)) {}

FaultFileSystem::~FaultFileSystem() = default;

void FaultFileSystem::FailNth(Call call, size_t n, int error_number, size_t times) {
  const std::lock_guard lock(state_->mutex_);
  state_->nth_[State::Index(call)] = {n, error_number, times};
}

void FaultFileSystem::FailNthOfAny(size_t n, int error_number) {
  const std::lock_guard lock(state_->mutex_);
  state_->nth_of_any_ = {n, error_number, 1};
}

void FaultFileSystem::FailAlways(Call call, int error_number) {
  const std::lock_guard lock(state_->mutex_);
  state_->always_[State::Index(call)] = error_number;
}

void FaultFileSystem::ShortenNthRead(size_t n) {
  const std::lock_guard lock(state_->mutex_);
  state_->short_read_ = {n, 1, 1};
}

void FaultFileSystem::SkipNthSync(size_t n) {
  const std::lock_guard lock(state_->mutex_);
  state_->skipped_sync_ = {n, 1, 1};
}

void FaultFileSystem::BeforeNthOfAny(size_t n, std::function<void()> action) {
  const std::lock_guard lock(state_->mutex_);
  state_->action_left_ = n;
  state_->action_ = std::move(action);
}

void FaultFileSystem::ClearFaults() {
  const std::lock_guard lock(state_->mutex_);
  state_->nth_ = {};
  state_->always_ = {};
  state_->nth_of_any_ = {};
  state_->short_read_ = {};
  state_->skipped_sync_ = {};
  state_->struck_ = false;
  state_->action_left_ = 0;
}

bool FaultFileSystem::struck() const {
  const std::lock_guard lock(state_->mutex_);
  return state_->struck_;
}

std::string FaultFileSystem::skipped_path() const {
  const std::lock_guard lock(state_->mutex_);
  return state_->skipped_path_;
}

size_t FaultFileSystem::Count(Call call) const {
  const std::lock_guard lock(state_->mutex_);
  return state_->counts_[State::Index(call)];
}

size_t FaultFileSystem::TotalCount() const {
  const std::lock_guard lock(state_->mutex_);
  return state_->total_;
}

size_t FaultFileSystem::SyncCount() const {
  return Count(Call::kSync) + Count(Call::kSyncDirectory);
}

void FaultFileSystem::ResetCounts() {
  const std::lock_guard lock(state_->mutex_);
  state_->counts_ = {};
  state_->total_ = 0;
}

Result<std::unique_ptr<File>> FaultFileSystem::Wrap(Result<std::unique_ptr<File>> opened) {
  if (!opened.ok()) return opened;
  return std::unique_ptr<File>(std::make_unique<FaultFile>(std::move(opened).value(), state_));
}

Result<std::unique_ptr<File>> FaultFileSystem::Open(const std::string& path,
                                                    const OpenOptions& options) {
  const bool creates = options.creation != Creation::kMustExist;
  COFFER_TRY(state_->Enter(creates ? Call::kCreate : Call::kOpen, path));
  return Wrap(base_.Open(path, options));
}

Result<std::unique_ptr<File>> FaultFileSystem::OpenDescriptor(int descriptor) {
  COFFER_TRY(state_->Enter(Call::kOpenDescriptor, "/dev/fd/" + std::to_string(descriptor)));
  return Wrap(base_.OpenDescriptor(descriptor));
}

Result<std::unique_ptr<File>> FaultFileSystem::CreateUnnamed(const std::string& directory,
                                                             uint32_t mode) {
  COFFER_TRY(state_->Enter(Call::kCreateUnnamed, directory));
  return Wrap(base_.CreateUnnamed(directory, mode));
}

Status FaultFileSystem::LinkUnnamed(File& file, const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kLinkUnnamed, path));
  auto* wrapped = dynamic_cast<FaultFile*>(&file);
  COFFER_CHECK(wrapped != nullptr);
  return base_.LinkUnnamed(wrapped->base(), path);
}

Result<FileStat> FaultFileSystem::Stat(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kStat, path));
  return base_.Stat(path);
}

Result<FileStat> FaultFileSystem::StatNoFollow(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kStat, path));
  return base_.StatNoFollow(path);
}

Status FaultFileSystem::Rename(const std::string& from, const std::string& to) {
  COFFER_TRY(state_->Enter(Call::kRename, from));
  return base_.Rename(from, to);
}

Status FaultFileSystem::RenameNoReplace(const std::string& from, const std::string& to) {
  COFFER_TRY(state_->Enter(Call::kRename, from));
  return base_.RenameNoReplace(from, to);
}

Status FaultFileSystem::Link(const std::string& existing, const std::string& name) {
  COFFER_TRY(state_->Enter(Call::kLink, name));
  return base_.Link(existing, name);
}

Status FaultFileSystem::Unlink(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kUnlink, path));
  return base_.Unlink(path);
}

Status FaultFileSystem::MakeDirectory(const std::string& path, uint32_t mode) {
  COFFER_TRY(state_->Enter(Call::kMakeDirectory, path));
  return base_.MakeDirectory(path, mode);
}

Status FaultFileSystem::RemoveDirectory(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kRemoveDirectory, path));
  return base_.RemoveDirectory(path);
}

Result<std::vector<DirectoryEntry>> FaultFileSystem::ReadDirectory(const std::string& path,
                                                                   size_t limit) {
  COFFER_TRY(state_->Enter(Call::kReadDirectory, path));
  return base_.ReadDirectory(path, limit);
}

Status FaultFileSystem::SyncDirectory(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kSyncDirectory, path));
  return state_->TakeSkippedSync(FullPath(path)) ? OkStatus() : base_.SyncDirectory(path);
}

Status FaultFileSystem::MakeFifo(const std::string& path, uint32_t mode) {
  COFFER_TRY(state_->Enter(Call::kMakeFifo, path));
  return base_.MakeFifo(path, mode);
}

Result<std::unique_ptr<FileSystem>> FaultFileSystem::Beneath(const std::string& directory) {
  COFFER_ASSIGN_OR_RETURN(std::unique_ptr<FileSystem> view, base_.Beneath(directory));
  return std::unique_ptr<FileSystem>(new FaultFileSystem(std::move(view), state_));
}

std::string FaultFileSystem::FullPath(const std::string& path) const {
  return base_.FullPath(path);
}

Status FaultFileSystem::MakeSymlink(const std::string& target, const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kMakeSymlink, path));
  return base_.MakeSymlink(target, path);
}

Result<std::string> FaultFileSystem::ReadLink(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kReadLink, path));
  return base_.ReadLink(path);
}

Status FaultFileSystem::SetOwnerNoFollow(const std::string& path, uint32_t user, uint32_t group) {
  COFFER_TRY(state_->Enter(Call::kSetAttribute, path));
  return base_.SetOwnerNoFollow(path, user, group);
}

Status FaultFileSystem::SetTimesNoFollow(const std::string& path, FileTime access_time,
                                         FileTime modify_time) {
  COFFER_TRY(state_->Enter(Call::kSetAttribute, path));
  return base_.SetTimesNoFollow(path, access_time, modify_time);
}

Result<bool> FaultFileSystem::IsOnProcessFileSystem(const std::string& path) {
  COFFER_TRY(state_->Enter(Call::kStat, path));
  return base_.IsOnProcessFileSystem(path);
}

uint32_t FaultFileSystem::Umask() { return base_.Umask(); }

}  // namespace coffer::os
