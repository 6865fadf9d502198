// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or an Error with a class and one line for people. Status is Result<void>.
//
//   COFFER_TRY(sink.Write(chunk));
//   COFFER_ASSIGN_OR_RETURN(Header header, ReadHeader(source));
//
// Everything that input, a file, a peer or a user can cause comes back this way.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "coffer/base/check.h"

namespace coffer {

// The class of a failure. The six of the age format follow the public test vectors (C2SP CCTV).
enum class ErrorCode {
  kInvalidArgument,  // the caller or the user asked for something that makes no sense
  kUsage,            // the words of a command line do not go together; of commands only
  kHeader,           // age header, stanza or recipient data is malformed or not supported
  kNoMatch,          // no identity opens the file
  kHeaderMac,        // the header was changed
  kPayload,          // the payload is damaged, cut off or was changed
  kArmor,            // the armor is malformed
  kIo,               // the system refused a read, a write or a sync
  kNotFound,
  kAlreadyExists,
  kClosedPipe,       // whoever reads our output has gone away
  kTooLarge,         // a bound on size or cost
  kCancelled,        // the user said no
  kCrypto,           // the cryptographic library failed or lacks an algorithm
  kWrongPassphrase,  // the passphrase or recovery code opens nothing
  kDamaged,          // stored data is not what was written
  kForged,           // stored data is whole, but no writer of this vault wrote it
  kNeedsNewer,       // stored data is of a version or kind that only a newer coffer knows
};

// The word of a class as messages and tests use it, e.g. "header failure".
std::string_view ErrorCodeName(ErrorCode code);

class [[nodiscard]] Error {
 public:
  // `message`: lower case, no full stop, no secrets, no raw control bytes.
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] ErrorCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  // errno of the system call that failed, or 0.
  [[nodiscard]] int system_errno() const { return system_errno_; }
  Error& set_system_errno(int value) {
    system_errno_ = value;
    return *this;
  }

  // Puts "`context`: " in front of the message.
  [[nodiscard]] Error WithContext(std::string_view context) &&;

 private:
  ErrorCode code_;
  int system_errno_ = 0;
  std::string message_;
};

inline Error InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error UsageError(std::string message) { return {ErrorCode::kUsage, std::move(message)}; }

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return state_.index() == 0; }

  [[nodiscard]] const T& value() const& {
    COFFER_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T& value() & {
    COFFER_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  [[nodiscard]] T&& value() && {
    COFFER_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  [[nodiscard]] const Error& error() const& {
    COFFER_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  [[nodiscard]] Error&& error() && {
    COFFER_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] const Error& error() const& {
    COFFER_CHECK(error_.has_value());
    return *error_;
  }
  [[nodiscard]] Error&& error() && {
    COFFER_CHECK(error_.has_value());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Status OkStatus() { return {}; }

}  // namespace coffer

#define COFFER_INTERNAL_CONCAT2(a, b) a##b
#define COFFER_INTERNAL_CONCAT(a, b) COFFER_INTERNAL_CONCAT2(a, b)

// Returns the error of `expression` from the enclosing function, if there is one.
#define COFFER_TRY(expression)                                                    \
  do {                                                                            \
    if (auto coffer_internal_status = (expression); !coffer_internal_status.ok()) \
      return std::move(coffer_internal_status).error();                           \
  } while (false)

// Declares or assigns `target` from the value of `expression`, or returns its error.
#define COFFER_ASSIGN_OR_RETURN(target, ...)                                                  \
  COFFER_INTERNAL_ASSIGN_OR_RETURN(COFFER_INTERNAL_CONCAT(coffer_internal_result_, __LINE__), \
                                   target, (__VA_ARGS__))
// NOLINTBEGIN(bugprone-macro-parentheses): `target` may be a declaration
#define COFFER_INTERNAL_ASSIGN_OR_RETURN(result, target, expression) \
  auto result = expression;                                          \
  if (!result.ok()) return std::move(result).error();                \
  target = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)
