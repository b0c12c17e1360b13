#pragma once

// A disk that fails on demand, for tests: an SQLite file layer over the system's. It can run out of
// space and refuse to read, write or sync.

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>

namespace mete {

class FaultDisk {
 public:
  // Registers the file layer; its name is what JournalOptions::vfs takes. One at a time.
  FaultDisk();
  ~FaultDisk();
  FaultDisk(const FaultDisk&) = delete;
  FaultDisk& operator=(const FaultDisk&) = delete;
  std::string name() const { return "mete-fault"; }

  // By how much files may still grow.
  std::atomic<int64_t> free_bytes = std::numeric_limits<int64_t>::max();
  std::atomic<bool> fail_writes = false;
  std::atomic<bool> fail_syncs = false;
  std::atomic<bool> fail_reads = false;
  std::atomic<int64_t> writes = 0;
  std::atomic<int64_t> written_bytes = 0;
  std::atomic<int64_t> syncs = 0;
};

}  // namespace mete
