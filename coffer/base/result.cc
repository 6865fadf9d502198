// SPDX-License-Identifier: Apache-2.0
#include "coffer/base/result.h"

namespace coffer {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kHeader:
      return "header failure";
    case ErrorCode::kNoMatch:
      return "no match";
    case ErrorCode::kHeaderMac:
      return "HMAC failure";
    case ErrorCode::kPayload:
      return "payload failure";
    case ErrorCode::kArmor:
      return "armor failure";
    case ErrorCode::kIo:
      return "input/output failure";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kAlreadyExists:
      return "already exists";
    case ErrorCode::kClosedPipe:
      return "closed pipe";
    case ErrorCode::kTooLarge:
      return "too large";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kCrypto:
      return "cryptographic library failure";
    case ErrorCode::kWrongPassphrase:
      return "wrong passphrase";
    case ErrorCode::kDamaged:
      return "damaged";
    case ErrorCode::kForged:
      return "forged";
    case ErrorCode::kNeedsNewer:
      return "needs a newer coffer";
  }
  COFFER_CHECK(false && "no such error code");
}

Error Error::WithContext(std::string_view context) && {
  std::string message(context);
  message += ": ";
  message += message_;
  message_ = std::move(message);
  return std::move(*this);
}

}  // namespace coffer
