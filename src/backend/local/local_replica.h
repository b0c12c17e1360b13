#pragma once

// What the local backend knows of one replica. Only for its own source files.

#include <memory>
#include <optional>
#include <string>

#include "backend/local/local_backend.h"

namespace mete {

// The name of its group.
inline std::string GroupOf(ReplicaId id) { return "r" + std::to_string(id.value); }

struct LocalBackend::Replica {
  enum class Stage {
    kLaunching,   // the work thread is at it
    kConnecting,  // no link
    kLinked,
    kSweeping,  // the runner is lost, what it left is being killed
    kEnding,    // over, the group is being removed
    kGone,      // observed; waits for the acknowledgement
  };
  ReplicaId id;
  JobId job;
  std::string folder;
  std::string group;
  Stage stage = Stage::kConnecting;
  ReplicaDesired desired;
  bool has_desired = false;
  std::unique_ptr<RunnerLink> link;
  EventLoop::Timer timer;
  uint64_t acknowledged_through = 0;
  uint64_t told_generation = 0;
  std::optional<Duration> told_stop_grace;
  int64_t told_memory_limit = -1;
  int64_t pid = 0;  // of the command, once it runs
  GroupUsage usage;
  bool out_of_memory = false;
  bool list_waits = false;
  bool acknowledged = false;

  bool over() const { return stage >= Stage::kEnding; }
};

}  // namespace mete
