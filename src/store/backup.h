#pragma once

// A copy of a journal in use, made a few pages at a time between its commits. What is committed
// meanwhile is in the copy, too. The copy is a whole journal: a daemon can be started on it.

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "store/database.h"

struct sqlite3_backup;

namespace mete {

class Backup {
 public:
  // The copy grows in `path`.partial and is renamed when it is whole; an existing `path` is
  // refused.
  static Result<Backup> Begin(Database& source, const std::string& path);

  // Copies up to `pages` pages. True: the copy is whole, on disk, and has its name.
  Result<bool> Step(int pages);
  int64_t done_pages() const;
  int64_t total_pages() const;

 private:
  struct Finish {
    void operator()(sqlite3_backup* backup) const;
  };
  std::string path_;
  std::unique_ptr<Database> copy_;
  std::unique_ptr<sqlite3_backup, Finish> backup_;
};

}  // namespace mete
