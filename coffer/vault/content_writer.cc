// SPDX-License-Identifier: Apache-2.0
#include "coffer/vault/content_writer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "coffer/base/check.h"
#include "coffer/base/secret.h"
#include "coffer/os/cpu.h"

namespace coffer::vault {
namespace {

constexpr size_t kMaxThreadCount = 4;
// With so many waiting, another thread than the first one takes a job.
constexpr size_t kManyJobs = 2;
// Besides one with each thread: one is being filled, the others wait.
constexpr size_t kMoreJobs = 1 + kManyJobs;
// So many segments are published together: their syncs share the journal's commits.
constexpr size_t kPublishCount = 4;
// With so many waiting to be published, whoever finishes another one waits: each holds a
// descriptor, and data that the system has yet to write.
constexpr size_t kMaxUnpublishedCount = 16;
// A job of small files is handed on when it has so many bytes, or pieces.
constexpr size_t kGatheredSize = size_t{1} << 20;
constexpr size_t kGatheredCount = 512;

// A piece in the buffer of a job.
struct Item {
  size_t ticket = 0;
  size_t index = 0;  // of the piece in its file
  size_t offset = 0;
  size_t size = 0;
};

struct Job {
  SecretBuffer buffer = SecretBuffer(kPieceSize);
  size_t used = 0;
  std::vector<Item> items;

  [[nodiscard]] MutableByteSpan free() { return buffer.ExposeMutable().subspan(used); }
};

// What a thread has for itself. Nobody else touches it but Flush, while no job is under way.
struct Worker {
  std::unique_ptr<SegmentWriter> segment;
  uint32_t number = 0;  // of the segment
  std::thread thread;
};

}  // namespace

class ContentWriter::Impl {
 public:
  Impl(store::Store& store, const age::CofferRecipient& recipient, os::Random& random,
       const SegmentAuthor& author, SegmentTable& segments, PieceCatalogue& catalogue,
       const ContentWriterOptions& options)
      : store_(store),
        recipient_(recipient),
        random_(random),
        author_(author),
        segments_(segments),
        catalogue_(catalogue),
        options_(options) {}
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status Start();
  Result<size_t> Add(ByteSource& source);
  Status Flush();
  StoredContent Take(size_t ticket);
  [[nodiscard]] bool failed() const;

  std::atomic<uint64_t> read_size = 0;
  std::atomic<uint64_t> new_size = 0;

 private:
  // On the thread that calls.
  Status AddPieces(ByteSource& source, size_t ticket);
  Result<size_t> Fill(ByteSource& source);
  Status NeedJob();
  void Submit();
  [[nodiscard]] Status GetStatus() const;
  Status PublishRest();
  Status Fail(Status status);

  // On the threads of workers.
  void Run(size_t which);
  Job* NextJob(size_t which);
  Status Process(Worker& worker, const Job& job);
  Result<Blob> Store(Worker& worker, ByteSpan piece, const Id& hash, bool* is_new);
  Status Finish(Worker& worker);
  Status MakeRoom(Worker& worker, size_t size);
  void HandOver(SealedObject segment);
  void Done(Job* job, Status status);

  // On the thread that publishes.
  void RunPublisher();
  Status Publish(std::vector<SealedObject> segments);

  struct Ticket {
    StoredContent content;
    bool gone = false;  // taken, or lost
  };
  Ticket& At(size_t ticket) { return tickets_[ticket - first_ticket_]; }
  void Forget(size_t ticket);

  store::Store& store_;
  const age::CofferRecipient& recipient_;
  os::Random& random_;
  const SegmentAuthor author_;
  SegmentTable& segments_;
  PieceCatalogue& catalogue_;
  const ContentWriterOptions options_;

