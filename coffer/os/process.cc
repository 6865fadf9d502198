// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "coffer/base/quote.h"
#include "coffer/os/error.h"
#include "coffer/os/input.h"
#include "coffer/os/internal/descriptor.h"

namespace coffer::os {
namespace {

using internal::Descriptor;
using internal::Retry;

// A program that is no longer wanted gets this long to end by itself after SIGTERM.
constexpr int kGraceSteps = 200;
constexpr timespec kGraceStep = {0, 5'000'000};

class PipeSink final : public ByteSink {
 public:
  explicit PipeSink(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Status Write(ByteSpan bytes) override {
    const int error = internal::WriteAll(descriptor_.get(), bytes);
    if (error != 0) return SystemError("cannot write to the program", error);
    return OkStatus();
  }

 private:
  Descriptor descriptor_;
};

class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Result<size_t> Read(MutableByteSpan out) override {
    const ssize_t count = internal::ReadSome(descriptor_.get(), out);
    if (count < 0) return SystemError("cannot read from the program", errno);
    return static_cast<size_t>(count);
  }

 private:
  Descriptor descriptor_;
};

struct Pipe {
  Descriptor reader;
  Descriptor writer;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError("cannot create a pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// posix_spawn's two structures, with an end.
class SpawnSetup {
 public:
  SpawnSetup() {
    COFFER_CHECK(posix_spawn_file_actions_init(&actions_) == 0);
    COFFER_CHECK(posix_spawnattr_init(&attributes_) == 0);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  void Duplicate(int from, int to) {
    COFFER_CHECK(posix_spawn_file_actions_adddup2(&actions_, from, to) == 0);
  }
  void DiscardOutput(int descriptor) {
    COFFER_CHECK(
        posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", O_WRONLY, 0) == 0);
  }
  // Everything but the standard ones: what is ours closes by itself, and what our own parent left
  // open is no business of the program's. After all duplicates.
  void CloseOthers() {
    COFFER_CHECK(posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1) == 0);
  }
  // What this program ignores for itself; handlers end with exec anyway.
  void ResetIgnoredSignals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    COFFER_CHECK(posix_spawnattr_setsigdefault(&attributes_, &set) == 0);
    COFFER_CHECK(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF) == 0);
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// This process's environment with `added` in it.
std::vector<std::string> EnvironmentWith(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool replaced = std::any_of(added.begin(), added.end(), [&](std::string_view other) {
      return other.substr(0, other.find('=')) == name;
    });
    if (!replaced) all.emplace_back(variable);
  }
  return all;
}

// The array of C strings that exec takes; it points into `strings`.
std::vector<char*> PointersTo(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

class ChildProcess::Impl {
 public:
  Impl(pid_t process, Descriptor input, Descriptor output)
      : process_(process), output_(std::in_place, std::move(output)) {
    if (input.valid()) input_.emplace(std::move(input));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    input_.reset();
    output_.reset();
    if (process_ > 0) End();
  }

  ByteSink& input() {
    COFFER_CHECK(input_.has_value());
    return *input_;
  }
  ByteSource& output() {
    COFFER_CHECK(output_.has_value());
    return *output_;
  }
  void CloseInput() { input_.reset(); }

  Result<ExitStatus> Wait() {
    COFFER_CHECK(process_ > 0);
    int status = 0;
    if (Retry([&] { return waitpid(process_, &status, 0); }) < 0) {
      return SystemError("cannot wait for the program", errno);
    }
    process_ = 0;
    ExitStatus result;
    if (WIFSIGNALED(status)) {
      result.signal = WTERMSIG(status);
    } else {
      result.code = WEXITSTATUS(status);
    }
    return result;
  }

 private:
  void End() const {
    (void)kill(process_, SIGTERM);
    for (int step = 0; step < kGraceSteps; ++step) {
      if (Retry([&] { return waitpid(process_, nullptr, WNOHANG); }) != 0) return;
      nanosleep(&kGraceStep, nullptr);
    }
    (void)kill(process_, SIGKILL);
    (void)Retry([&] { return waitpid(process_, nullptr, 0); });
  }

  pid_t process_;  // 0 when it was waited for
  std::optional<PipeSink> input_;
  std::optional<PipeSource> output_;
};

Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::vector<std::string>& arguments,
                                                          const ChildOptions& options) {
  COFFER_CHECK(!arguments.empty());
  COFFER_ASSIGN_OR_RETURN(Pipe output, MakePipe());
  Pipe input;
  SpawnSetup setup;
  setup.ResetIgnoredSignals();
  if (options.standard_input == ChildStdin::kPipe) {
    COFFER_ASSIGN_OR_RETURN(input, MakePipe());
    setup.Duplicate(input.reader.get(), STDIN_FILENO);
  }
  setup.Duplicate(output.writer.get(), STDOUT_FILENO);
  if (options.standard_error == ChildStderr::kDiscard) setup.DiscardOutput(STDERR_FILENO);
  setup.CloseOthers();

  std::vector<std::string> argument_strings = arguments;
  std::vector<std::string> variable_strings = EnvironmentWith(options.environment);
  const std::vector<char*> argument_pointers = PointersTo(argument_strings);
  const std::vector<char*> variable_pointers = PointersTo(variable_strings);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0].c_str(), setup.actions(), setup.attributes(),
                   argument_pointers.data(), variable_pointers.data());
  if (error != 0) return PathError("run", arguments[0], error);
  return std::unique_ptr<ChildProcess>(new ChildProcess(
      std::make_unique<Impl>(process, std::move(input.writer), std::move(output.reader))));
}

ChildProcess::ChildProcess(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChildProcess::~ChildProcess() = default;
ByteSink& ChildProcess::input() { return impl_->input(); }
ByteSource& ChildProcess::output() { return impl_->output(); }
void ChildProcess::CloseInput() { impl_->CloseInput(); }
Result<ExitStatus> ChildProcess::Wait() { return impl_->Wait(); }

Result<SecretBuffer> CaptureCommand(const std::string& command, size_t limit) {
  ChildOptions options;
  options.standard_input = ChildStdin::kInherit;
  COFFER_ASSIGN_OR_RETURN(const auto child,
                          ChildProcess::Start({"/bin/sh", "-c", command}, options));
  COFFER_ASSIGN_OR_RETURN(SecretBuffer output,
                          ReadAll(child->output(), limit, "what the command writes"));
  COFFER_ASSIGN_OR_RETURN(const ExitStatus status, child->Wait());
  // The command itself may hold a secret, and is not shown.
  if (status.signal != 0) {
    return Error(ErrorCode::kIo,
                 "the command was ended by signal " + std::to_string(status.signal));
  }
  if (status.code != 0) {
    return Error(ErrorCode::kIo, "the command failed with status " + std::to_string(status.code));
  }
  return output;
}

void OpenStandardDescriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // Open the wrong way round, so that using it is an error as it was. The lowest free number is
    // taken, which is this one.
    const int flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", flags) != descriptor) abort();
  }
}

}  // namespace coffer::os
