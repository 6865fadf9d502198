// SPDX-License-Identifier: Apache-2.0
// Recipients and identities as text, and files of them: one a line, empty lines and lines that
// start with '#' ignored, LF or CRLF, the last line end optional, lines of any length.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "coffer/age/recipient.h"
#include "coffer/age/scrypt.h"
#include "coffer/base/result.h"
#include "coffer/base/secret.h"

namespace coffer::age {

// What a file of recipients or identities may measure.
inline constexpr size_t kMaxKeyFileSize = size_t{16} << 20;

// Whether a text is, or was meant to be, a secret key: it must not be shown. Case and what stands
// around it do not matter.
bool LooksLikeIdentity(std::string_view text);

// One recipient of any type that is supported. kInvalidArgument with the reason otherwise; the
// message does not repeat the text.
Result<std::unique_ptr<Recipient>> ParseRecipient(std::string_view text);

// A file of recipients, at least one. A bad line is named by its number only: the file may have
// been the wrong one, and a secret.
Result<Recipients> ParseRecipientsFile(std::string_view text);

Result<std::unique_ptr<Identity>> ParseIdentity(std::string_view text);

// A file of identities, at least one, in plain text.
Result<Identities> ParseIdentityFile(std::string_view text);

// Whether the content of a file is an age file, armored or not, rather than lines of identities.
bool IsEncryptedIdentityFile(std::string_view content);

// The identities of a file that is itself encrypted with a passphrase. It is opened when an
// identity is first asked for, once. `name` is for messages, e.g. "identity file \"x\"".
std::unique_ptr<Identity> MakeEncryptedIdentity(std::string name, SecretBuffer content,
                                                ScryptIdentity::PassphraseSource passphrase,
                                                int max_log2_n);

}  // namespace coffer::age
