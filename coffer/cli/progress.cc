// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/progress.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "coffer/os/terminal.h"

namespace coffer::cli {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int64_t kFirstDraw_ns = kSecond_ns;
constexpr int64_t kDrawInterval_ns = kSecond_ns / 5;

std::string FormatDuration(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string FormatSize(double size) {
  constexpr std::array<std::string_view, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  const int digits = unit == 0 || size >= 100 ? 0 : 1;
  return fmt::format("{:.{}f} {}", size, digits, kUnits[unit]);
}

std::string FormatProgress(const ProgressReport& report) {
  const auto done = static_cast<double>(report.done_size);
  const double elapsed = static_cast<double>(report.elapsed_ns) / static_cast<double>(kSecond_ns);
  const double rate = elapsed > 0 ? done / elapsed : 0;
  std::string text = FormatSize(done);
  // A file that grows while it is read has no total any more.
  const bool total_known = report.total_size && *report.total_size >= report.done_size;
  const auto total = static_cast<double>(report.total_size.value_or(0));
  if (total_known) {
    text +=
        fmt::format(" of {}, {:.0f} %", FormatSize(total), total > 0 ? 100 * done / total : 100);
  }
  text += fmt::format(", {}/s", FormatSize(rate));
  if (total_known && rate > 0) {
    text += fmt::format(", {} left", FormatDuration((total - done) / rate));
  }
  return text;
}

Progress::Progress(std::optional<uint64_t> total_size, bool visible, ByteSink& sink,
                   os::Clock& clock)
    : total_size_(total_size),
      visible_(visible),
      sink_(sink),
      clock_(clock),
      start_ns_(clock.MonotonicNanoseconds()),
      next_draw_ns_(start_ns_ + kFirstDraw_ns) {}

Progress::~Progress() {
  if (drawn_) static_cast<void>(sink_.Write(AsBytes("\r\x1b[K")));
}

void Progress::Add(uint64_t size) {
  done_size_ += size;
  if (!visible_) return;
  const int64_t now_ns = clock_.MonotonicNanoseconds();
  if (now_ns >= next_draw_ns_) Draw(now_ns);
}

void Progress::Draw(int64_t now_ns) {
  next_draw_ns_ = now_ns + kDrawInterval_ns;
  drawn_ = true;
  const std::string line = "\r\x1b[K" + FormatProgress({.done_size = done_size_,
                                                        .total_size = total_size_,
                                                        .elapsed_ns = now_ns - start_ns_});
  // A terminal that went away does not stop the work.
  if (!sink_.Write(AsBytes(line)).ok()) visible_ = false;
}

bool ProgressIsVisible(bool quiet) { return !quiet && os::StandardErrorIsTerminal(); }

}  // namespace coffer::cli
