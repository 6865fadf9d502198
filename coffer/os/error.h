// SPDX-License-Identifier: Apache-2.0
// Errors of system calls: the errno, its class, and a line such as
//   cannot open "x": No such file or directory
#pragma once

#include <string>
#include <string_view>

#include "coffer/base/result.h"

namespace coffer::os {

// `what` is a phrase that holds no raw control bytes, e.g. "cannot open " + Quote(path).
Error SystemError(std::string_view what, int error_number);

// SystemError for a call on a named file: `verb` as in "open".
Error PathError(std::string_view verb, std::string_view path, int error_number);

// ENOENT and ENOTDIR are kNotFound, EEXIST is kAlreadyExists, EPIPE is kClosedPipe, the rest kIo.
ErrorCode ErrorCodeOf(int error_number);

// The system's words for `error_number`.
std::string ErrorText(int error_number);

}  // namespace coffer::os
