// GET /v1/top: everything that a live table shows, in one document.

#include <algorithm>

#include "api/api_state.h"
#include "api/cluster_document.h"
#include "api/job_document.h"
#include "http/error_response.h"

namespace mete {
namespace {

constexpr int64_t kJobsMax = 10'000;
constexpr int64_t kEndedDefault = 20;

void WriteRound(JsonWriter& json, const Engine& engine) {
  const RoundStatus& round = engine.round_status();
  json.Key("round");
  json.BeginObject();
  json.Field("count", round.rounds);
  json.Field("late", round.late);
  json.Field("changes", round.changes);
  json.Field("refit_seconds", ToSeconds(round.refit));
  json.Field("decide_seconds", ToSeconds(round.decide));
  json.Field("period_seconds", ToSeconds(engine.options().round));
  json.EndObject();
}

// Live jobs in the order of submission, then the newest of those that ended.
std::vector<const Job*> JobsShown(const Engine& engine, int64_t limit, int64_t ended_limit) {
  std::vector<const Job*> shown;
  std::vector<const Job*> waiting;
  std::vector<const Job*> ended;
  for (const auto& [id, job] : engine.jobs().all()) {
    (!job->live()                             ? ended
     : job->record.phase == JobPhase::kQueued ? waiting
                                              : shown)
        .push_back(job.get());
  }
  const auto by_end = [](const Job* a, const Job* b) { return a->record.ended > b->record.ended; };
  std::stable_sort(ended.begin(), ended.end(), by_end);
  if (std::ssize(ended) > ended_limit) ended.resize(static_cast<size_t>(ended_limit));
  shown.insert(shown.end(), waiting.begin(), waiting.end());
  shown.insert(shown.end(), ended.begin(), ended.end());
  if (std::ssize(shown) > limit) shown.resize(static_cast<size_t>(limit));
  return shown;
}

void Top(const ApiStatePtr& api, const http::Request& request, const http::Responder& responder) {
  const Result<int64_t> limit = QueryNumber(request, "limit", 1, kJobsMax, 1'000);
  if (!limit) return responder.Send(http::ErrorResponse(limit.error()));
  const Result<int64_t> ended = QueryNumber(request, "ended", 0, kJobsMax, kEndedDefault);
  if (!ended) return responder.Send(http::ErrorResponse(ended.error()));
  const Engine& engine = api->engine();
  const ClusterUsage usage = UsageOf(engine);
  std::string body;
  JsonWriter json(body);
  json.BeginObject();
  json.Field("time", api->context().clock.WallNow());
  json.Field("policy", engine.policy_text());
  WriteCapabilities(json, engine.capabilities());
  json.Field("cores", usage.cores);
  json.Field("cores_allocated", usage.cores_allocated);
  json.Field("cores_used", usage.cores_used);
  json.Field("memory_bytes", usage.memory_bytes);
  json.Field("memory_requested_bytes", usage.memory_requested_bytes);
  json.Field("queued", usage.queued);
  json.Field("running", usage.running);
  json.Field("ended", usage.ended);
  if (engine.journal_error()) json.Field("journal_error", engine.journal_error()->ToString());
  WriteRound(json, engine);
  json.Key("jobs");
  json.BeginArray();
  for (const Job* job : JobsShown(engine, *limit, *ended)) {
    WriteJob(json, *job, engine, api->now(), JobDetail::kTop);
  }
  json.EndArray();
  json.EndObject();
  responder.Send(JsonResponse(std::move(body)));
}

}  // namespace

void AddTopRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add("GET", "/v1/top",
             [api](const http::Request& request, const http::PathParameters&,
                   const http::Responder& responder) { Top(api, request, responder); });
}

}  // namespace mete
