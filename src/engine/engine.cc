#include "engine/engine.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace mete {

Engine::Engine(EngineOptions options, const Clock& clock, Executor& executor, Backend& backend,
               Store& store, const PolicyRegistry& policies)
    : options_(std::move(options)),
      clock_(clock),
      executor_(executor),
      backend_(backend),
      policies_(policies),
      rng_(options_.seed),
      outbox_(store, [this] { RetryJournal(); }) {}

// ---- Commands ----

void Engine::Submit(std::vector<JobSpec> specs, Reply<std::vector<JobId>> reply) {
  std::vector<std::shared_ptr<const JobSpec>> shared;
  shared.reserve(specs.size());
  for (JobSpec& spec : specs) shared.push_back(std::make_shared<const JobSpec>(std::move(spec)));
  Submit(std::move(shared), std::move(reply));
}

void Engine::Submit(std::vector<std::shared_ptr<const JobSpec>> specs,
                    Reply<std::vector<JobId>> reply) {
  if (const auto& error = journal_error()) return reply(tl::make_unexpected(*error));
  for (size_t i = 0; i < specs.size(); ++i) {
    if (Status valid = Validate(*specs[i]); !valid) {
      Error error = std::move(valid).error();
      error.where = fmt::format("jobs[{}]{}{}", i, error.where.empty() ? "" : ".", error.where);
      return reply(tl::make_unexpected(std::move(error)));
    }
  }
  std::vector<JobId> ids;
  for (std::shared_ptr<const JobSpec>& spec : specs) {
    JobRecord record;
    record.id = jobs_.NextJobId();
    record.spec = std::move(spec);
    record.submitted = clock_.WallNow();
    Job& job = jobs_.Add(std::move(record));
    ++live_jobs_;
    job.submitted_at = clock_.Now();
    job.units_round = round_status_.rounds;
    FindMaxUnits(job);
    ids.push_back(job.id());
    Note("submitted", job.id(), nlohmann::json({{"name", job.spec().name}}).dump());
    Touch(job);
  }
  outbox_.Then([reply = std::move(reply), ids] { reply(ids); });
  Flush();
  RequestRound();
}

void Engine::Kill(JobId id, Reply<void> reply) {
  if (Job* job = jobs_.Find(id)) job->stop_at_once = true;
  Cancel(id, std::move(reply));
}

void Engine::Cancel(JobId id, Reply<void> reply) {
  Result<Job*> found = FindLive(id);
  if (!found) return reply(tl::make_unexpected(found.error()));
  Job& job = **found;
  Note("cancel", id, "{}");
  StopJob(job, EndReason::kCancelled, "cancelled by its user");
  outbox_.Then([reply = std::move(reply)] { reply({}); });
  Flush();
  RequestRound();
}

void Engine::Pause(JobId id, Reply<void> reply) {
  Result<Job*> found = FindLive(id);
  if (!found) return reply(tl::make_unexpected(found.error()));
  Job& job = **found;
  if (!job.record.paused) {
    job.record.paused = true;
    for (Reason& reason : job.record.reasons) reason = {.code = ReasonCode::kPaused};
    Note("paused", id, "{}");
    Touch(job);
    Desire(job);
  }
  outbox_.Then([reply = std::move(reply)] { reply({}); });
  Flush();
  RequestRound();
}

void Engine::Resume(JobId id, Reply<void> reply) {
  Job* job = jobs_.Find(id);
  if (job != nullptr && job->record.phase == JobPhase::kLost) {
    Note("resumed", id, "{}");
    job->record.end = {};
    job->record.paused = false;
    job->retry_at = Instant();
    job->resumes = false;
    std::erase(ended_, id);
    ChangePhase(*job, JobPhase::kQueued);
  } else {
    Result<Job*> found = FindLive(id);
    if (!found) return reply(tl::make_unexpected(found.error()));
    if (job->record.paused) {
      job->record.paused = false;
      for (Reason& reason : job->record.reasons) reason = {};
      Note("resumed", id, "{}");
      Touch(*job);
      Desire(*job);
    }
  }
  outbox_.Then([reply = std::move(reply)] { reply({}); });
  Flush();
  RequestRound();
}

