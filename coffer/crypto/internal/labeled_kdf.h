// SPDX-License-Identifier: Apache-2.0
// LabeledExtract and LabeledExpand of HPKE (RFC 9180 section 4) with HKDF-SHA256.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "coffer/base/bytes.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::crypto::internal {

struct LabeledPrkRole;
using LabeledPrk = SecretArray<32, LabeledPrkRole>;

Result<LabeledPrk> LabeledExtract(ByteSpan suite_id, ByteSpan salt, std::string_view label,
                                  ByteSpan ikm);

Status LabeledExpand(ByteSpan suite_id, const LabeledPrk& prk, std::string_view label,
                     ByteSpan info, MutableByteSpan out);

}  // namespace coffer::crypto::internal
