// SPDX-License-Identifier: Apache-2.0
#include "coffer/age/internal/key_text.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coffer/base/bech32.h"

namespace coffer::age::internal {
namespace {

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// `start` is what `text` has to start with, in the case that is asked for.
Result<SecretBuffer> Parse(std::string_view text, std::string_view hrp, const std::string& start,
                           size_t size, std::string_view what) {
  const auto malformed = [&](std::string_view reason) {
    return Error(ErrorCode::kInvalidArgument,
                 "malformed " + std::string(what) + ": " + std::string(reason));
  };
  Result<bech32::Decoded> decoded = bech32::Decode(text);
  if (!decoded.ok()) return malformed(decoded.error().message());
  if (decoded->hrp != hrp || !text.starts_with(start)) {
    return malformed("it does not start with \"" + start + "1\" in that case");
  }
  if (decoded->data.size() != size) return malformed("wrong length");
  return std::move(decoded->data);
}

}  // namespace

Result<SecretBuffer> ParseRecipientText(std::string_view text, std::string_view hrp, size_t size,
                                        std::string_view what) {
  return Parse(text, hrp, std::string(hrp), size, std::string(what) + " recipient");
}

Result<SecretBuffer> ParseIdentityText(std::string_view text, std::string_view hrp, size_t size) {
  return Parse(text, hrp, UpperCase(hrp), size, "secret key");
}

}  // namespace coffer::age::internal
