// GET and POST /v1/jobs, /v1/jobs/{job} and what can be done to one.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/api_state.h"
#include "api/job_document.h"
#include "document/job_json.h"
#include "http/error_response.h"

namespace mete {
namespace {

using http::ErrorResponse;
using http::PathParameters;
using http::Request;
using http::Responder;

constexpr int64_t kListMax = 1'000'000;

struct ListFilter {
  std::string state;  // a phase, "live" or "ended"; empty: all
  std::string tenant;

  bool Admits(const JobRecord& record) const {
    if (!tenant.empty() && record.spec->tenant != tenant) return false;
    if (state.empty()) return true;
    if (state == "live") return !IsFinal(record.phase);
    if (state == "ended") return IsFinal(record.phase);
    return state == JobPhaseName(record.phase);
  }
};

Status CheckState(const std::string& state) {
  if (state.empty() || state == "live" || state == "ended") return {};
  for (int phase = 0; phase <= static_cast<int>(JobPhase::kLost); ++phase) {
    if (state == JobPhaseName(static_cast<JobPhase>(phase))) return {};
  }
  return Fail(ErrorCode::kInvalidArgument, fmt::format("no state is called '{}'", state), "state",
              "live, ended, queued, starting, running, stopping, done, failed, cancelled or lost");
}

// Newest first: what moved last stands on top.
void List(const ApiStatePtr& api, const Request& request, const Responder& responder) {
  ListFilter filter;
  if (const std::string* state = request.FindQuery("state")) filter.state = *state;
  if (const std::string* tenant = request.FindQuery("tenant")) filter.tenant = *tenant;
  if (const Status status = CheckState(filter.state); !status) {
    return responder.Send(ErrorResponse(status.error()));
  }
  const Result<int64_t> limit = QueryNumber(request, "limit", 1, kListMax, kListMax);
  if (!limit) return responder.Send(ErrorResponse(limit.error()));

  const auto& jobs = api->engine().jobs().all();
  std::string body;
  body.reserve(std::min<size_t>(jobs.size(), static_cast<size_t>(*limit)) * 600 + 64);
  JsonWriter json(body);
  json.BeginObject();
  json.Key("jobs");
  json.BeginArray();
  int64_t total = 0;
  const Instant now = api->now();
  for (auto it = jobs.rbegin(); it != jobs.rend(); ++it) {
    if (!filter.Admits(it->second->record)) continue;
    if (++total <= *limit) WriteJob(json, *it->second, api->engine(), now, JobDetail::kList);
  }
  json.EndArray();
  json.Field("total", total);
  json.EndObject();
  responder.Send(JsonResponse(std::move(body)));
}

void Submit(const ApiStatePtr& api, const Request& request, const Responder& responder) {
  Result<std::vector<JobSpec>> specs = JobsFromJson(request.body);
  if (!specs) return responder.Send(ErrorResponse(specs.error()));
  for (JobSpec& spec : *specs) api->variables().Share(spec.environment);
  api->engine().Submit(std::move(*specs), [responder](Result<std::vector<JobId>> ids) {
    if (!ids) return responder.Send(ErrorResponse(ids.error()));
    std::string body;
    JsonWriter json(body);
    json.BeginObject();
    json.Key("ids");
    json.BeginArray();
    for (const JobId id : *ids) json.Number(id.value);
    json.EndArray();
    json.EndObject();
    http::Response response = JsonResponse(std::move(body));
    response.status = 201;
    responder.Send(std::move(response));
  });
}

void SendJob(const ApiStatePtr& api, const Job& job, const JobHistory* history,
             const Responder& responder) {
  std::string body;
  JsonWriter json(body);
  WriteJob(json, job, api->engine(), api->now(), JobDetail::kFull, history);
  responder.Send(JsonResponse(std::move(body)));
}

// What is gone of a job is in the journal alone: its replicas, and all of it some time after its
// end.
void Get(const ApiStatePtr& api, const PathParameters& path, const Responder& responder) {
  const Result<JobId> id = api->ResolveJob(path.at("job"));
  if (!id) return responder.Send(ErrorResponse(id.error()));
  Journal* const journal = api->context().journal;
  const Job* const job = api->engine().jobs().Find(*id);
  if (job != nullptr && (job->live() || journal == nullptr)) {
    return SendJob(api, *job, nullptr, responder);
  }
  if (journal == nullptr) {
    return responder.Send(
        ErrorResponse(Error{ErrorCode::kNotFound, fmt::format("there is no job {}", id->value),
                            "job", "`mete list` shows all jobs"}));
  }
  journal->ReadHistory(*id, LossCurve::kMaxPoints,
                       [api, responder](const Result<JobHistory>& history) {
                         if (!history) return responder.Send(ErrorResponse(history.error()));
                         if (const Job* job = api->engine().jobs().Find(history->job.id)) {
                           return SendJob(api, *job, &*history, responder);
                         }
                         std::string body;
                         JsonWriter json(body);
                         WriteEndedJob(json, *history, api->engine());
                         responder.Send(JsonResponse(std::move(body)));
                       });
}

using Command = void (Engine::*)(JobId, Reply<void>);

http::Router::Handler CommandHandler(const ApiStatePtr& api, Command command) {
  return [api, command](const Request&, const PathParameters& path, const Responder& responder) {
    const Result<const Job*> job = api->FindJob(path.at("job"));
    if (!job) return responder.Send(ErrorResponse(job.error()));
    (api->engine().*command)((*job)->id(), [responder](const Status& status) {
      responder.Send(StatusResponse(status));
    });
  };
}

struct ScaleRequest {
  int role = 0;
  std::optional<int64_t> units;
};

Result<ScaleRequest> ReadScale(const std::string& body, const JobSpec& spec) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) {
    return Fail(ErrorCode::kInvalidArgument, "the body is not a JSON object", "",
                R"(send {"role": "worker", "units": 4})");
  }
  ScaleRequest request;
  for (const auto& [key, value] : json.items()) {
    if (key == "units" && value.is_number_integer()) {
      request.units = value.get<int64_t>();
    } else if (key == "role" && value.is_string()) {
      const std::string name = value.get<std::string>();
      const auto role = std::ranges::find(spec.roles, name, &RoleSpec::name);
      if (role == spec.roles.end()) {
        return Fail(ErrorCode::kNotFound, fmt::format("the job has no role '{}'", name), "role",
                    fmt::format("its first role is '{}'", spec.roles.front().name));
      }
      request.role = static_cast<int>(role - spec.roles.begin());
    } else if (!(key == "units" && value.is_null())) {
      return Fail(ErrorCode::kInvalidArgument, "unknown member, or of the wrong type", key,
                  "role is a string, units a whole number or null");
    }
  }
  if (!json.contains("units")) {
    return Fail(ErrorCode::kInvalidArgument, "units are missing", "units",
                "a whole number, or null to let the policy decide again");
  }
  return request;
}

