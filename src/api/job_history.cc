// What the journal remembers: GET /v1/jobs/{job}/reports, /v1/jobs/{job}/events, /v1/events,
// /v1/events/stream (from now on), /v1/history (jobs that have ended).

#include "api/api_state.h"
#include "api/job_document.h"
#include "http/error_response.h"

namespace mete {
namespace {

using http::ErrorResponse;
using http::PathParameters;
using http::Request;
using http::Responder;

constexpr int64_t kRowsMax = 10'000;
constexpr int64_t kRowsDefault = 1'000;

Result<Journal*> FindJournal(const ApiStatePtr& api) {
  if (api->context().journal != nullptr) return api->context().journal;
  return Fail(ErrorCode::kUnavailable, "this daemon keeps no journal that could be read");
}

bool IsSet(const Request& request, const std::string& name) {
  const std::string* value = request.FindQuery(name);
  return value != nullptr && *value != "false" && *value != "0";
}

void WriteReport(JsonWriter& json, const StoredReport& row) {
  json.BeginObject();
  json.Field("number", row.number);
  json.Field("replica", row.replica.value);
  json.Field("iteration", row.report.iteration);
  json.Field("loss", row.report.loss);
  json.Field("samples", row.report.samples);
  json.Field("monotonic_seconds", ToSeconds(row.report.time));
  if (!row.report.metrics.empty()) {
    json.Key("metrics");
    json.BeginObject();
    for (const Metric& metric : row.report.metrics) json.Field(metric.name, metric.value);
    json.EndObject();
  }
  json.EndObject();
}

void WriteEvent(JsonWriter& json, const StoredEvent& row) {
  json.BeginObject();
  json.Field("sequence", row.sequence);
  json.Field("at", row.wall);
  json.Field("term", row.term.value);
  json.Field("kind", row.event.kind);
  if (row.event.job) json.Field("job", row.event.job.value);
  json.Key("detail");
  json.Raw(row.event.detail.empty() ? "{}" : row.event.detail);
  json.EndObject();
}

// `from` is the number of the first report wanted, `last` asks for the end of what there is.
Status Reports(const ApiStatePtr& api, const Request& request, const PathParameters& path,
               const Responder& responder) {
  ReportQuery query;
  METE_ASSIGN_OR_RETURN(Journal * journal, FindJournal(api));
  METE_ASSIGN_OR_RETURN(query.job, api->ResolveJob(path.at("job")));
  METE_ASSIGN_OR_RETURN(query.from_number, QueryNumber(request, "from", 0, INT64_MAX, 0));
  METE_ASSIGN_OR_RETURN(query.limit, QueryNumber(request, "limit", 1, kRowsMax, kRowsDefault));
  query.newest = IsSet(request, "last");
  journal->ReadReports(query, [responder](const Result<ReportPage>& page) {
    if (!page) return responder.Send(ErrorResponse(page.error()));
    std::string body;
    JsonWriter json(body);
    json.BeginObject();
    json.Key("reports");
    json.BeginArray();
    for (const StoredReport& row : page->reports) WriteReport(json, row);
    json.EndArray();
    json.Field("next", page->next_number);
    json.Field("more", page->more);
    json.EndObject();
    responder.Send(JsonResponse(std::move(body)));
  });
  return {};
}

// `after` is the sequence number of the last event known.
Status Events(const ApiStatePtr& api, const Request& request, JobId job,
              const Responder& responder) {
  EventQuery query;
  query.job = job;
  METE_ASSIGN_OR_RETURN(Journal * journal, FindJournal(api));
  METE_ASSIGN_OR_RETURN(const int64_t after, QueryNumber(request, "after", 0, INT64_MAX, 0));
  METE_ASSIGN_OR_RETURN(query.limit, QueryNumber(request, "limit", 1, kRowsMax, kRowsDefault));
  query.after = static_cast<uint64_t>(after);
  query.newest = IsSet(request, "last");
  journal->ReadEvents(query, [responder](const Result<std::vector<StoredEvent>>& rows) {
    if (!rows) return responder.Send(ErrorResponse(rows.error()));
    std::string body;
    JsonWriter json(body);
    json.BeginObject();
    json.Key("events");
    json.BeginArray();
    for (const StoredEvent& row : *rows) WriteEvent(json, row);
    json.EndArray();
    json.EndObject();
    responder.Send(JsonResponse(std::move(body)));
  });
  return {};
}

// The last to end first; `before` is the `next` of the page before.
Status History(const ApiStatePtr& api, const Request& request, const Responder& responder) {
  METE_ASSIGN_OR_RETURN(Journal * journal, FindJournal(api));
  METE_ASSIGN_OR_RETURN(const int64_t before, QueryNumber(request, "before", 0, INT64_MAX, 0));
  METE_ASSIGN_OR_RETURN(const int64_t limit,
                        QueryNumber(request, "limit", 1, kRowsMax, kRowsDefault));
  journal->ListEnded(limit, before, [api, responder](const Result<std::vector<EndedJob>>& rows) {
    if (!rows) return responder.Send(ErrorResponse(rows.error()));
    std::string body;
    JsonWriter json(body);
    json.BeginObject();
    json.Key("jobs");
    json.BeginArray();
    for (const EndedJob& row : *rows) {
      WriteEndedJob(json, row.job, api->engine());
    }
    json.EndArray();
    if (!rows->empty()) json.Field("next", rows->back().order);
    json.EndObject();
    responder.Send(JsonResponse(std::move(body)));
  });
  return {};
}

void SendError(const Status& status, const Responder& responder) {
  if (!status) responder.Send(ErrorResponse(status.error()));
}

}  // namespace

void AddJobHistoryRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add("GET", "/v1/jobs/{job}/reports",
             [api](const Request& request, const PathParameters& path, const Responder& responder) {
               SendError(Reports(api, request, path, responder), responder);
             });
  routes.Add("GET", "/v1/jobs/{job}/events",
             [api](const Request& request, const PathParameters& path, const Responder& responder) {
               const Result<JobId> id = api->ResolveJob(path.at("job"));
               if (!id) return responder.Send(ErrorResponse(id.error()));
               SendError(Events(api, request, *id, responder), responder);
             });
  routes.Add("GET", "/v1/events",
             [api](const Request& request, const PathParameters&, const Responder& responder) {
               SendError(Events(api, request, JobId(), responder), responder);
             });
  routes.Add("GET", "/v1/events/stream",
             [api](const Request&, const PathParameters&, const Responder& responder) {
               api->Listen(responder.StartEvents());
             });
  routes.Add("GET", "/v1/history",
             [api](const Request& request, const PathParameters&, const Responder& responder) {
               SendError(History(api, request, responder), responder);
             });
}

}  // namespace mete
