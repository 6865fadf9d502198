// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that says how far work is, once it takes longer than a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coffer/base/io.h"
#include "coffer/os/clock.h"

namespace coffer::cli {

// E.g. "812 B", "1.2 GiB".
std::string FormatSize(double size);

struct ProgressReport {
  uint64_t done_size = 0;
  std::optional<uint64_t> total_size;
  int64_t elapsed_ns = 0;
};

// E.g. "1.2 GiB of 4.0 GiB, 30 %, 812 MiB/s, 3 s left".
std::string FormatProgress(const ProgressReport& report);

class Progress {
 public:
  // Draws on `sink` only if `visible`.
  Progress(std::optional<uint64_t> total_size, bool visible, ByteSink& sink, os::Clock& clock);
  ~Progress();  // erases the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Add(uint64_t size);

 private:
  void Draw(int64_t now_ns);

  std::optional<uint64_t> total_size_;
  bool visible_;
  ByteSink& sink_;
  os::Clock& clock_;
  int64_t start_ns_;
  int64_t next_draw_ns_;
  uint64_t done_size_ = 0;
  bool drawn_ = false;
};

// Whether to show progress at all: not with --quiet, and only where standard error is a terminal.
bool ProgressIsVisible(bool quiet);

}  // namespace coffer::cli
