// SPDX-License-Identifier: Apache-2.0
// The commands. Warnings they print themselves; failures they return.
#pragma once

#include "coffer/base/result.h"
#include "coffer/cli/options.h"

namespace coffer::cli {

Status RunEncrypt(const EncryptOptions& options);
Status RunDecrypt(const DecryptOptions& options);
Status RunKeygen(const KeygenOptions& options);
Status RunInspect(const InspectOptions& options);

}  // namespace coffer::cli
