// The engine as a whole, against a backend and a journal in memory and a clock that the test moves.

#include "engine/engine.h"

#include <algorithm>
#include <cmath>

#include "backend/memory/memory_backend.h"
#include "base/rng.h"
#include "engine/manual_executor.h"
#include "gtest/gtest.h"
#include "store/memory_store.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kGiB = int64_t{1} << 30;

JobSpec Spec(std::string name = "train") {
  JobSpec spec;
  spec.name = std::move(name);
  spec.command = {"train"};
  spec.directory = "/";
  spec.roles = {RoleSpec{}};
  return spec;
}

// One daemon's life over a journal and a backend that outlive it.
class World {
 public:
  explicit World(int64_t cpu_millis = 2000, std::string policy = "fair")
      : backend({{.id = NodeId{1},
                  .name = "here",
                  .capacity = {.cpu_millis = cpu_millis, .memory_bytes = 8 * kGiB}}}) {
    options.default_policy = std::move(policy);
    Boot();
  }

  void Boot(bool rebooted = false) {
    engine.reset();
    executor = std::make_unique<ManualExecutor>(clock);
    engine = std::make_unique<Engine>(options, clock, *executor, backend, store, policies);
    bool ready = false;
    engine->Start(store.Load(rebooted), [&](Result<void> result) {
      ASSERT_TRUE(result) << result.error().ToString();
      ready = true;
    });
    ASSERT_TRUE(ready);
    backend.Reconnect();
    Run(0s);
  }
  // kill -9 of the daemon, and a new one.
  void Restart(bool rebooted = false) { Boot(rebooted); }

  void Run(Duration duration) {
    const Instant until = clock.Now() + duration;
    do {
      while (backend.Deliver() > 0) {
      }
      const auto next = executor->NextAt();
      executor->RunUntil(next && *next < until ? std::max(*next, clock.Now()) : until);
    } while (clock.Now() < until || backend.Deliver() > 0);
  }

  JobId Submit(JobSpec spec) {
    JobId id;
    engine->Submit({std::move(spec)}, [&](Result<std::vector<JobId>> ids) {
      ASSERT_TRUE(ids) << ids.error().ToString();
      id = ids->front();
    });
    Run(1s);
    return id;
  }
  Error SubmitError(JobSpec spec) {
    Error error;
    engine->Submit({std::move(spec)}, [&](Result<std::vector<JobId>> ids) {
      ASSERT_FALSE(ids);
      error = ids.error();
    });
    return error;
  }
  const Job& job(JobId id) { return *engine->jobs().Find(id); }
  JobPhase phase(JobId id) { return job(id).record.phase; }
  int64_t units(JobId id) { return job(id).record.units[0]; }
  void Report(JobId id, int64_t iteration, double loss) {
    backend.Report(backend.OnlyReplica(id),
                   {{.iteration = iteration, .loss = loss, .time = clock.Now()}});
    Run(0s);
  }
  void Exit(JobId id, int code) {
    backend.Exit(backend.OnlyReplica(id), {.reason = EndReason::kExited, .exit_code = code});
    Run(1s);
  }
  void Do(void (Engine::*command)(JobId, Reply<void>), JobId id) {
    (engine.get()->*command)(
        id, [](Result<void> done) { ASSERT_TRUE(done) << done.error().ToString(); });
    Run(1s);
  }

