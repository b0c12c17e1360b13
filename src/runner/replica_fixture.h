#pragma once

// For tests: a replica in a folder of its own, run by the real mete-runner. What is still alive of
// it when a test ends is killed.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runner/connection.h"
#include "runner/launch_spec.h"
#include "runner/protocol.h"

namespace mete::runner {

class ReplicaFixture : public ::testing::Test {
 protected:
  // Long enough for a crowded machine; nothing waits that long where all is well.
  static constexpr Duration kPatience = std::chrono::seconds(60);

  ReplicaFixture();
  ~ReplicaFixture() override;

  // A spec that runs `script` with sh, in the replica's directory.
  LaunchSpec Shell(const std::string& script) const;
  LaunchSpec Python(const std::string& script) const;

  // Uses this existing folder below Directory() as the replica's from now on.
  void MoveTo(const std::string& folder) { directory_ = folder; }

  // Runs `mete-runner` until it returns; its exit status.
  int Launch(const LaunchSpec& spec);
  int LaunchAgain();

  // Opens a connection and says Hello, which must be welcomed.
  Connection Connect(Term term = Term{1}, uint64_t acknowledged_through = 0);
  Welcome LastWelcome() const { return welcome_; }

  struct Everything {
    std::vector<Report> reports;
    Exited exited;
  };
  // Acknowledges reports as they come, until the exit.
  Everything ReadToTheEnd(Connection& connection);
  // The same, then acknowledges the exit and waits for the runner to leave.
  Everything Finish(Connection& connection);
  // Launch, Connect and Finish.
  Everything RunWhole(const LaunchSpec& spec);

  bool WaitUntil(const std::function<bool()>& condition, Duration patience = kPatience) const;
  std::string ReadFile(const std::string& name) const;
  std::string WholeLog() const;
  const std::string& Directory() const { return directory_; }

 private:
  std::string root_;  // removed at the end
  std::string directory_;
  Welcome welcome_;
};

}  // namespace mete::runner
