// SPDX-License-Identifier: Apache-2.0
// The output of a command: a path, or standard output.
//
// What is written to a regular file lies beside it, out of sight, until Commit() gives it the name;
// if that is never called, nothing happened. Symbolic links are resolved first, so that what they
// point to is replaced and not the link. Without O_TMPFILE the file has a temporary name
// .coffer-tmp-<16 hex>, locked while its process lives; a run removes from the directory it writes
// to those that nobody holds.
//
// An existing file is replaced by one with its mode, its ACL and extended attributes, and its owner
// as far as the system lets us. One that has several names, or whose directory cannot be written,
// is refused (kInvalidArgument) unless `in_place` is set: then it is cut and overwritten as it is.
//
// FIFOs, devices, /dev/stdout and /dev/fd/N are written straight through.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/os/file_system.h"

namespace coffer::os {

namespace internal {
class OutputBackend;
}

enum class OutputKind : uint8_t {
  kReplaceable,  // mode 0666 less the umask; takes the place of a file of that name
  kNewFile,      // mode 0666 less the umask; kAlreadyExists as below
  kKeyFile,      // mode 0600; kAlreadyExists if there is anything of that name, without a race
};

struct OutputOptions {
  OutputKind kind = OutputKind::kReplaceable;
  // Overwrite an existing file in place (--in-place-output). A failure then leaves part of the new
  // content, and the old content is gone with the first byte written.
  bool in_place = false;
  // Commit() returns when file and name are on stable storage. Otherwise only the content of a file
  // that replaces another is synced first, so that a crash leaves the old or the new.
  bool sync = false;
};

class OutputFile final : public ByteSink {
 public:
  // `path`: "-" and "" are standard output. Nothing shows under `path` before Commit().
  static Result<std::unique_ptr<OutputFile>> Create(const std::string& path,
                                                    const OutputOptions& options,
                                                    FileSystem& file_system = RealFileSystem());
  ~OutputFile() override;  // Discard()
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status Write(ByteSpan bytes) override;

  // Gives the file its name. Called once. After a failure the old state is untouched, with one
  // exception: if syncing the directory fails, which only `sync` does, the new file has its name
  // and a crash may undo that.
  Status Commit();

  // Removes what was written, except from what is written straight through or in place.
  void Discard();

 private:
  explicit OutputFile(std::unique_ptr<internal::OutputBackend> backend);

  std::unique_ptr<internal::OutputBackend> backend_;  // null once committed or discarded
};

// Standard output as a sink. A reader that has gone away is kClosedPipe (with IgnoreSigpipe()).
ByteSink& StandardOutput();
ByteSink& StandardError();

}  // namespace coffer::os
