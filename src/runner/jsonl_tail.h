#pragma once

// Follows a file that a job appends lines to. The file may be created later, truncated or replaced
// (rotated); lines that were in it before the job started belong to an earlier run and are passed
// over. Polled: it must also work where no one tells of changes (network file systems).

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "runner/line_splitter.h"

namespace mete::runner {

class JsonlTail {
 public:
  using LineSink = std::function<void(std::string_view line)>;

  // To be made before the job starts: what is in the file now is old.
  JsonlTail(std::string path, LineSink sink);

  // Reads at most about a megabyte of what is new; true: there may be more.
  bool Poll();
  // Reads all that is left, including a last line without an end.
  void Finish();

  uint64_t CutLines() const { return splitter_.CutLines(); }

 private:
  // The file that stands at the path now is not the one that is open.
  bool WasReplaced() const;
  // The open file was emptied, and perhaps filled again, behind our back.
  bool WasRewritten() const;
  void Open();
  void StartAt(int64_t offset);
  bool ReadSome();

  const std::string path_;
  const LineSink sink_;
  UniqueFd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  int64_t offset_ = 0;
  std::string first_bytes_;  // of the file, as far as read: a rewritten file differs in them
  LineSplitter splitter_;
};

}  // namespace mete::runner