  ManualClock clock{Instant(1000s), WallTime(1'700'000'000s)};
  PolicyRegistry policies = BuiltinPolicies();
  MemoryStore store;
  MemoryBackend backend;
  EngineOptions options;
  std::unique_ptr<ManualExecutor> executor;
  std::unique_ptr<Engine> engine;
};

TEST(Engine, OneJobGetsTheMachineTwoShareIt) {
  World world;
  const JobId a = world.Submit(Spec("a"));
  EXPECT_EQ(world.phase(a), JobPhase::kRunning);
  EXPECT_EQ(world.units(a), 20);
  const JobId b = world.Submit(Spec("b"));
  EXPECT_EQ(world.units(a), 10);
  EXPECT_EQ(world.units(b), 10);
  EXPECT_EQ(world.backend.replicas().at(world.backend.OnlyReplica(a)).desired.cpu_millis, 1000);
  world.Exit(a, 0);
  EXPECT_EQ(world.phase(a), JobPhase::kDone);
  EXPECT_EQ(world.units(b), 20);
}

TEST(Engine, WithoutControlJobsAreNotHeldToTheCapacity) {
  World world(2000, "none");
  const JobId a = world.Submit(Spec("a")), b = world.Submit(Spec("b"));
  EXPECT_EQ(world.phase(a), JobPhase::kRunning);
  EXPECT_EQ(world.phase(b), JobPhase::kRunning);
  EXPECT_EQ(world.backend.replicas().at(world.backend.OnlyReplica(b)).desired.cpu_millis, -1);
}

TEST(Engine, NothingIsStartedBeforeItsCommit) {
  World world;
  world.store.SetFailure(Error{ErrorCode::kResourceExhausted, "disk full"});
  bool answered = false;
  world.engine->Submit({Spec()}, [&](Result<std::vector<JobId>>) { answered = true; });
  world.Run(10s);
  EXPECT_FALSE(answered);
  EXPECT_TRUE(world.backend.replicas().empty());
  EXPECT_EQ(world.SubmitError(Spec()).code, ErrorCode::kResourceExhausted);
  world.store.SetFailure(std::nullopt);
  world.Run(10s);
  EXPECT_TRUE(answered);
  EXPECT_EQ(world.backend.replicas().size(), 1u);
}

TEST(Engine, WhatNeverFitsIsRefusedWhole) {
  World world;
  JobSpec wide = Spec();
  wide.roles[0].min_units = 21;
  EXPECT_EQ(world.SubmitError(wide).code, ErrorCode::kNeverFits);
  JobSpec fat = Spec();
  fat.memory_bytes = 9 * kGiB;
  EXPECT_EQ(world.SubmitError(fat).code, ErrorCode::kNeverFits);
  world.engine->Submit({Spec("good"), fat},
                       [](Result<std::vector<JobId>> ids) { EXPECT_FALSE(ids); });
  EXPECT_TRUE(world.engine->jobs().all().empty());
}

TEST(Engine, ReportsAreJournalledThenAcknowledged) {
  World world;
  const JobId id = world.Submit(Spec());
  for (int i = 1; i <= 5; ++i) world.Report(id, i, 1.0 / i);
  EXPECT_EQ(world.store.ReportsOf(id).size(), 5u);
  EXPECT_TRUE(world.backend.replicas().begin()->second.unacknowledged.empty());
  EXPECT_EQ(world.job(id).record.iteration, 5);
  EXPECT_EQ(world.job(id).losses, 5);
}

TEST(Engine, StopRulesEndTheJobAsDone) {
  World world;
  JobSpec spec = Spec();
  spec.stop.target = 0.3;
  const JobId id = world.Submit(spec);
  world.Report(id, 1, 1.0);
  EXPECT_EQ(world.phase(id), JobPhase::kRunning);
  world.Report(id, 2, 0.25);
  world.Run(1s);
  EXPECT_EQ(world.phase(id), JobPhase::kDone);
  EXPECT_EQ(world.job(id).record.end.reason, EndReason::kTargetReached);

  JobSpec rising = Spec();
  rising.goal = Goal::kMaximize;
  rising.stop.plateau = Plateau{.iterations = 3, .relative_improvement = 0.01};
  const JobId flat = world.Submit(rising);
  for (int i = 1; i <= 4; ++i) world.Report(flat, i, 0.1 * i);
  EXPECT_EQ(world.phase(flat), JobPhase::kRunning);
  for (int i = 5; i <= 7; ++i) world.Report(flat, i, 0.4);
  world.Run(1s);
  EXPECT_EQ(world.job(flat).record.end.reason, EndReason::kPlateau);

  JobSpec brief = Spec();
  brief.stop.deadline = 20s;
  const JobId late = world.Submit(brief);
  world.Run(15s);
  EXPECT_EQ(world.phase(late), JobPhase::kRunning);
  world.Run(10s);
  EXPECT_EQ(world.job(late).record.end.reason, EndReason::kDeadline);
}

TEST(Engine, FailuresAreRetriedAfterABackOff) {
  World world;
  JobSpec spec = Spec();
  spec.retry = {.limit = 1, .backoff = 10s};
  const JobId id = world.Submit(spec);
  world.Exit(id, 1);
  EXPECT_EQ(world.phase(id), JobPhase::kQueued);
  world.Run(5s);
  EXPECT_EQ(world.phase(id), JobPhase::kQueued);
  world.Run(10s);
  EXPECT_EQ(world.phase(id), JobPhase::kRunning);
  EXPECT_EQ(world.job(id).record.attempt, 2);
  world.Exit(id, 1);
  EXPECT_EQ(world.phase(id), JobPhase::kFailed);
}

TEST(Engine, PausedJobsFreezeAndGiveTheirUnitsAway) {
  World world;
  const JobId a = world.Submit(Spec("a")), b = world.Submit(Spec("b"));
  world.Do(&Engine::Pause, a);
  EXPECT_EQ(world.units(b), 20);
  EXPECT_EQ(world.backend.replicas().at(world.backend.OnlyReplica(a)).desired.state,
            DesiredState::kFrozen);
  world.Do(&Engine::Resume, a);
  world.Run(5s);
  EXPECT_EQ(world.units(a), 10);
  EXPECT_EQ(world.units(b), 10);
  EXPECT_EQ(world.backend.replicas().at(world.backend.OnlyReplica(a)).desired.state,
            DesiredState::kRun);
  EXPECT_EQ(world.backend.replicas().size(), 2u);  // nothing was restarted
}

TEST(Engine, CancelWaitsUntilTheProcessesAreGone) {
  World world;
  const JobId a = world.Submit(Spec("a")), b = world.Submit(Spec("b"));
  world.backend.SetStubborn(true);
  world.Do(&Engine::Cancel, a);
  world.Run(10s);
  EXPECT_EQ(world.phase(a), JobPhase::kStopping);
  EXPECT_EQ(world.units(b), 10) << "what a stopping job holds is not free yet";
  world.backend.Exit(world.backend.OnlyReplica(a), {.reason = EndReason::kSignalled, .signal = 9});
  world.Run(1s);
  EXPECT_EQ(world.phase(a), JobPhase::kCancelled);
  EXPECT_EQ(world.units(b), 20);
}

TEST(Engine, ScaleFixesUntilReleased) {
  World world;
  const JobId a = world.Submit(Spec("a")), b = world.Submit(Spec("b"));
  world.engine->Scale(a, 0, 3, [](Result<void> done) { ASSERT_TRUE(done); });
  world.Run(4s);
  EXPECT_EQ(world.units(a), 3);
  EXPECT_EQ(world.units(b), 17);
  world.engine->Scale(a, 0, 99, [](Result<void> done) { EXPECT_FALSE(done); });
  world.engine->Scale(a, 0, std::nullopt, [](Result<void> done) { ASSERT_TRUE(done); });
  world.Run(4s);
  EXPECT_EQ(world.units(a), 10);
}

TEST(Engine, ReplicasJoinAndLeaveLive) {
  World world;
  world.options.minimum_run = 0s;
  world.Restart();
  JobSpec spec = Spec();
  spec.roles[0] = {
      .scaling = Scaling::kReplicas, .min_units = 1, .max_units = 2, .unit = {.cpu_millis = 1000}};
  const JobId a = world.Submit(spec);
  EXPECT_EQ(world.job(a).replicas.size(), 2u);
  const JobId b = world.Submit(Spec("b"));
  world.Run(10s);
  EXPECT_EQ(world.job(a).replicas.size(), 1u);
  EXPECT_EQ(world.phase(a), JobPhase::kRunning);
  EXPECT_EQ(world.units(b), 10);
  world.Exit(b, 0);
  world.Run(10s);
  EXPECT_EQ(world.job(a).replicas.size(), 2u);
  EXPECT_EQ(world.job(a).record.attempt, 1);
}

TEST(Engine, ARestartRoleStopsAndStartsAtItsNewSize) {
  World world;
  world.options.minimum_run = 0s;
  world.Restart();
  JobSpec spec = Spec();
  spec.roles[0].scaling = Scaling::kRestart;
  const JobId a = world.Submit(spec);
  world.Submit(Spec("b"));
  world.Run(10s);
  EXPECT_EQ(world.phase(a), JobPhase::kRunning);
  EXPECT_EQ(world.units(a), 10);
  EXPECT_EQ(world.job(a).record.attempt, 2);
}

// srtf asks for no further round: what was refused for the minimum run time comes again by itself.
TEST(Engine, AJobIsPutAsideOnceItHasRunItsMinimumTime) {
  World world(1000, "srtf");
  JobSpec spec = Spec("long");
  spec.roles[0] = {
      .scaling = Scaling::kRestart, .min_units = 1, .max_units = 1, .unit = {.cpu_millis = 1000}};
  spec.expected_duration = 1h;
  const JobId slow = world.Submit(spec);
  spec.expected_duration = 1min;
  const JobId quick = world.Submit(spec);
  world.Run(20s);
  EXPECT_EQ(world.units(slow), 1);
  EXPECT_EQ(world.units(quick), 0);
  world.Run(10s);
  EXPECT_EQ(world.units(slow), 0);
  EXPECT_EQ(world.units(quick), 1);
  world.Exit(quick, 0);
  EXPECT_EQ(world.phase(slow), JobPhase::kRunning);
  EXPECT_NEAR(world.job(slow).served_seconds, 30, 1e-6);
}

TEST(Engine, ADaemonRestartTouchesNoJob) {
  World world;
  const JobId a = world.Submit(Spec("a")), b = world.Submit(Spec("b"));
  for (int i = 1; i <= 5; ++i) world.Report(a, i, 1.0 / i);
  // Reported while no daemon listens.
  world.backend.Report(world.backend.OnlyReplica(a), {{.iteration = 6, .loss = 0.1}});
  world.Restart();
  EXPECT_EQ(world.store.ReportsOf(a).size(), 6u);
  EXPECT_EQ(world.job(a).losses, 6);
  EXPECT_EQ(world.job(a).curve.Points().size(), 6u);
  EXPECT_EQ(world.phase(b), JobPhase::kRunning);
  for (const auto& [id, entry] : world.backend.replicas()) EXPECT_EQ(entry.starts, 1);
  EXPECT_EQ(world.backend.replicas().size(), 2u);
  world.Exit(a, 0);
  EXPECT_EQ(world.phase(a), JobPhase::kDone);
}

TEST(Engine, WhatDiedWhileTheDaemonWasAwayIsLostAndHeld) {
  World world;
  const JobId a = world.Submit(Spec("a"));
  world.backend.AcknowledgeGone(world.backend.OnlyReplica(a));  // vanishes without a trace
  world.Restart();
  EXPECT_EQ(world.phase(a), JobPhase::kLost);
  EXPECT_EQ(world.job(a).record.end.reason, EndReason::kRunnerLost);
  world.Run(60s);
  EXPECT_TRUE(world.backend.replicas().empty()) << "a lost job is not run again by itself";
  world.Do(&Engine::Resume, a);
  EXPECT_EQ(world.phase(a), JobPhase::kRunning);
}

TEST(Engine, AnEndThatWaitedForTheDaemonIsTaken) {
  World world;
  const JobId a = world.Submit(Spec("a"));
  world.backend.Exit(world.backend.OnlyReplica(a), {.reason = EndReason::kExited, .exit_code = 7});
  world.Restart();
  EXPECT_EQ(world.phase(a), JobPhase::kFailed);
  EXPECT_EQ(world.job(a).record.end.exit_code, 7);
  EXPECT_TRUE(world.backend.replicas().empty());
}

TEST(Engine, ForecastsSurviveARestart) {
  World world(2000, "slaq");
  const JobId a = world.Submit(Spec("a"));
  for (int i = 1; i <= 40; ++i) world.Report(a, i, std::exp(-0.1 * i));
  world.Run(5s);
  const LossForecast before = world.job(a).forecast;
  ASSERT_TRUE(before.usable);
  world.Restart();
  world.Run(5s);
  EXPECT_EQ(world.job(a).forecast.asymptote, before.asymptote);
  EXPECT_EQ(world.job(a).forecast.losses, before.losses);
}

TEST(Engine, MemoryOfRunningAndFrozenJobsNeverExceedsTheNode) {
  World world;
  std::vector<JobId> ids;
  for (int i = 0; i < 4; ++i) {
    JobSpec spec = Spec();
    spec.memory_bytes = 3 * kGiB;
    ids.push_back(world.Submit(spec));
  }
  world.Do(&Engine::Pause, ids[0]);
  world.Run(10s);
  const auto started =
      std::ranges::count_if(ids, [&](JobId id) { return !world.job(id).replicas.empty(); });
  EXPECT_EQ(started, 2);
  EXPECT_EQ(world.job(ids[3]).record.reasons[0].code, ReasonCode::kNoMemory);
}

// Random workloads with faults: whatever happens, nothing is started twice, capacity holds, and in
// the end every job is final.
TEST(Engine, SurvivesStorms) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const char* policies[] = {"none", "fifo", "fair", "slaq", "soonest", "sjf", "srtf", "las"};
    World world(1000 * rng.Between(1, 4), policies[rng.Below(8)]);
    std::vector<JobId> ids;
    std::map<JobId, int64_t> iteration;
    for (int step = 0; step < 120; ++step) {
      const double what = rng.Uniform();
      std::vector<ReplicaId> running;
      for (const auto& [id, entry] : world.backend.replicas()) {
        if (!entry.end) running.push_back(id);
      }
      if (what < 0.15 && ids.size() < 12) {
        JobSpec spec = Spec();
        spec.roles[0].min_units = rng.Between(1, 3);
        spec.roles[0].max_units = rng.Between(3, 10);
        spec.retry = {
            .limit = static_cast<int>(rng.Below(3)), .backoff = 2s, .on_lost = rng.Chance(0.5)};
        spec.tenant = rng.Chance(0.5) ? "a" : "b";
        world.engine->Submit({spec}, [&ids](Result<std::vector<JobId>> made) {
          if (made) ids.push_back(made->front());  // refused while the journal is
        });
      } else if (what < 0.6 && !running.empty()) {
        const ReplicaId id = running[rng.Below(running.size())];
        const JobId job = world.backend.replicas().at(id).desired.job;
        const int64_t k = ++iteration[job];
        world.backend.Report(id, {{.iteration = k,
                                   .loss = 1.0 / static_cast<double>(k) + rng.Normal(0, 0.01),
                                   .time = world.clock.Now()}});
      } else if (what < 0.7 && !running.empty()) {
        world.backend.Exit(running[rng.Below(running.size())],
                           {.reason = rng.Chance(0.3) ? EndReason::kRunnerLost : EndReason::kExited,
                            .exit_code = rng.Chance(0.5) ? 1 : 0});
      } else if (what < 0.75) {
        world.Restart();
      } else if (what < 0.85 && !ids.empty()) {
        const JobId id = ids[rng.Below(ids.size())];
        using Command = void (Engine::*)(JobId, Reply<void>);
        const Command commands[] = {&Engine::Pause, &Engine::Resume, &Engine::Cancel};
        (world.engine.get()->*commands[rng.Below(3)])(id, [](Result<void>) {});
      } else if (what < 0.9) {
        world.store.SetFailure(Error{ErrorCode::kResourceExhausted, "disk full"});
        world.Run(3s);
        world.store.SetFailure(std::nullopt);
        if (rng.Chance(0.5)) world.Run(2s);
      }
      world.Run(FromSeconds(rng.Uniform(0, 4)));

      const bool control = world.engine->policy_text() != "none";
      Resources held;
      for (const auto& [id, entry] : world.backend.replicas()) {
        ASSERT_LE(entry.starts, 1);
        if (!entry.end && entry.desired.state == DesiredState::kRun && control) {
          held.cpu_millis += entry.desired.cpu_millis;
        }
      }
      ASSERT_LE(held.cpu_millis, world.engine->view().nodes[0].capacity.cpu_millis);
    }
    world.Run(5s);  // a journal that refused is written again
    for (const JobId id : ids) world.engine->Resume(id, [](Result<void>) {});
    for (int step = 0; step < 200; ++step) {
      for (const auto& [id, entry] : std::map(world.backend.replicas())) {
        if (!entry.end && entry.desired.state == DesiredState::kRun)
          world.backend.Exit(id, {.reason = EndReason::kExited});
      }
      world.Run(5s);
    }
    for (const JobId id : ids) {
      ASSERT_FALSE(world.job(id).live())
          << "job " << id.value << " " << JobPhaseName(world.phase(id)) << ", "
          << ReasonCodeName(world.job(id).record.reasons[0].code) << ", policy "
          << world.engine->policy_text();
    }
    ASSERT_TRUE(world.backend.replicas().empty());
  }
}

}  // namespace
}  // namespace mete