void Engine::Scale(JobId id, int role, std::optional<int64_t> units, Reply<void> reply) {
  Result<Job*> found = FindLive(id);
  if (!found) return reply(tl::make_unexpected(found.error()));
  Job& job = **found;
  if (role < 0 || role >= static_cast<int>(job.spec().roles.size())) {
    return reply(Fail(ErrorCode::kNotFound, fmt::format("the job has no role number {}", role)));
  }
  const RoleSpec& spec = job.spec().roles[static_cast<size_t>(role)];
  if (units && (*units < spec.min_units || *units > MaxUnits(spec))) {
    return reply(Fail(ErrorCode::kInvalidArgument,
                      fmt::format("{} units are out of bounds", *units), "units",
                      fmt::format("role '{}' may have {} to {} units", spec.name, spec.min_units,
                                  MaxUnits(spec))));
  }
  job.fixed_units[static_cast<size_t>(role)] = units;
  Note("scaled", id,
       units ? fmt::format(R"({{"role":{},"units":{}}})", role, *units)
             : fmt::format(R"({{"role":{},"units":null}})", role));
  RefreshRow(job);
  outbox_.Then([reply = std::move(reply)] { reply({}); });
  Flush();
  RequestRound();
}

void Engine::SetPolicy(const std::string& text, Reply<void> reply) {
  if (const auto& error = journal_error()) return reply(tl::make_unexpected(*error));
  Result<std::unique_ptr<Policy>> made = policies_.Make(text);
  if (!made) return reply(tl::make_unexpected(std::move(made).error()));
  policy_text_ = text;
  policy_state_ = nullptr;
  UsePolicy(std::move(*made));
  outbox_.batch().policy = text;
  outbox_.batch().policy_state = "";
  Note("policy", JobId(), nlohmann::json({{"policy", text}}).dump());
  outbox_.Then([reply = std::move(reply)] { reply({}); });
  Flush();
  RequestRound();
}

// ---- What commands and observations share ----

Result<Job*> Engine::FindLive(JobId id) {
  if (const auto& error = journal_error()) return tl::make_unexpected(*error);
  Job* job = jobs_.Find(id);
  if (job == nullptr) {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no job {}", id.value), "",
                "`mete list --all` shows every job");
  }
  if (!job->live()) {
    return Fail(ErrorCode::kFailedPrecondition,
                fmt::format("job {} has ended ({})", id.value, JobPhaseName(job->record.phase)));
  }
  return job;
}

Status Engine::Validate(const JobSpec& spec) const {
  if (spec.command.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "there is no command", "command");
  }
  if (spec.roles.empty() || spec.roles.size() > kMaxRoles) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a job has 1 to {} roles, this one {}", kMaxRoles, spec.roles.size()),
                "roles");
  }
  if (!(spec.weight > 0) || !std::isfinite(spec.weight)) {
    return Fail(ErrorCode::kInvalidArgument, "the weight is not a positive number", "weight");
  }
  Resources least;
  for (const RoleSpec& role : spec.roles) {
    const std::string where = "roles." + role.name;
    if (role.min_units < 1 || (role.max_units != 0 && role.max_units < role.min_units)) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("min {} and max {} units do not go together", role.min_units, role.max_units),
          where, "write 1 <= min <= max");
    }
    if (role.unit.cpu_millis < 0 || role.unit.memory_bytes < 0 || role.unit.gpus < 0 ||
        role.unit == Resources()) {
      return Fail(ErrorCode::kInvalidArgument, "a unit must hold something", where + ".unit");
    }
    if (MaxUnits(role) < role.min_units) {
      return Fail(ErrorCode::kNeverFits,
                  fmt::format("at least {} units of {} cores are asked for, and {} fit into the "
                              "whole cluster",
                              role.min_units, FormatCpu(role.unit.cpu_millis), MaxUnits(role)),
                  where + ".min", "ask for less, or see `mete nodes`");
    }
    least += role.unit * role.min_units;
  }
  const Resources total = TotalCapacity(nodes_);
  if (!least.FitsIn(total)) {
    return Fail(ErrorCode::kNeverFits, "its roles together need more than the whole cluster has",
                "roles", "ask for less, or see `mete nodes`");
  }
  if (RequestedMemoryBytes(spec) > total.memory_bytes) {
    return Fail(
        ErrorCode::kNeverFits,
        fmt::format("it asks for {} of memory, and the cluster has {}",
                    FormatBytes(RequestedMemoryBytes(spec)), FormatBytes(total.memory_bytes)),
        "memory", "ask for less, or see `mete nodes`");
  }
  return {};
}

