#include "api/api_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/job_document.h"
#include "base/closest_word.h"
#include "http/error_response.h"

namespace mete {
namespace {

// A number that is nothing but digits.
std::optional<uint64_t> WholeNumber(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr size_t kListenersMax = 256;

}  // namespace

Result<JobId> ApiState::ResolveJob(const std::string& name) const {
  if (const auto id = WholeNumber(name); id && *id > 0) return JobId{*id};
  std::vector<JobId> live;
  JobId ended;
  for (const auto& [id, job] : engine().jobs().all()) {
    if (job->spec().name != name) continue;
    if (job->live()) {
      live.push_back(id);
    } else {
      ended = id;
    }
  }
  if (live.size() == 1) return live.front();
  if (live.size() > 1) {
    std::string ids;
    for (size_t i = 0; i < std::min<size_t>(live.size(), 5); ++i) {
      ids += fmt::format("{}{}", i > 0 ? ", " : "", live[i].value);
    }
    if (live.size() > 5) ids += ", ...";
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} jobs are named '{}'", live.size(), name), "",
                "name one by its id: " + ids);
  }
  if (ended) return ended;
  std::vector<std::string> names;
  for (const auto& [id, job] : engine().jobs().all()) names.push_back(job->spec().name);
  const std::string closest = ClosestWord(name, names);
  return Fail(
      ErrorCode::kNotFound, fmt::format("no job is named '{}'", name), "",
      closest.empty() ? "`mete list` shows all jobs" : fmt::format("did you mean '{}'?", closest));
}

Result<const Job*> ApiState::FindJob(const std::string& name) const {
  METE_ASSIGN_OR_RETURN(const JobId id, ResolveJob(name));
  const Job* job = engine().jobs().Find(id);
  if (job == nullptr) {
    return Fail(ErrorCode::kNotFound, fmt::format("there is no job {}", id.value), "",
                "`mete list` shows all jobs");
  }
  return job;
}

void ApiState::Listen(http::ResponseStream stream) {
  std::erase_if(listeners_, [](const http::ResponseStream& s) { return !s.IsOpen(); });
  if (listeners_.size() >= kListenersMax) {
    stream.End();
    return;
  }
  listeners_.push_back(std::move(stream));
}

void ApiState::Tell(const JobRecord& record) {
  if (listeners_.empty()) return;
  const Job* job = engine().jobs().Find(record.id);
  std::string data;
  JsonWriter json(data);
  if (job != nullptr) {
    WriteJob(json, *job, engine(), now(), JobDetail::kList);
  } else {
    WriteEndedJob(json, record, engine());
  }
  const http::ServerEvent event{.name = "job", .data = std::move(data)};
  std::erase_if(listeners_, [&](http::ResponseStream& stream) { return !stream.Send(event); });
}

void RouteAdder::Add(std::string method, std::string pattern, http::Router::Handler handler) {
  router_.Add(method, pattern, std::move(handler));
  names_.push_back({std::move(method), std::move(pattern)});
}

Result<int64_t> QueryNumber(const http::Request& request, const std::string& name, int64_t least,
                            int64_t most, int64_t otherwise) {
  const std::string* text = request.FindQuery(name);
  if (text == nullptr) return otherwise;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < least || value > most) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a number here", *text), name,
                fmt::format("from {} to {}", least, most));
  }
  return value;
}

http::Response JsonResponse(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

http::Response StatusResponse(const Status& status) {
  return status ? JsonResponse(R"({"ok":true})") : http::ErrorResponse(status.error());
}

std::vector<RouteName> RegisterApi(http::Router& router, ApiContext context) {
  auto api = std::make_shared<ApiState>(std::move(context));
  api->engine().SetListener([api](const JobRecord& record) { api->Tell(record); });
  RouteAdder routes(router);
  AddJobRoutes(routes, api);
  AddJobHistoryRoutes(routes, api);
  AddLogRoutes(routes, api);
  AddNodeRoutes(routes, api);
  AddPolicyRoutes(routes, api);
  AddTopRoutes(routes, api);
  AddMetricsRoutes(routes, api);
  AddServiceRoutes(routes, api);
  return routes.Take();
}

}  // namespace mete
