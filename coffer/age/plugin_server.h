// SPDX-License-Identifier: Apache-2.0
// The plugin side of the age plugin protocol (C2SP age-plugin.md) for the coffer recipient type:
// what age-plugin-coffer says on its standard input and output, so that any age client that speaks
// to plugins encrypts to and decrypts with coffer keys.
//
// A conversation is a sequence of stanzas. In phase 1 the client tells what it wants, up to "done";
// in phase 2 the plugin sends one command at a time and waits for the answer, up to "done".
#pragma once

#include <string_view>

#include "coffer/base/io.h"
#include "coffer/base/result.h"
#include "coffer/os/random.h"

namespace coffer::age {

// `state_machine` is "recipient-v1" or "identity-v1". Problems with keys and stanzas are told to
// the client and are no error here; an error is a broken conversation (kHeader), another state
// machine (kInvalidArgument) or a failure of the system.
Status ServePlugin(std::string_view state_machine, ByteSource& source, ByteSink& sink,
                   os::Random& random);

}  // namespace coffer::age
