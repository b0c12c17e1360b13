#include "backend/memory/memory_backend.h"

#include "base/clock.h"
#include "engine/backend_conformance.h"

namespace mete {
namespace {

constexpr Duration kStep = std::chrono::milliseconds(10);

// Makes happen what the jobs of the suite do; each says by its name what it is.
class Memory final : public BackendWorld {
 public:
  Memory() : backend_({{.id = NodeId{1}, .name = "memory", .capacity = {.cpu_millis = 4000}}}) {}

  void StartBackend(Term) override { backend_.Reconnect(); }
  Backend& backend() override { return backend_; }
  bool RunUntil(const std::function<bool()>& holds) override {
    for (int i = 0; i < 10'000; ++i) {
      if (holds()) return true;
      Step();
    }
    return false;
  }
  void RunAWhile() override {
    for (int i = 0; i < 50; ++i) Step();
  }
  void KillRunner(ReplicaId id) override { backend_.Exit(id, {.reason = EndReason::kRunnerLost}); }
  std::shared_ptr<const JobSpec> Endless() override { return Named("endless"); }
  std::shared_ptr<const JobSpec> Deaf() override {
    backend_.SetStubborn(true);
    return Named("deaf");
  }
  std::shared_ptr<const JobSpec> Ends(int exit_code) override {
    return Named("ends" + std::to_string(exit_code));
  }
  std::shared_ptr<const JobSpec> Reports(int count) override {
    return Named("reports" + std::to_string(count));
  }

 private:
  static std::shared_ptr<const JobSpec> Named(const std::string& name) {
    auto spec = std::make_shared<JobSpec>();
    spec->name = name;
    spec->roles = {RoleSpec{}};
    return spec;
  }

  void Step() {
    clock_.Advance(kStep);
    std::vector<ReplicaId> live;
    for (const auto& [id, entry] : backend_.replicas()) {
      if (!entry.end) live.push_back(id);
    }
    for (const ReplicaId id : live) Step(id, backend_.replicas().at(id));
    backend_.Deliver();
  }

  void Step(ReplicaId id, const MemoryBackend::Entry& entry) {
    const ReplicaDesired desired = entry.desired;
    const std::string& name = desired.spec->name;
    if (desired.state == DesiredState::kFrozen) return;
    const double cores = 1e-3 * static_cast<double>(desired.cpu_millis);
    backend_.Use(id, entry.cpu_seconds + cores * ToSeconds(kStep), 1 << 20, clock_.Now());
    if (desired.state == DesiredState::kStopped) {
      const Instant kill_at = clock_.Now() + desired.termination.grace;
      Instant& known = kill_at_.try_emplace(id, kill_at).first->second;
      known = std::min(known, kill_at);
      if (clock_.Now() >= known) backend_.Exit(id, {.reason = desired.stop_reason, .signal = 9});
    } else if (name.starts_with("ends")) {
      backend_.Exit(id, {.reason = EndReason::kExited, .exit_code = std::stoi(name.substr(4))});
    } else if (name.starts_with("reports") && entry.next_sequence <= std::stoul(name.substr(7))) {
      const auto iteration = static_cast<int64_t>(entry.next_sequence);
      backend_.Report(id, {{.iteration = iteration, .loss = 1.0 / static_cast<double>(iteration)}});
    }
  }

  ManualClock clock_;
  MemoryBackend backend_;
  std::map<ReplicaId, Instant> kill_at_;
};

INSTANTIATE_TEST_SUITE_P(Memory, BackendConformance,
                         testing::Values([] { return std::make_unique<Memory>(); }),
                         [](const auto&) { return "memory"; });

}  // namespace
}  // namespace mete
