// SPDX-License-Identifier: Apache-2.0
// The armor of age files: strict PEM (RFC 7468 section 3, "strict" textual encoding) with one label
// (C2SP age.md, "ASCII armor").
//
//   armor = "-----BEGIN AGE ENCRYPTED FILE-----" EOL
//           *(64base64char EOL) [1*64base64char EOL]
//           "-----END AGE ENCRYPTED FILE-----" [EOL]
//   EOL   = LF / CRLF
//
// Only the last line of base64 may be shorter than 64 columns; it is padded and canonical. Up to
// 1024 bytes of white space stand before it and fewer than that after it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "coffer/base/buffered_reader.h"
#include "coffer/base/bytes.h"
#include "coffer/base/io.h"
#include "coffer/base/result.h"

namespace coffer::age {

inline constexpr std::string_view kArmorBegin = "-----BEGIN AGE ENCRYPTED FILE-----";
inline constexpr std::string_view kArmorEnd = "-----END AGE ENCRYPTED FILE-----";
inline constexpr size_t kMaxArmorWhitespace = 1024;

// Whether what `reader` holds starts like armor, after white space. Takes nothing from it.
Result<bool> StartsWithArmor(BufferedReader& reader);

// The bytes inside the armor. kArmor with the line and the reason where it is malformed. What
// stands before a malformed place has been handed out by then.
class ArmorReader final : public ByteSource {
 public:
  explicit ArmorReader(BufferedReader& reader) : reader_(reader) {}

  Result<size_t> Read(MutableByteSpan out) override;

 private:
  enum class State { kBefore, kInside, kEnded };

  Error Malformed(std::string_view reason) const;
  // The next line without its end.
  Result<std::string_view> NextLine(size_t limit);
  Status SkipToBegin();
  // Decodes the next line into line_; leaves it empty at the end of the armor.
  Status DecodeLine();
  Status FinishAfterEnd();

  BufferedReader& reader_;
  State state_ = State::kBefore;
  uint64_t line_number_ = 0;
  std::array<uint8_t, 48> line_{};
  size_t begin_ = 0;
  size_t end_ = 0;
  std::optional<Error> failure_;
};

// Armors what is written to it, with LF. Close() writes the last line and the end.
class ArmorWriter final : public ByteSink {
 public:
  explicit ArmorWriter(ByteSink& sink) : sink_(sink) {}

  Status Write(ByteSpan bytes) override;
  Status Close();

 private:
  void EncodeLine(ByteSpan bytes);
  Status Flush();

  ByteSink& sink_;
  Bytes pending_;     // less than a line
  std::string text_;  // lines that wait to be written
  bool begun_ = false;
  bool closed_ = false;
};

}  // namespace coffer::age
