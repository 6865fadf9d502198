// SPDX-License-Identifier: Apache-2.0
// Waiting many times at once, for a disk or whatever else takes no core.
#pragma once

#include <cstddef>
#include <functional>

#include "coffer/base/result.h"

namespace coffer {

// Runs `work` for 0, 1, ... count - 1 on a few threads, the calling one among them; one piece takes
// no other thread. After a failure no further piece is begun, and one failure is returned. `work`
// is called from several threads at once and throws nothing.
Status RunInParallel(size_t count, const std::function<Status(size_t)>& work);

}  // namespace coffer
