// SPDX-License-Identifier: Apache-2.0
// Where the path of an output leads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "coffer/base/result.h"
#include "coffer/os/file_system.h"
#include "coffer/os/output_file.h"

namespace coffer::os::internal {

enum class Route : uint8_t {
  kNew,      // nothing has this name
  kReplace,  // a regular file, to be replaced
  kInPlace,  // a regular file, to be overwritten
  kThrough,  // a FIFO, a device or an open descriptor
};

struct OutputTarget {
  Route route = Route::kNew;
  std::string path;            // links at its end resolved
  std::unique_ptr<File> file;  // open for writing, but with kNew; nothing was changed yet
  FileStat stat;               // of it
};

// Finds the target, and refuses what the options do not allow. Links are resolved by the rules of
// the kernel, which protect links, FIFOs and files of others in sticky directories
// (proc(5), /proc/sys/fs/protected_*).
Result<OutputTarget> FindOutputTarget(FileSystem& file_system, const std::string& path,
                                      const OutputOptions& options);

// The refusal to replace `path`, for `reason`, that names the way out.
Error RefuseToReplace(const std::string& path, const std::string& reason);

}  // namespace coffer::os::internal
