// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/clock.h"

#include <time.h>

#include <string>

#include "coffer/base/bytes.h"
#include "coffer/base/check.h"

namespace coffer::os {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t Now(clockid_t clock) {
  timespec now;
  COFFER_CHECK(clock_gettime(clock, &now) == 0);
  return now.tv_sec * kSecond + now.tv_nsec;
}

class RealClock final : public Clock {
 public:
  int64_t MonotonicNanoseconds() override { return Now(CLOCK_MONOTONIC); }
  int64_t WallNanoseconds() override { return Now(CLOCK_REALTIME); }
};

struct TimeParts {
  tm fields{};
  std::optional<int> offset_minutes;  // east of UTC; absent: local time
};

// Takes `digits` decimal digits, whose value is at most `most`.
std::optional<int> TakeNumber(ByteReader& reader, size_t digits, int most) {
  const std::optional<ByteSpan> taken = reader.Take(digits);
  if (!taken) return std::nullopt;
  int value = 0;
  for (const uint8_t c : *taken) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (value > most) return std::nullopt;
  return value;
}

bool TakeOneOf(ByteReader& reader, std::string_view characters) {
  if (reader.empty()) return false;
  const auto next = static_cast<char>(reader.rest()[0]);
  if (characters.find(next) == std::string_view::npos) return false;
  return reader.Take(1).has_value();
}

bool TakeDate(ByteReader& reader, tm& fields) {
  const std::optional<int> year = TakeNumber(reader, 4, 9999);
  if (!year || !TakeOneOf(reader, "-")) return false;
  const std::optional<int> month = TakeNumber(reader, 2, 12);
  if (!month || *month == 0 || !TakeOneOf(reader, "-")) return false;
  const std::optional<int> day = TakeNumber(reader, 2, 31);
  if (!day || *day == 0) return false;
  fields.tm_year = *year - 1900;
  fields.tm_mon = *month - 1;
  fields.tm_mday = *day;
  return true;
}

bool TakeTime(ByteReader& reader, tm& fields) {
  const std::optional<int> hour = TakeNumber(reader, 2, 23);
  if (!hour || !TakeOneOf(reader, ":")) return false;
  const std::optional<int> minute = TakeNumber(reader, 2, 59);
  if (!minute) return false;
  fields.tm_hour = *hour;
  fields.tm_min = *minute;
  if (!TakeOneOf(reader, ":")) return true;
  const std::optional<int> second = TakeNumber(reader, 2, 59);
  if (!second) return false;
  fields.tm_sec = *second;
  return true;
}

// Z or +01:00; `offset` stays empty if there is nothing.
bool TakeOffset(ByteReader& reader, std::optional<int>& offset) {
  if (reader.empty()) return true;
  if (TakeOneOf(reader, "Zz")) {
    offset = 0;
    return true;
  }
  const bool west = reader.rest()[0] == '-';
  if (!TakeOneOf(reader, "+-")) return false;
  const std::optional<int> hours = TakeNumber(reader, 2, 23);
  if (!hours || !TakeOneOf(reader, ":")) return false;
  const std::optional<int> minutes = TakeNumber(reader, 2, 59);
  if (!minutes) return false;
  offset = (*hours * 60 + *minutes) * (west ? -1 : 1);
  return true;
}

std::optional<TimeParts> ParseParts(std::string_view text) {
  ByteReader reader(AsBytes(text));
  TimeParts parts;
  if (!TakeDate(reader, parts.fields)) return std::nullopt;
  if (reader.empty()) return parts;
  if (!TakeOneOf(reader, "Tt ") || !TakeTime(reader, parts.fields)) return std::nullopt;
  if (!TakeOffset(reader, parts.offset_minutes) || !reader.empty()) return std::nullopt;
  return parts;
}

}  // namespace

Clock& SystemClock() {
  static RealClock clock;
  return clock;
}

FileTime WallTime(Clock& clock) { return MakeFileTime(0, clock.WallNanoseconds()); }

std::string LocalTimeText(FileTime time) {
  const time_t seconds = time.seconds;
  tm local;
  if (localtime_r(&seconds, &local) == nullptr) return '@' + std::to_string(time.seconds);
  char text[64];
  const size_t size = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &local);
  COFFER_CHECK(size > 5);
  // strftime has +0100 for RFC 3339's +01:00, and Z is the usual form of UTC.
  const std::string_view result(text, size);
  const std::string_view hours = result.substr(0, size - 2);
  const std::string_view minutes = result.substr(size - 2);
  if (result.ends_with("+0000")) return std::string(result.substr(0, size - 5)) + 'Z';
  return std::string(hours) + ':' + std::string(minutes);
}

std::optional<FileTime> ParseTimeText(std::string_view text) {
  const std::optional<TimeParts> parts = ParseParts(text);
  if (!parts) return std::nullopt;
  tm fields = parts->fields;
  fields.tm_isdst = -1;
  const time_t seconds = parts->offset_minutes ? timegm(&fields) : mktime(&fields);
  if (fields.tm_mday != parts->fields.tm_mday || fields.tm_mon != parts->fields.tm_mon) {
    return std::nullopt;  // 30 February became another day
  }
  return FileTime{seconds - int64_t{parts->offset_minutes.value_or(0)} * 60, 0};
}

}  // namespace coffer::os