void Scale(const ApiStatePtr& api, const Request& request, const PathParameters& path,
           const Responder& responder) {
  const Result<const Job*> job = api->FindJob(path.at("job"));
  if (!job) return responder.Send(ErrorResponse(job.error()));
  const Result<ScaleRequest> scale = ReadScale(request.body, (*job)->spec());
  if (!scale) return responder.Send(ErrorResponse(scale.error()));
  api->engine().Scale((*job)->id(), scale->role, scale->units, [responder](const Status& status) {
    responder.Send(StatusResponse(status));
  });
}

// The job with its reasons, and what they refer to.
void Why(const ApiStatePtr& api, const PathParameters& path, const Responder& responder) {
  const Result<const Job*> job = api->FindJob(path.at("job"));
  if (!job) return responder.Send(ErrorResponse(job.error()));
  std::string body;
  JsonWriter json(body);
  json.BeginObject();
  json.Field("policy", api->engine().policy_text());
  json.Field("cluster_cores", 1e-3 * static_cast<double>(api->engine().view().capacity.cpu_millis));
  json.Field("round_seconds", ToSeconds(api->engine().options().round));
  json.Key("job");
  WriteJob(json, **job, api->engine(), api->now(), JobDetail::kFull);
  json.EndObject();
  responder.Send(JsonResponse(std::move(body)));
}

}  // namespace

void AddJobRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add("GET", "/v1/jobs",
             [api](const Request& request, const PathParameters&, const Responder& responder) {
               List(api, request, responder);
             });
  routes.Add("POST", "/v1/jobs",
             [api](const Request& request, const PathParameters&, const Responder& responder) {
               Submit(api, request, responder);
             });
  routes.Add("GET", "/v1/jobs/{job}",
             [api](const Request&, const PathParameters& path, const Responder& responder) {
               Get(api, path, responder);
             });
  routes.Add("POST", "/v1/jobs/{job}/cancel", CommandHandler(api, &Engine::Cancel));
  routes.Add("POST", "/v1/jobs/{job}/kill", CommandHandler(api, &Engine::Kill));
  routes.Add("POST", "/v1/jobs/{job}/pause", CommandHandler(api, &Engine::Pause));
  routes.Add("POST", "/v1/jobs/{job}/resume", CommandHandler(api, &Engine::Resume));
  routes.Add("POST", "/v1/jobs/{job}/scale",
             [api](const Request& request, const PathParameters& path, const Responder& responder) {
               Scale(api, request, path, responder);
             });
  routes.Add("GET", "/v1/jobs/{job}/why",
             [api](const Request&, const PathParameters& path, const Responder& responder) {
               Why(api, path, responder);
             });
}

}  // namespace mete
