// SPDX-License-Identifier: Apache-2.0
#include "coffer/os/error.h"

#include <errno.h>
#include <string.h>

#include "coffer/base/quote.h"

namespace coffer::os {

ErrorCode ErrorCodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kAlreadyExists;
    case EPIPE:
      return ErrorCode::kClosedPipe;
    default:
      return ErrorCode::kIo;
  }
}

std::string ErrorText(int error_number) {
  char buffer[128];
  return strerror_r(error_number, buffer, sizeof(buffer));
}

Error SystemError(std::string_view what, int error_number) {
  std::string message(what);
  message += ": ";
  message += ErrorText(error_number);
  Error error(ErrorCodeOf(error_number), std::move(message));
  error.set_system_errno(error_number);
  return error;
}

Error PathError(std::string_view verb, std::string_view path, int error_number) {
  std::string what = "cannot ";
  what += verb;
  what += ' ';
  what += Quote(path);
  return SystemError(what, error_number);
}

}  // namespace coffer::os
