// SPDX-License-Identifier: Apache-2.0
// Other programs: plugins, and the command that prints a passphrase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::os {

enum class ChildStderr : uint8_t { kInherit, kDiscard };
enum class ChildStdin : uint8_t { kInherit, kPipe };

struct ChildOptions {
  ChildStdin standard_input = ChildStdin::kPipe;
  ChildStderr standard_error = ChildStderr::kInherit;
  std::vector<std::string> environment;  // "NAME=value", added to this process's own
};

struct ExitStatus {
  int code = 0;    // if signal is 0
  int signal = 0;  // the signal that ended it
  [[nodiscard]] bool success() const { return code == 0 && signal == 0; }
};

// A running program whose standard output, and standard input if asked for, are pipes to us.
// Nothing else of ours is open in it, and its signals are as a shell would set them.
class ChildProcess {
 public:
  // `arguments`: the program, searched for in PATH unless it holds a slash, and what it gets.
  // kNotFound if there is no such program.
  static Result<std::unique_ptr<ChildProcess>> Start(const std::vector<std::string>& arguments,
                                                     const ChildOptions& options);
  // Closes the pipes; a program that was not waited for is ended with SIGTERM, and reaped.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  ByteSink& input();  // only with ChildStdin::kPipe, and before CloseInput
  ByteSource& output();
  void CloseInput();
  Result<ExitStatus> Wait();

 private:
  class Impl;
  explicit ChildProcess(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Called first by main: descriptors 0 to 2 that the parent left closed are opened, so that no file
// gets such a number and is written to in place of standard error. Using them still fails.
void OpenStandardDescriptors();

// Runs `command` with /bin/sh -c and returns what it writes to standard output, at most `limit`
// bytes. Its standard input and error are ours. A status other than 0 is an error.
Result<SecretBuffer> CaptureCommand(const std::string& command, size_t limit);

}  // namespace coffer::os
