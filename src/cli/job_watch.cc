#include "cli/job_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/summary_reader.h"
#include "report/quantity_text.h"
#include "report/text_width.h"

namespace mete {
namespace {

// From here on one list is cheaper than asking for each.
constexpr size_t kAskEach = 8;
constexpr Duration kPatience = std::chrono::seconds(60);

}  // namespace

JobWatch::JobWatch(std::vector<JobId> ids) {
  for (const JobId id : ids) jobs_[id].id = id;
}

Status JobWatch::Update(const Session& session, std::vector<JobSummary>* changed) {
  Status status = Ask(session, changed);
  if (status || status.error().code != ErrorCode::kUnavailable) {
    silent_since_.reset();
    return status;
  }
  const Instant now = session.clock().Now();
  if (!silent_since_) {
    silent_since_ = now;
    session.Note("the daemon does not answer; its jobs go on, waiting for it");
  }
  return now - *silent_since_ < kPatience ? Status() : status;
}

Status JobWatch::Ask(const Session& session, std::vector<JobSummary>* changed) {
  std::map<JobId, JobSummary> fresh;
  const auto open =
      std::ranges::count_if(jobs_, [](const auto& entry) { return !IsFinal(entry.second.phase); });
  if (static_cast<size_t>(open) > kAskEach) {
    METE_ASSIGN_OR_RETURN(const Document list, session.Call("GET", "/v1/jobs"));
    for (JobSummary& job : ReadJobSummaries(list)) {
      const JobId id = job.id;
      fresh[id] = std::move(job);
    }
  }
  for (auto& [id, known] : jobs_) {
    if (IsFinal(known.phase)) continue;
    const auto found = fresh.find(id);
    JobSummary now;
    if (found != fresh.end()) {
      now = std::move(found->second);
    } else {
      METE_ASSIGN_OR_RETURN(const Document job,
                            session.Call("GET", JobTarget(std::to_string(id.value))));
      now = ReadJobSummary(job);
    }
    const bool differs = now.phase != known.phase || known.name.empty();
    known = std::move(now);
    if (differs && changed != nullptr) changed->push_back(known);
  }
  return {};
}

bool JobWatch::AllFinal() const {
  return std::ranges::all_of(jobs_, [](const auto& entry) { return IsFinal(entry.second.phase); });
}

bool JobWatch::AllDone() const {
  return std::ranges::all_of(
      jobs_, [](const auto& entry) { return entry.second.phase == JobPhase::kDone; });
}

std::string JobLine(const JobSummary& job) {
  std::string line = fmt::format("{} (job {}): ", Printable(job.name), job.id.value);
  const std::string phase = PhaseText(job);
  if (!IsFinal(job.phase)) return line + phase;
  const std::string end = EndText(job.end);
  // "cancelled by its user" says both.
  line += end.starts_with(phase) ? end : end.empty() ? phase : phase + ", " + end;
  if (job.loss) line += ", loss " + LossText(*job.loss);
  if (job.started && job.ended) line += ", after " + AgeText(*job.ended - *job.started);
  return line;
}

}  // namespace mete
