#pragma once

// What happens to a damaged journal at start: it is moved aside, everything that still reads back
// goes into a new one, and people are told in words what was lost.

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mete {

// Checks the journal at `path`, if there is one. A sound one is left alone. A damaged one becomes
// `path`.damaged-TIME (with its log) and a new journal takes its place; jobs that were waiting to
// start are paused in it. A newer or foreign database is an error. `notes` says what was done.
// Being killed in the middle loses nothing: the next call starts again or finishes.
Status RepairIfDamaged(const std::string& path, const std::string& vfs, WallTime now,
                       std::vector<std::string>* notes);

}  // namespace mete
