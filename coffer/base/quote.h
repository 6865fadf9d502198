// SPDX-License-Identifier: Apache-2.0
// Names as messages show them. A name of a file may hold any byte but NUL and '/', and one that
// reaches a terminal raw can move its cursor or retitle it.
#pragma once

#include <string>
#include <string_view>

namespace coffer {

// `text` in double quotes, as Go's %q writes it: \a \b \f \n \r \t \v \" \\ ; \xNN for other
// control bytes and for bytes that are not UTF-8; \uNNNN and \UNNNNNNNN for code points that do not
// show or that change how their neighbours show (C1 controls, separators, bidirectional and other
// format characters, private use, noncharacters). All other UTF-8 stays as it is.
std::string Quote(std::string_view text);

// Whether all of it is UTF-8 (RFC 3629). Control characters are.
bool IsUtf8(std::string_view text);

}  // namespace coffer
