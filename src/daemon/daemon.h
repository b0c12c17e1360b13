#pragma once

// The daemon: event loop, HTTP server, engine, journal and local backend, wired together and run on
// a thread of its own. `mete serve` waits for it; `mete run` holds one inside itself where none is
// listening. Killing it at any moment harms no job: the next one finds runners and journal as they
// are.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/options.h"

namespace mete {

struct DaemonOptions {
  std::string state_directory;  // journal, replica directories, token; made with mode 0700
  std::string socket_path;      // of the HTTP interface, usable by its owner only
  std::optional<uint16_t>
      tcp_port;  // also on 127.0.0.1, guarded by STATE_DIRECTORY/token; 0 picks a free one
  std::string runner_path;  // mete-runner; empty: beside this binary
  std::string python_path;  // folder with the package `mete`, put on jobs' PYTHONPATH; empty: found
                            // beside the binary
  std::optional<int64_t> cpu_millis;    // give away at most so much; none: all cores
  std::optional<int64_t> memory_bytes;  // likewise
  bool strict = false;                  // quotas at each target instead of weights, for experiments
  int64_t retain_bytes = int64_t{1} << 30;  // the journal's size limit
  std::optional<std::string> policy;        // replaces the journal's
  EngineOptions engine;
};

class Daemon {
 public:
  // Returns when it answers requests. Errors: another daemon has the journal, the socket is taken
  // or someone else's, no runner binary, ...
  static Result<std::unique_ptr<Daemon>> Start(DaemonOptions options);
  // Stops, if nobody did. Jobs go on without it.
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Until Stop(), a request to shut down, or SIGTERM or SIGINT where HandleSignals was called.
  void Wait();
  void Stop();
  void HandleSignals();

  const std::string& socket_path() const;
  std::optional<uint16_t> tcp_port() const;

 private:
  class Impl;
  explicit Daemon(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete
