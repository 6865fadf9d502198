// SPDX-License-Identifier: Apache-2.0
// Plaintext that is shown on a terminal, and input that is pasted into one.
#pragma once

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::cli {

// Holds back everything until Finish(), and refuses what would do something else to a terminal than
// show text: control characters other than tab, LF and CR.
class TerminalTextSink final : public ByteSink {
 public:
  explicit TerminalTextSink(ByteSink& terminal) : terminal_(terminal) {}

  Status Write(ByteSpan bytes) override;
  Status Finish();

 private:
  ByteSink& terminal_;
  SecretBuffer held_;
};

// Reads what is typed or pasted into a terminal up to the end of an armored file, or to the end of
// input, so that prompts come after it.
class TerminalInput final : public ByteSource {
 public:
  explicit TerminalInput(ByteSource& terminal) : terminal_(terminal) {}

  Result<size_t> Read(MutableByteSpan out) override;

 private:
  Status Fill();

  ByteSource& terminal_;
  Bytes held_;
  size_t begin_ = 0;
  bool filled_ = false;
};

}  // namespace coffer::cli
