// SPDX-License-Identifier: Apache-2.0
// What recipients and identities have in common as text: Bech32 with a type before the separator
// and a key of one size behind it. Private to the layer.
#pragma once

#include <cstddef>
#include <string_view>

#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::age::internal {

// The key in `text`: `size` bytes behind `hrp`, lower case throughout. kInvalidArgument with the
// reason, without repeating the text; `what` names the kind of recipient.
Result<SecretBuffer> ParseRecipientText(std::string_view text, std::string_view hrp, size_t size,
                                        std::string_view what);

// The same in upper case throughout; `hrp` is given in lower case.
Result<SecretBuffer> ParseIdentityText(std::string_view text, std::string_view hrp, size_t size);

}  // namespace coffer::age::internal
