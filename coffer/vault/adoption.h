// SPDX-License-Identifier: Apache-2.0
// Takes over the segments that an interrupted writer had published before it could refer to them
// (docs/format/vault.md, "Segments").
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coffer/age/coffer_recipient.h"
#include "coffer/base/result.h"
#include "coffer/store/store.h"
#include "coffer/vault/piece_catalogue.h"
#include "coffer/vault/segment.h"
#include "coffer/vault/segment_table.h"

namespace coffer::vault {

// Adds the pieces of segments to which no commit refers. One counts only if a writer of the
// author's vault, any of them, vouches for its index with a MAC under the seed, if its bytes are
// those of its name, and if every piece in it opens and has its hash: whoever writes to the storage
// can put anything there, and what is taken is not stored again. Others are passed over in silence,
// whatever is wrong with them; to report damage is not what this is for.
//
// Returns how many were adopted, and appends their keys to `keys_to_settle`, for Store::Settle
// before a commit refers to them. Reads each segment twice; holds 5 MiB at most, and its index.
Result<size_t> AdoptSegments(store::Store& store, std::span<const Id> unreferenced,
                             age::CofferIdentity& identity, const SegmentAuthor& author,
                             SegmentTable& segments, PieceCatalogue& catalogue,
                             std::vector<std::string>* keys_to_settle);

}  // namespace coffer::vault
