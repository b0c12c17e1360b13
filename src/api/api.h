#pragma once

// The daemon's HTTP interface: JSON in, JSON out, over the engine's commands and reads.
// docs/openapi.yaml describes it, and a test compares the two. One file a noun: jobs, history
// (reports, events, ended jobs), logs, nodes, policies, top, metrics, service.
//
// A job in a path is an id or a name; a name means the one live job that has it, else the newest
// that ended with it.
//
// Threading: everything happens on the engine's thread.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine.h"
#include "http/event_loop.h"
#include "http/router.h"
#include "store/journal.h"

namespace mete {

struct ApiContext {
  Engine& engine;
  const Clock& clock;
  EventLoop& loop;
  const PolicyRegistry& policies;
  Journal* journal = nullptr;  // null: only what is in memory can be read
  // The folder that holds a replica's log (runner/log_file.h); it may be gone.
  std::function<std::string(ReplicaId)> replica_directory;
  std::function<void()> request_shutdown;
  std::string version;
  std::string state_directory;
  std::string socket_path;
  Term term;
};

struct RouteName {
  std::string method;
  std::string pattern;
  auto operator<=>(const RouteName&) const = default;
};

// Adds every route. Takes the engine's listener. What `context` refers to outlives the router.
std::vector<RouteName> RegisterApi(http::Router& router, ApiContext context);

}  // namespace mete
