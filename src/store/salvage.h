#pragma once

// Takes what still reads back out of a damaged journal (store/page_scan.h) and puts it into a fresh
// one. Rows know their table by their tag; of two versions of a row the newer one counts; a row
// whose content does not decode is left out.

#include <string>
#include <vector>

#include "base/result.h"
#include "store/database.h"

namespace mete {

// `damaged` and its log are only read. `fresh` has the tables of today and nothing in them. Jobs
// that wait to start are paused in it, so that nothing starts by itself on what may be old. `notes`
// says what was recovered and what is missing.
Status Salvage(const std::string& damaged, Database& fresh, std::vector<std::string>* notes);

}  // namespace mete
