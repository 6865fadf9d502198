// SPDX-License-Identifier: Apache-2.0
// The commands of the vault. Warnings and problems of single items they print themselves; failures
// they return.
#pragma once

#include "coffer/base/result.h"
#include "coffer/cli/console.h"
#include "coffer/cli/vault_options.h"

namespace coffer::cli {

Result<ExitCode> RunInit(const InitOptions& options);
Result<ExitCode> RunAdd(const AddOptions& options);
Result<ExitCode> RunList(const ListOptions& options);
Result<ExitCode> RunGet(const GetOptions& options);
Result<ExitCode> RunRemove(const RemoveOptions& options);
Result<ExitCode> RunMove(const MoveOptions& options);
Result<ExitCode> RunHistory(const HistoryOptions& options);
Result<ExitCode> RunPin(const PinOptions& options);
Result<ExitCode> RunCheck(const CheckCommandOptions& options);
Result<ExitCode> RunPasswd(const PasswdOptions& options);
Result<ExitCode> RunRecover(const RecoverOptions& options);
Result<ExitCode> RunKeyAdd(const KeyAddOptions& options);
Result<ExitCode> RunKeyList(const KeyListOptions& options);
Result<ExitCode> RunKeyExport(const KeyExportOptions& options);
Result<ExitCode> RunStatus(const StatusOptions& options);

}  // namespace coffer::cli
