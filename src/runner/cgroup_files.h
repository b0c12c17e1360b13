#pragma once

// What the runner reads and writes in the cgroups of its job: the list of processes, the counters
// of memory and CPU, the freezer. A directory is of version 2 or of one controller of version 1;
// which files it has says what it can tell. Sizing the job is the daemon's part, not here.

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace mete::runner {

class CgroupFiles {
 public:
  explicit CgroupFiles(std::vector<std::string> directories)
      : directories_(std::move(directories)) {}

  bool empty() const { return directories_.empty(); }
  std::vector<int64_t> Pids() const;
  // Whether the calling process is in one of them: then they are no job's, and must not be killed.
  bool HoldUs() const;

  // Each -1 where no cgroup tells.
  int64_t OomKills() const;
  int64_t PeakMemoryBytes() const;
  Duration Cpu() const;

  // Ends every process by cgroup.kill where there is one; false: there is none.
  bool KillAll() const;
  // A frozen process ends only once it is thawed (version 1).
  void Thaw() const;
  // Those that are empty.
  void Remove() const;

 private:
  std::vector<std::string> directories_;
};

}  // namespace mete::runner