int64_t Engine::MaxUnits(const RoleSpec& role) const {
  if (role.scaling == Scaling::kFixed) return role.min_units;
  const int64_t wanted = role.max_units == 0 ? INT64_MAX / 4096 : role.max_units;
  int64_t units = 0;
  for (const Node& node : nodes_) {
    const int64_t here = UnitsThatFit(role.unit, node.capacity, wanted);
    // A share role is one replica and lives on one node.
    units =
        role.scaling == Scaling::kShare ? std::max(units, here) : std::min(units + here, wanted);
  }
  return units;
}

void Engine::FindMaxUnits(Job& job) const {
  for (size_t role = 0; role < job.spec().roles.size(); ++role) {
    job.max_units[role] = MaxUnits(job.spec().roles[role]);
  }
}

void Engine::UseNodes(std::vector<Node> nodes) {
  nodes_ = std::move(nodes);
  capacity_ = TotalCapacity(nodes_);
  room_.SetNodes(nodes_);
  unoccupied_.SetNodes(nodes_);
  view_.SetNodes(nodes_);
  view_.SetCapacity(capacity_ - away_);
  for (const auto& [id, job] : jobs_.all()) {
    FindMaxUnits(*job);
    RefreshRow(*job);
  }
}

void Engine::UsePolicy(std::shared_ptr<const Policy> policy) {
  policy_ = std::move(policy);
  view_.SetNeeds(policy_->needs());
  // Whether shares are controlled at all may have changed.
  for (const auto& [id, job] : jobs_.all()) {
    if (!job->live()) continue;
    RefreshRow(*job);
    view_.PutForecast(id, job->forecast);
    view_.PutSpeed(id, job->speed);
    LetInOf(*job);
    Desire(*job);
  }
}

void Engine::ChangePhase(Job& job, JobPhase phase) {
  if (job.record.phase == phase) return;
  Note("phase", job.id(),
       nlohmann::json({{"from", JobPhaseName(job.record.phase)}, {"to", JobPhaseName(phase)}})
           .dump());
  live_jobs_ += static_cast<int>(!IsFinal(phase)) - static_cast<int>(!IsFinal(job.record.phase));
  job.record.phase = phase;
  Touch(job);
}

void Engine::Note(std::string kind, JobId job, std::string detail) {
  outbox_.batch().events.push_back({std::move(kind), job, std::move(detail)});
}

void Engine::Touch(Job& job) {
  touched_.push_back(job.id());
  RefreshRow(job);
}

void Engine::Flush() {
  std::ranges::sort(touched_);
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const JobId id : touched_) {
    const Job* job = jobs_.Find(id);
    if (job == nullptr) continue;
    outbox_.batch().jobs.push_back(job->record);
    if (listener_) outbox_.Then([this, record = job->record] { listener_(record); });
  }
  touched_.clear();
  if (!desires_.empty()) {
    outbox_.Then([this, desires = std::exchange(desires_, {})] { backend_.Apply(desires, term_); });
  }
  outbox_.Flush();
}

void Engine::RetryJournal() {
  executor_.At(Executor::Timer::kJournal, clock_.Now() + std::chrono::seconds(1),
               [this] { outbox_.Retry(); });
}

}  // namespace mete
