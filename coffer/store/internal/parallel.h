// SPDX-License-Identifier: Apache-2.0
// Waiting for a disk many times at once.
#pragma once

#include <cstddef>
#include <functional>

#include "coffer/base/result.h"

namespace coffer::store::internal {

// Runs `work` for 0, 1, ... count - 1 on a few threads, the calling one among them; one piece takes
// no other thread. After a failure no further piece is begun, and one failure is returned. `work`
// is called from several threads at once and throws nothing.
Status RunInParallel(size_t count, const std::function<Status(size_t)>& work);

}  // namespace coffer::store::internal
