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

// How many bytes of UTF-8 a character has that starts with `lead`; 0 if none does.
size_t SequenceSize(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

// Whether a text is UTF-8 without U+0080 to U+009F: some terminals obey those, and bytes of these
// values that stand alone, as they obey ESC sequences.
bool IsHarmlessUtf8(ByteSpan text) {
  for (size_t i = 0; i < text.size();) {
    const size_t size = SequenceSize(text[i]);
    if (size == 0 || size > text.size() - i) return false;
    for (size_t k = 1; k < size; ++k) {
      if ((text[i + k] & 0xc0) != 0x80) return false;
    }
    if (text[i] == 0xc2 && text[i + 1] < 0xa0) return false;
    i += size;
  }
  return true;
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
  if (std::ranges::any_of(held_.Expose(), IsTerminalControl) || !IsHarmlessUtf8(held_.Expose())) {
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
