// SPDX-License-Identifier: Apache-2.0
// Hexadecimal, lower case. Not constant time: for public data.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "coffer/base/bytes.h"

namespace coffer::hex {

std::string Encode(ByteSpan bytes);

// Lower-case digits only, an even number of them; nothing otherwise.
[[nodiscard]] std::optional<Bytes> Decode(std::string_view text);

}  // namespace coffer::hex