  Job* current_ = nullptr;  // being filled, by the thread that calls
  std::deque<Worker> workers_;
  std::deque<Job> jobs_;  // made as they are needed

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::condition_variable work_;   // there is a job, or an end
  std::condition_variable done_;   // a job is free, segments are published, or all failed
  std::condition_variable ready_;  // there are segments to publish, or an end
  std::deque<Job*> waiting_;
  std::vector<Job*> free_;
  size_t busy_count_ = 0;
  bool stopping_ = false;
  Status status_;
  std::deque<Ticket> tickets_;
  size_t first_ticket_ = 0;             // of tickets_
  std::vector<SealedObject> finished_;  // not published
  std::thread publisher_;               // once it is needed
  bool publishing_ = false;
};

Status ContentWriter::Impl::Start() {
  size_t count = options_.thread_count;
  if (count == 0) count = os::CpuCount();
  count = std::min(count, kMaxThreadCount);
  for (size_t i = 0; i < count; ++i) workers_.emplace_back();
  try {
    for (size_t i = 0; i < count; ++i) {
      workers_[i].thread = std::thread([this, i] { Run(i); });
    }
  } catch (const std::system_error& error) {
    // No more threads are to be had, and those that are here do it all.
    if (workers_.front().thread.joinable()) return OkStatus();
    return Error(ErrorCode::kIo, "cannot start a thread").set_system_errno(error.code().value());
  }
  return OkStatus();
}

ContentWriter::Impl::~Impl() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  done_.notify_all();
  ready_.notify_all();
  for (Worker& worker : workers_) {
    if (worker.thread.joinable()) worker.thread.join();
  }
  if (publisher_.joinable()) publisher_.join();
}

Status ContentWriter::Impl::GetStatus() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

bool ContentWriter::Impl::failed() const { return !GetStatus().ok(); }

// Waits for an empty job to fill, if there is none.
Status ContentWriter::Impl::NeedJob() {
  if (current_ != nullptr) return OkStatus();
  std::unique_lock lock(mutex_);
  if (free_.empty() && jobs_.size() < workers_.size() + kMoreJobs) {
    jobs_.emplace_back().items.reserve(kGatheredCount);
    free_.push_back(&jobs_.back());
  }
  done_.wait(lock, [&] { return !free_.empty() || !status_.ok(); });
  COFFER_TRY(status_);
  current_ = free_.back();
  free_.pop_back();
  return OkStatus();
}

void ContentWriter::Impl::Submit() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::exchange(current_, nullptr));
  }
  work_.notify_all();
}

// Reads a piece behind what current_ holds, or into another job if it does not fit in there.
Result<size_t> ContentWriter::Impl::Fill(ByteSource& source) {
  COFFER_TRY(NeedJob());
  COFFER_ASSIGN_OR_RETURN(size_t size, ReadFull(source, current_->free()));
  if (size < current_->free().size() || current_->used == 0) return size;
  const ByteSpan begun = current_->free();
  Job* const full = std::exchange(current_, nullptr);
  Status status = NeedJob();
  if (status.ok()) std::ranges::copy(begun, current_->buffer.ExposeMutable().begin());
  Job* const next = std::exchange(current_, full);
  Submit();
  current_ = next;
  COFFER_TRY(status);
  COFFER_ASSIGN_OR_RETURN(const size_t more, ReadFull(source, current_->free().subspan(size)));
  return size + more;
}

Status ContentWriter::Impl::AddPieces(ByteSource& source, size_t ticket) {
  for (size_t index = 0;; ++index) {
    COFFER_ASSIGN_OR_RETURN(const size_t size, Fill(source));
    if (size == 0) return OkStatus();
    read_size += size;
    {
      const std::lock_guard lock(mutex_);
      StoredContent& content = At(ticket).content;
      content.size += size;
      content.blobs.emplace_back();
      content.piece_hashes.emplace_back();
    }
    current_->items.push_back(
        {.ticket = ticket, .index = index, .offset = current_->used, .size = size});
    current_->used += size;
    if (current_->used >= kGatheredSize || current_->items.size() == kGatheredCount) Submit();
    if (size < kPieceSize) return OkStatus();
  }
}

Result<size_t> ContentWriter::Impl::Add(ByteSource& source) {
  size_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    COFFER_TRY(status_);
    ticket = first_ticket_ + tickets_.size();
    tickets_.emplace_back();
  }
  const Status status = AddPieces(source, ticket);
  if (status.ok()) return ticket;
  const std::lock_guard lock(mutex_);
  Forget(ticket);
  return status.error();
}

// With mutex_.
void ContentWriter::Impl::Forget(size_t ticket) {
  At(ticket) = {.content = {}, .gone = true};
  while (!tickets_.empty() && tickets_.front().gone) {
    tickets_.pop_front();
    ++first_ticket_;
  }
}

