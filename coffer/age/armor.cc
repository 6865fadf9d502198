// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/armor.h"

#include <algorithm>
#include <cstring>

#include "coffer/base/base64.h"
#include "coffer/base/check.h"

namespace coffer::age {
namespace {

using base64::Padding;

constexpr size_t kColumns = 64;
constexpr size_t kLineBytes = kColumns / 4 * 3;
// Longer than any line of good armor with its end, so that longer ones are seen to be too long.
constexpr size_t kLineLimit = kColumns + 3;
constexpr size_t kFlushSize = 65536;

bool IsWhitespace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

size_t LeadingWhitespace(std::string_view text) {
  return static_cast<size_t>(std::ranges::find_if_not(text, IsWhitespace) - text.begin());
}

}  // namespace

Result<bool> StartsWithArmor(BufferedReader& reader) {
  COFFER_ASSIGN_OR_RETURN(const ByteSpan start,
                          reader.Peek(kMaxArmorWhitespace + kArmorBegin.size()));
  const std::string_view text = AsText(start);
  return text.substr(LeadingWhitespace(text)).starts_with(kArmorBegin);
}

Error ArmorReader::Malformed(std::string_view reason) const {
  return Error(ErrorCode::kArmor,
               "invalid armor: line " + std::to_string(line_number_) + ": " + std::string(reason));
}

Result<std::string_view> ArmorReader::NextLine(size_t limit) {
  ++line_number_;
  COFFER_ASSIGN_OR_RETURN(const ByteSpan bytes, reader_.ReadLine(limit));
  std::string_view line = AsText(bytes);
  if (line.empty()) return Malformed("the file ends before the armor does");
  if (line.ends_with('\n')) line.remove_suffix(1);
  // Also where the file ends within the last CRLF.
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Status ArmorReader::SkipToBegin() {
  size_t whitespace = 0;
  while (true) {
    COFFER_ASSIGN_OR_RETURN(const std::string_view line, NextLine(kMaxArmorWhitespace + 2));
    if (line == kArmorBegin) return OkStatus();
    if (LeadingWhitespace(line) != line.size()) {
      return Malformed("expected \"" + std::string(kArmorBegin) + "\"");
    }
    whitespace += line.size() + 1;
    if (whitespace > kMaxArmorWhitespace) return Malformed("too much white space before the armor");
  }
}

Status ArmorReader::DecodeLine() {
  COFFER_ASSIGN_OR_RETURN(const std::string_view line, NextLine(kLineLimit));
  if (line == kArmorEnd) return FinishAfterEnd();
  if (line.empty()) return Malformed("empty line");
  if (line.size() > kColumns) return Malformed("longer than 64 columns");
  const std::optional<size_t> size = base64::DecodedSize(line, Padding::kRequired);
  if (!size || !base64::DecodeTo(line, Padding::kRequired, line_)) {
    return Malformed("not canonical, padded base64");
  }
  begin_ = 0;
  end_ = *size;
  if (*size == kLineBytes) return OkStatus();
  // A short line is the last one.
  COFFER_ASSIGN_OR_RETURN(const std::string_view end, NextLine(kLineLimit));
  if (end != kArmorEnd) return Malformed("a short line is followed by something else than the end");
  return FinishAfterEnd();
}

Status ArmorReader::FinishAfterEnd() {
  state_ = State::kEnded;
  COFFER_ASSIGN_OR_RETURN(const ByteSpan rest, reader_.Peek(kMaxArmorWhitespace));
  if (LeadingWhitespace(AsText(rest)) != rest.size()) {
    failure_ = Malformed("data follows the end of the armor");
  } else if (rest.size() == kMaxArmorWhitespace) {
    failure_ = Malformed("too much white space after the armor");
  }
  return OkStatus();
}

Result<size_t> ArmorReader::Read(MutableByteSpan out) {
  if (begin_ == end_ && !failure_ && state_ != State::kEnded) {
    Status status = OkStatus();
    if (state_ == State::kBefore) {
      status = SkipToBegin();
      state_ = State::kInside;
    }
    if (status.ok()) status = DecodeLine();
    if (!status.ok()) {
      begin_ = end_ = 0;
      failure_ = std::move(status).error();
    }
  }
  if (begin_ == end_) {
    if (failure_) return *failure_;
    return size_t{0};
  }
  const size_t size = std::min(out.size(), end_ - begin_);
  std::memcpy(out.data(), line_.data() + begin_, size);
  begin_ += size;
  return size;
}

void ArmorWriter::EncodeLine(ByteSpan bytes) {
  const size_t old_size = text_.size();
  const size_t encoded_size = base64::EncodedSize(bytes.size(), Padding::kRequired);
  text_.resize(old_size + encoded_size + 1);
  base64::EncodeTo(bytes, Padding::kRequired, std::span(text_).subspan(old_size, encoded_size));
  text_.back() = '\n';
}

Status ArmorWriter::Flush() {
  COFFER_TRY(sink_.Write(AsBytes(text_)));
  text_.clear();
  return OkStatus();
}

Status ArmorWriter::Write(ByteSpan bytes) {
  COFFER_CHECK(!closed_);
  if (!begun_) {
    text_.append(kArmorBegin).push_back('\n');
    begun_ = true;
  }
  while (pending_.size() + bytes.size() >= kLineBytes) {
    const size_t missing = kLineBytes - pending_.size();
    if (pending_.empty()) {
      EncodeLine(bytes.first(kLineBytes));
    } else {
      Append(pending_, bytes.first(missing));
      EncodeLine(pending_);
      pending_.clear();
    }
    bytes = bytes.subspan(missing);
    if (text_.size() >= kFlushSize) COFFER_TRY(Flush());
  }
  Append(pending_, bytes);
  return OkStatus();
}

Status ArmorWriter::Close() {
  COFFER_TRY(Write({}));
  closed_ = true;
  if (!pending_.empty()) EncodeLine(pending_);
  text_.append(kArmorEnd).push_back('\n');
  return Flush();
}

}  // namespace coffer::age
