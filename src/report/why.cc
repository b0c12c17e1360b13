#include "report/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "report/quantity_text.h"
#include "report/text_width.h"

namespace mete {
namespace {

int64_t Whole(double number) {
  return std::isfinite(number) && std::abs(number) < 9e18 ? std::llround(number) : 0;
}

std::string Plural(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string Cores(double cores) {
  return fmt::format("{} {}", CoresText(cores), cores > 0 && cores <= 1 ? "core" : "cores");
}

// A normalised gain: the part of a job's whole way that it makes in a round.
std::string GainText(double gain) {
  if (!std::isfinite(gain)) return "unknown";
  const double percent = 100 * gain;
  return percent != 0 && std::abs(percent) < 0.01 ? fmt::format("{:.1e} %", percent)
                                                  : fmt::format("{:.3g} %", percent);
}

std::string RunnerUp(const RoleSummary& role) {
  if (!role.reason.runner_up) return "";
  const std::string id = std::to_string(role.reason.runner_up.value);
  return role.runner_up_name.empty()
             ? "job " + id
             : fmt::format("{} (job {})", Printable(role.runner_up_name), id);
}

std::string MarginalGain(const RoleSummary& role) {
  const auto& n = role.reason.numbers;
  std::string text = fmt::format(
      "By the forecast it covers {} of its whole way in a round at this size, more than others "
      "would "
      "with the same cores. Its last unit brings {}",
      GainText(n[0]), GainText(n[1]));
  const bool at_max = role.max_units > 0 && role.units >= role.max_units;
  if (at_max) {
    text += fmt::format("; it has the most it may have ({}).", Plural(role.max_units, "unit"));
  } else {
    text += fmt::format(", the next one would bring {}; units went to whoever gained at least {}.",
                        GainText(n[2]), GainText(n[3]));
  }
  const std::string other = RunnerUp(role);
  if (!other.empty()) {
    text += fmt::format(" The last unit would otherwise have gone to {}.", other);
  }
  if (!at_max && n[3] > n[2]) {
    text += n[2] > 0 ? fmt::format(
                           " It would get another unit if its gain from one were {:.2g} times as "
                           "large, or if a job ended.",
                           n[3] / n[2])
                     : " More cores would not make it faster.";
  }
  return text;
}

std::string ShortestWork(const RoleSummary& role) {
  const auto& n = role.reason.numbers;
  const int64_t rank = Whole(n[1]);
  std::string text = fmt::format(
      "By the forecast {} core-seconds take it to a loss of {}, {} further on its way (50, 75, 90 "
      "and 95 %, or its target). That is number {} in the order of least work for a milestone.",
      LossText(n[0]), LossText(n[2]), Plural(std::max<int64_t>(1, Whole(n[3])), "milestone"), rank);
  const std::string other = RunnerUp(role);
  if (!other.empty()) text += fmt::format(" Next in line is {}.", other);
  text += rank <= 1 ? " Another job would go first only if it had less work left."
                    : " It moves up as the jobs before it reach theirs.";
  return text;
}

std::string StatementReason(const RoleSummary& role) {
  const auto& n = role.reason.numbers;
  switch (role.reason.code) {
    case ReasonCode::kNoRoom:
      return fmt::format("It needs {} to run and {} free. It starts when others shrink or end.",
                         Plural(Whole(n[1]), "unit"),
                         Whole(n[0]) == 1 ? "only 1 is" : fmt::format("only {} are", Whole(n[0])));
    case ReasonCode::kNoMemory:
      return fmt::format(
          "It asks for {} of memory and {} is free beside the running and frozen jobs. It starts "
          "when one of them ends; `memory:` in its job file sets what it asks for.",
          FormatBytes(Whole(n[1])), FormatBytes(Whole(n[0])));
    case ReasonCode::kHeld:
      return fmt::format(
          "The policy wants {}, but a replica runs at least its minimum time before it is stopped: "
          "{} to go.",
          Plural(Whole(n[1]), "unit"), SecondsText(n[0]));
    case ReasonCode::kDamped:
      return fmt::format(
          "The policy wants {}; that is less than the smallest change made ({}), so it keeps what "
          "it "
          "has.",
          Plural(Whole(n[0]), "unit"), Plural(Whole(n[1]), "unit"));
    case ReasonCode::kNeverFits:
      return fmt::format(
          "It needs {} and the whole cluster has room for {}. It can never run here.",
          Plural(Whole(n[1]), "unit"), Whole(n[0]));
    default:
      return "";
  }
}

std::string FairReason(const RoleSummary& role, const JobSummary& job) {
  const auto& n = role.reason.numbers;
  switch (role.reason.code) {
    case ReasonCode::kFairShare: {
      std::string text = fmt::format("This is its fair share: {} cores at weight {}.",
                                     CoresText(n[0]), CoresText(n[1]));
      if (role.max_units > 0 && role.units >= role.max_units) {
        text += " It has the most it may have; what it leaves goes to the others.";
      } else {
        text += " It changes when jobs come or go, or with its weight.";
      }
      return text;
    }
    case ReasonCode::kFloor:
      return fmt::format(
          "It gets the floor that every job is guaranteed: {} of its fair share of {} cores. What "
          "is "
          "above the floors went to jobs that gain more from it; it gets more when its forecast "
          "gain "
          "exceeds theirs, or with a higher floor (`mete policy set`).",
          PercentText(n[0]), CoresText(n[1]));
    case ReasonCode::kStartFirst:
      return fmt::format(
          "It is new: {} of the {} losses that a forecast needs have been seen. Until then it "
          "comes "
          "first for what is above the floors.",
          Whole(n[0]), Whole(n[1]));
    case ReasonCode::kSilent:
      return fmt::format(
          "It has not reported a loss in the {} since its start, so it gets its fair share. See "
          "`mete logs {}` and `progress:` in its job file.",
          SecondsText(n[0]), job.id.value);
    case ReasonCode::kConverged:
      return fmt::format(
          "Its forecast says that there is next to nothing left to gain: {} of its whole way in a "
          "round. It keeps its floor until it ends; a `stop:` rule would end it by itself.",
          GainText(n[0]));
    case ReasonCode::kLeftOver:
      return fmt::format(
          "No job's forecast gains from these cores, so they are handed out evenly (fair share: {} "
          "cores).",
          CoresText(n[0]));
    default:
      return "";
  }
}

std::string SizeLine(const RoleSummary& role, const JobSummary& job) {
  const double cores = static_cast<double>(role.units) * role.unit_cores;
  std::string bounds = fmt::format("min {}", role.min_units);
  if (role.max_units > 0) bounds += fmt::format(", max {}", role.max_units);
  return fmt::format("{} has {}: {} of {} ({}).",
                     job.roles.size() > 1 ? "Role " + Printable(role.name) : "It", Cores(cores),
                     Plural(role.units, "unit"), Cores(role.unit_cores), bounds);
}

std::string WaitingLine(const JobSummary& job) {
  if (job.phase == JobPhase::kQueued && job.end.reason != EndReason::kNone) {
    return fmt::format("Attempt {} failed ({}); it waits before the next.\n", job.attempt,
                       EndText(job.end));
  }
  return "";
}

std::string ForecastLine(const JobSummary& job) {
  const ForecastSummary& f = job.forecast;
  if (!f.usable || !f.level || !f.asymptote) return "";
  std::string text = fmt::format("Forecast: loss {} now, expected to end near {}",
                                 LossText(*f.level), LossText(*f.asymptote));
  if (f.seconds_per_iteration) {
    text += fmt::format("; {} s an iteration at this size", LossText(*f.seconds_per_iteration));
  }
  if (f.backtest_error) {
    text += fmt::format("; earlier forecasts were off by {} of the range on average",
                        GainText(*f.backtest_error));
  }
  return text + ".\n";
}

// What one can do about it.
std::string FinalText(const JobSummary& job) {
  const std::string id = std::to_string(job.id.value);
  std::string text;
  if (job.phase == JobPhase::kLost) {
    text += fmt::format(
        "It is not started again by itself: `mete resume {}` runs it again. With `retry: "
        "{{on_lost: true}}` in its job file that happens by itself.\n",
        id);
  } else if (job.phase == JobPhase::kFailed) {
    text += fmt::format("`mete logs {}` shows its output.\n", id);
  }
  return text;
}

}  // namespace

std::string ReasonText(const RoleSummary& role, const JobSummary& job, const WhyContext& context) {
  const auto& n = role.reason.numbers;
  switch (role.reason.code) {
    case ReasonCode::kNone:
      return "Nothing has been decided for it yet; the next round will.";
    case ReasonCode::kUncontrolled:
      return "The policy `none` starts every job and leaves the sharing to the operating system.";
    case ReasonCode::kQueueOrder:
      return Whole(n[1]) == 0
                 ? fmt::format(
                       "First come, first served: it is number {}, and nobody is before it.",
                       Whole(n[0]))
                 : fmt::format(
                       "First come, first served: it is number {}, {} before it. It moves up when "
                       "they end.",
                       Whole(n[0]),
                       Whole(n[1]) == 1 ? "1 job is" : fmt::format("{} jobs are", Whole(n[1])));
    case ReasonCode::kFairShare:
    case ReasonCode::kFloor:
    case ReasonCode::kStartFirst:
    case ReasonCode::kSilent:
    case ReasonCode::kConverged:
    case ReasonCode::kLeftOver:
      return FairReason(role, job);
    case ReasonCode::kShortestRest:
      return fmt::format(
          "The shortest rest first: by what its user expects {} are left of it. {} jobs wait.",
          SecondsText(n[0]), Whole(n[1]));
    case ReasonCode::kLeastService:
      return fmt::format(
          "The least service first: it is in queue {}, by what it has had so far. {} jobs wait.",
          Whole(n[0]) + 1, Whole(n[1]));
    case ReasonCode::kMarginalGain:
      return MarginalGain(role);
    case ReasonCode::kShortestWork:
      return ShortestWork(role);
    case ReasonCode::kAgeing:
      return fmt::format(
          "It waited {} without a unit, about {}, so it comes before the others now.",
          Plural(Whole(n[0]), "round"), SecondsText(n[0] * context.round_seconds));
    case ReasonCode::kPaused:
      return fmt::format("It was paused by `mete pause`; `mete resume {}` lets it go on.",
                         job.id.value);
    case ReasonCode::kUserScale:
      return fmt::format(
          "`mete scale` fixed it at {}; `mete scale {} auto` gives it back to the policy.",
          Plural(Whole(n[0]), "unit"), job.id.value);
    case ReasonCode::kNoRoom:
    case ReasonCode::kNoMemory:
    case ReasonCode::kHeld:
    case ReasonCode::kDamped:
    case ReasonCode::kNeverFits:
      return StatementReason(role);
  }
  return "";
}

std::string WhyText(const JobSummary& job, const WhyContext& context) {
  const std::string name = fmt::format("{} (job {})", Printable(job.name), job.id.value);
  if (IsFinal(job.phase)) {
    const std::string end = EndText(job.end);
    return fmt::format(
               "{} {}{}{}.\n", name,
               job.phase == JobPhase::kFailed ? "has failed" : fmt::format("is {}", PhaseText(job)),
               end.empty() ? "" : ": ", end) +
           FinalText(job);
  }
  std::string text =
      fmt::format("{} is {}, under policy {}.\n", name, PhaseText(job), Printable(context.policy));
  text += WaitingLine(job);
  for (const RoleSummary& role : job.roles) {
    text += "\n" + SizeLine(role, job) + "\n";
    text += ReasonText(role, job, context) + "\n";
  }
  const std::string forecast = ForecastLine(job);
  if (!forecast.empty()) text += "\n" + forecast;
  if (job.cores_used && job.cores > 0 && *job.cores_used > 1.2 * job.cores) {
    text += fmt::format("It uses {}: others leave some idle.\n", Cores(*job.cores_used));
  } else if (job.cores_used && job.cores > 0 && *job.cores_used < 0.5 * job.cores &&
             job.phase == JobPhase::kRunning) {
    text += fmt::format(
        "It uses only {} of its {}: it waits for something else, or has too few threads.\n",
        CoresText(*job.cores_used), Cores(job.cores));
  }
  return text;
}

std::string ReasonPhrase(const Reason& reason) {
  const auto& n = reason.numbers;
  switch (reason.code) {
    case ReasonCode::kNone:
      return "not decided yet";
    case ReasonCode::kUncontrolled:
      return "not controlled";
    case ReasonCode::kQueueOrder:
      return fmt::format("number {} in the queue", Whole(n[0]));
    case ReasonCode::kFairShare:
      return fmt::format("fair share {}", CoresText(n[0]));
    case ReasonCode::kFloor:
      return fmt::format("floor {} of {}", PercentText(n[0]), CoresText(n[1]));
    case ReasonCode::kStartFirst:
      return fmt::format("new, {} of {} losses", Whole(n[0]), Whole(n[1]));
    case ReasonCode::kSilent:
      return fmt::format("silent for {}", SecondsText(n[0]));
    case ReasonCode::kShortestRest:
      return fmt::format("{} left", SecondsText(n[0]));
    case ReasonCode::kLeastService:
      return fmt::format("in queue {}", Whole(n[0]) + 1);
    case ReasonCode::kMarginalGain:
      return fmt::format("gains {} a round", GainText(n[0]));
    case ReasonCode::kShortestWork:
      return fmt::format("{} core-s to a milestone, rank {}", LossText(n[0]), Whole(n[1]));
    case ReasonCode::kConverged:
      return "converged";
    case ReasonCode::kLeftOver:
      return "left over";
    case ReasonCode::kAgeing:
      return fmt::format("waited {}", Plural(Whole(n[0]), "round"));
    case ReasonCode::kNoRoom:
      return fmt::format("no room: {} free, {} needed", Whole(n[0]), Whole(n[1]));
    case ReasonCode::kNoMemory:
      return fmt::format("no memory: {} free, {} needed", FormatBytes(Whole(n[0])),
                         FormatBytes(Whole(n[1])));
    case ReasonCode::kPaused:
      return "paused";
    case ReasonCode::kHeld:
      return fmt::format("held for {}", SecondsText(n[0]));
    case ReasonCode::kDamped:
      return "change too small";
    case ReasonCode::kUserScale:
      return "scaled by user";
    case ReasonCode::kNeverFits:
      return "never fits";
  }
  return "";
}

}  // namespace mete