Status ContentWriter::Impl::Flush() {
  if (current_ != nullptr && !current_->items.empty()) Submit();
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return (waiting_.empty() && busy_count_ == 0) || !status_.ok(); });
    COFFER_TRY(status_);
  }
  for (Worker& worker : workers_) {
    Status status = Finish(worker);
    if (!status.ok()) return Fail(std::move(status));
  }
  return PublishRest();
}

Status ContentWriter::Impl::PublishRest() {
  std::vector<SealedObject> rest;
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !publishing_; });
    COFFER_TRY(status_);
    rest = std::exchange(finished_, {});
  }
  Status status = Publish(std::move(rest));
  return status.ok() ? status : Fail(std::move(status));
}

// Ends the writer, unless it has failed before; returns why it ended.
Status ContentWriter::Impl::Fail(Status status) {
  const std::lock_guard lock(mutex_);
  if (status_.ok()) status_ = std::move(status);
  return status_;
}

StoredContent ContentWriter::Impl::Take(size_t ticket) {
  StoredContent content;
  {
    const std::lock_guard lock(mutex_);
    COFFER_CHECK(status_.ok() && waiting_.empty() && busy_count_ == 0);
    COFFER_CHECK(ticket >= first_ticket_ && ticket - first_ticket_ < tickets_.size());
    COFFER_CHECK(!At(ticket).gone);
    content = std::move(At(ticket).content);
    Forget(ticket);
  }
  std::vector<Id>& hashes = content.piece_hashes;
  if (hashes.size() >= 2) {
    content.content_hash = HashPieceHashes(hashes);
    return content;
  }
  content.content_hash = hashes.empty() ? HashPiece({}) : hashes.front();
  hashes.clear();
  return content;
}

void ContentWriter::Impl::Run(size_t which) {
  Worker& worker = workers_[which];
  while (Job* const job = NextJob(which)) Done(job, Process(worker, *job));
}

// Null at the end. The first thread takes whatever there is; the others what is too much for it.
Job* ContentWriter::Impl::NextJob(size_t which) {
  std::unique_lock lock(mutex_);
  const size_t enough = which == 0 ? 1 : kManyJobs;
  work_.wait(lock, [&] { return stopping_ || !status_.ok() || waiting_.size() >= enough; });
  if (stopping_ || !status_.ok()) return nullptr;
  Job* const job = waiting_.front();
  waiting_.pop_front();
  ++busy_count_;
  return job;
}

void ContentWriter::Impl::Done(Job* job, Status status) {
  job->items.clear();
  job->used = 0;
  {
    const std::lock_guard lock(mutex_);
    --busy_count_;
    free_.push_back(job);
    if (!status.ok() && status_.ok()) status_ = std::move(status);
  }
  done_.notify_all();
  work_.notify_all();
}

Status ContentWriter::Impl::Process(Worker& worker, const Job& job) {
  for (const Item& item : job.items) {
    const ByteSpan piece = job.buffer.Expose().subspan(item.offset, item.size);
    const Id hash = HashPiece(piece);
    bool is_new = false;
    COFFER_ASSIGN_OR_RETURN(const Blob blob, Store(worker, piece, hash, &is_new));
    if (is_new) new_size += item.size;
    const std::lock_guard lock(mutex_);
    if (item.ticket < first_ticket_ || At(item.ticket).gone) continue;  // its source failed
    StoredContent& content = At(item.ticket).content;
    content.blobs[item.index] = blob;
    content.piece_hashes[item.index] = hash;
    if (is_new) content.new_size += item.size;
  }
  return OkStatus();
}

Result<Blob> ContentWriter::Impl::Store(Worker& worker, ByteSpan piece, const Id& hash,
                                        bool* is_new) {
  if (const std::optional<Blob> known = catalogue_.Find(hash, piece.size())) return *known;
  COFFER_TRY(MakeRoom(worker, piece.size()));
  const Blob blob = {
      .segment = worker.number, .offset = worker.segment->data_size(), .stored_size = piece.size()};
  // Into the catalogue first: of two threads with the same piece only one stores it.
  const Blob chosen = catalogue_.FindOrAdd(hash, piece.size(), blob);
  if (chosen != blob) return chosen;
  COFFER_ASSIGN_OR_RETURN(const uint64_t offset, worker.segment->Append(piece, hash));
  COFFER_CHECK(offset == blob.offset);
  *is_new = true;
  return blob;
}

