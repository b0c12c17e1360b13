#include "sim/simulated_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "engine/backend_conformance.h"
#include "sim/models/rigid.h"

namespace mete {
namespace {

// Does what its name says, in the words of the conformance suite.
class NamedJob final : public JobModel {
 public:
  explicit NamedJob(const std::string& name) : name_(name) {}

  double length() const override {
    return name_.starts_with("ends") ? 1e-2 : std::numeric_limits<double>::infinity();
  }
  Pace PaceAt(double progress, const Layout& layout) override {
    // Ten iterations a second; one that reports a few times goes on without an end to any other.
    const bool reports = name_.starts_with("reports");
    const double last = reports ? std::stod(name_.substr(7)) : 0;
    if (reports && progress >= last) return {.rate = 1e-9, .cores = layout.cores};
    return {.rate = 10,
            .until = reports ? last : std::numeric_limits<double>::infinity(),
            .cores = layout.cores};
  }
  Duration StopTime() const override {
    return name_ == "deaf" ? Duration::max() : Duration::zero();
  }
  int exit_code() const override {
    return name_.starts_with("ends") ? std::stoi(name_.substr(4)) : 0;
  }
  Reporting reporting() const override { return Reporting::kLosses; }
  double LossAfter(int64_t iteration) const override {
    if (!name_.starts_with("reports")) return std::numeric_limits<double>::quiet_NaN();
    return 1.0 / static_cast<double>(iteration);
  }
  double SecondsAlone(const JobSpec&, const Resources&, double) const override { return 1; }

 private:
  std::string name_;
};

class Simulated final : public BackendWorld, JobSource {
 public:
  Simulated()
      : backend_({.nodes = {{.id = NodeId{1}, .name = "n", .capacity = {.cpu_millis = 4000}}},
                  .report_every = std::chrono::milliseconds(100)},
                 clock_, *this, ledger_) {}

  void StartBackend(Term) override {}
  Backend& backend() override { return backend_; }
  bool RunUntil(const std::function<bool()>& holds) override {
    const Instant patience = clock_.Now() + std::chrono::seconds(20);
    while (!holds()) {
      if (clock_.Now() > patience) return false;
      clock_.AdvanceTo(std::min(backend_.NextAt(), clock_.Now() + std::chrono::milliseconds(10)));
      backend_.RunDue();
    }
    return true;
  }
  void RunAWhile() override {
    const Instant until = clock_.Now() + std::chrono::milliseconds(500);
    while (backend_.NextAt() <= until) {
      clock_.AdvanceTo(backend_.NextAt());
      backend_.RunDue();
    }
    clock_.AdvanceTo(until);
  }
  void KillRunner(ReplicaId id) override { backend_.LoseReplica(id); }
  std::shared_ptr<const JobSpec> Endless() override { return Named("endless"); }
  std::shared_ptr<const JobSpec> Deaf() override { return Named("deaf"); }
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
  std::unique_ptr<JobModel> ModelOf(JobId, const JobSpec& spec) override {
    return std::make_unique<NamedJob>(spec.name);
  }

  ManualClock clock_;
  Ledger ledger_;
  SimulatedBackend backend_;
};

INSTANTIATE_TEST_SUITE_P(Simulated, BackendConformance,
                         testing::Values([] { return std::make_unique<Simulated>(); }),
                         [](const auto&) { return "simulated"; });

}  // namespace
}  // namespace mete
