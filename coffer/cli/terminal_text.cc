// SPDX-License-Identifier: Apache-2.0
#include "coffer/cli/terminal_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "coffer/age/armor.h"

namespace coffer::cli {
namespace {

// More than anybody reads on a screen or pastes.
constexpr size_t kMaxHeldSize = size_t{64} << 20;

bool IsTerminalControl(uint8_t byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
}

// U+0080 to U+009F, which some terminals obey as they obey ESC sequences.
bool HasC1Control(ByteSpan text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == 0xc2 && text[i + 1] >= 0x80 && text[i + 1] < 0xa0) return true;
  }
  return false;
}

}  // namespace

Status TerminalTextSink::Write(ByteSpan bytes) {
  if (held_.size() + bytes.size() > kMaxHeldSize) {
    return Error(ErrorCode::kTooLarge,
                 "refusing to output more than 64 MiB to the terminal; use -o - to do it anyway");
  }
  held_.Append(bytes);
  return OkStatus();
}

Status TerminalTextSink::Finish() {
  if (std::ranges::any_of(held_.Expose(), IsTerminalControl) || HasC1Control(held_.Expose())) {
    return Error(ErrorCode::kInvalidArgument,
                 "refusing to output binary to the terminal; use -o FILE, or -o - to do it anyway");
  }
  return terminal_.Write(held_.Expose());
}

Status TerminalInput::Fill() {
  filled_ = true;
  std::array<uint8_t, 4096> buffer;
  size_t line_begin = 0;
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const size_t size, terminal_.Read(buffer));
    if (size == 0) return OkStatus();
    if (held_.size() + size > kMaxHeldSize) {
      return Error(ErrorCode::kTooLarge, "more than 64 MiB typed into the terminal");
    }
    Append(held_, ByteSpan(buffer).first(size));
    while (true) {
      const std::string_view rest = AsText(held_).substr(line_begin);
      const size_t end = rest.find('\n');
      if (end == std::string_view::npos) break;
      std::string_view line = rest.substr(0, end);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line == age::kArmorEnd) return OkStatus();
      line_begin += end + 1;
    }
  }
}

Result<size_t> TerminalInput::Read(MutableByteSpan out) {
  if (!filled_) COFFER_TRY(Fill());
  const size_t size = std::min(out.size(), held_.size() - begin_);
  if (size != 0) std::memcpy(out.data(), held_.data() + begin_, size);
  begin_ += size;
  return size;
}

}  // namespace coffer::cli
