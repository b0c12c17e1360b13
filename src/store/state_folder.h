#pragma once

// The folder that a journal lives in: private to its owner, used by one daemon at a time, with some
// disk space set aside for bad days.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mete {

// Creates the folder of `journal_path` (mode 0700) if it is not there. Refuses one that belongs to
// somebody else or that others may write to.
Status PrepareFolder(const std::string& journal_path);

// Held while a process uses the journal. The kernel lets go of it when the process ends, however it
// ends, so a lock that is held names a living process.
class JournalLock {
 public:
  // kFailedPrecondition, naming the holder's process, when it is taken.
  static Result<JournalLock> Take(const std::string& journal_path);

  // The highest term that was noted here: a second memory, should the journal lose its own.
  uint64_t noted_term() const { return noted_term_; }
  void NoteTerm(uint64_t term);

 private:
  UniqueFd file_;
  uint64_t noted_term_ = 0;
};

// A file of zeros beside the journal. Given back to the file system when the disk is full, so that
// the journal can still write down what ends; taken again when there is room.
class SpaceReserve {
 public:
  SpaceReserve(std::string journal_path, int64_t bytes)
      : path_(std::move(journal_path) + ".reserve"), bytes_(bytes) {}

  // Takes the space if it is not held and twice of it is free. True: held now.
  bool Take();
  // True: there was something to give back.
  bool Release();

 private:
  std::string path_;
  int64_t bytes_;
};

}  // namespace mete