// Sees to it that the worker has a segment that takes a piece of `size` bytes.
Status ContentWriter::Impl::MakeRoom(Worker& worker, size_t size) {
  if (worker.segment != nullptr) {
    const uint64_t used = worker.segment->data_size();
    const bool full = used != 0 && (worker.segment->blob_count() >= kMaxSegmentBlobCount ||
                                    used + size > options_.segment_size);
    if (!full) return OkStatus();
    COFFER_TRY(Finish(worker));
  }
  COFFER_ASSIGN_OR_RETURN(worker.segment,
                          SegmentWriter::Begin(store_, recipient_, random_, author_, {}));
  worker.number = segments_.Reserve();
  return OkStatus();
}

// Finishes the worker's segment, if it has one with anything in it.
Status ContentWriter::Impl::Finish(Worker& worker) {
  if (worker.segment == nullptr || worker.segment->blob_count() == 0) return OkStatus();
  const std::unique_ptr<SegmentWriter> segment = std::move(worker.segment);
  COFFER_ASSIGN_OR_RETURN(SealedObject sealed, segment->Finish(options_.padding));
  segments_.Set(worker.number, {.id = sealed.id,
                                .object_size = sealed.object_size,
                                .header_size = sealed.header_size,
                                .file_key = sealed.file_key.Duplicate()});
  HandOver(std::move(sealed));
  return OkStatus();
}

// Gives a segment to the thread that publishes, and waits if that has much to do.
void ContentWriter::Impl::HandOver(SealedObject segment) {
  std::unique_lock lock(mutex_);
  finished_.push_back(std::move(segment));
  if (finished_.size() < kPublishCount) return;
  try {
    if (!publisher_.joinable()) publisher_ = std::thread([this] { RunPublisher(); });
  } catch (const std::system_error&) {
    return;  // Flush publishes them.
  }
  ready_.notify_one();
  done_.wait(lock,
             [&] { return finished_.size() < kMaxUnpublishedCount || stopping_ || !status_.ok(); });
}

void ContentWriter::Impl::RunPublisher() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ready_.wait(lock,
                [&] { return stopping_ || !status_.ok() || finished_.size() >= kPublishCount; });
    if (stopping_ || !status_.ok()) return;
    std::vector<SealedObject> segments = std::exchange(finished_, {});
    publishing_ = true;
    lock.unlock();
    Status status = Publish(std::move(segments));
    lock.lock();
    publishing_ = false;
    if (!status.ok() && status_.ok()) status_ = std::move(status);
    done_.notify_all();
    work_.notify_all();
  }
}

Status ContentWriter::Impl::Publish(std::vector<SealedObject> segments) {
  if (segments.empty()) return OkStatus();
  std::vector<std::unique_ptr<store::Upload>> uploads;
  uploads.reserve(segments.size());
  for (SealedObject& segment : segments) uploads.push_back(std::move(segment.upload));
  return store_.Publish(std::move(uploads));
}

ContentWriter::ContentWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ContentWriter::~ContentWriter() = default;

Result<std::unique_ptr<ContentWriter>> ContentWriter::Create(
    store::Store& store, const age::CofferRecipient& recipient, os::Random& random,
    const SegmentAuthor& author, SegmentTable& segments, PieceCatalogue& catalogue,
    const ContentWriterOptions& options) {
  COFFER_CHECK(author.seed != nullptr);
  auto impl =
      std::make_unique<Impl>(store, recipient, random, author, segments, catalogue, options);
  COFFER_TRY(impl->Start());
  return std::unique_ptr<ContentWriter>(new ContentWriter(std::move(impl)));
}

Result<size_t> ContentWriter::Add(ByteSource& source) { return impl_->Add(source); }
Status ContentWriter::Flush() { return impl_->Flush(); }
StoredContent ContentWriter::Take(size_t ticket) { return impl_->Take(ticket); }
bool ContentWriter::failed() const { return impl_->failed(); }
uint64_t ContentWriter::read_size() const { return impl_->read_size; }
uint64_t ContentWriter::new_size() const { return impl_->new_size; }

}  // namespace coffer::vault
