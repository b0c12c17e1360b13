#include "http/router.h"

#include <set>

#include "base/check.h"
#include "http/error_response.h"

namespace mete::http {

void Router::Add(std::string method, std::string_view pattern, Handler handler) {
  METE_CHECK(pattern.starts_with('/'));
  Route route{std::move(method), {}, std::move(handler)};
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const size_t end = pattern.find('/');
    std::string_view part = pattern.substr(0, end);
    const bool is_parameter = part.size() > 2 && part.front() == '{' && part.back() == '}';
    if (is_parameter) part = part.substr(1, part.size() - 2);
    route.segments.push_back({std::string(part), is_parameter});
    pattern.remove_prefix(end == std::string_view::npos ? pattern.size() : end + 1);
  }
  for (const Route& other : routes_) {
    METE_CHECK(other.method != route.method || other.segments != route.segments);
  }
  routes_.push_back(std::move(route));
}

bool Router::Matches(const Route& route, const std::vector<std::string>& path) {
  if (route.segments.size() != path.size()) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    const Segment& segment = route.segments[i];
    if (segment.is_parameter ? path[i].empty() : segment.text != path[i]) return false;
  }
  return true;
}

bool Router::IsMoreSpecific(const Route& a, const Route& b) {
  for (size_t i = 0; i < a.segments.size(); ++i) {
    if (a.segments[i].is_parameter != b.segments[i].is_parameter) return b.segments[i].is_parameter;
  }
  return false;
}

void Router::Handle(Request request, Responder responder) const {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  const Route* best = nullptr;
  std::set<std::string> allowed;
  for (const Route& route : routes_) {
    if (!Matches(route, request.target.segments)) continue;
    allowed.insert(route.method);
    if (route.method == method && (!best || IsMoreSpecific(route, *best))) best = &route;
  }
  if (!best && allowed.empty()) {
    responder.Send(ErrorResponse(
        {ErrorCode::kNotFound, "there is nothing at this path", request.target.path, ""}));
    return;
  }
  if (!best) {
    std::string list;
    for (const std::string& name : allowed) list += (list.empty() ? "" : ", ") + name;
    Response response =
        ErrorResponse({ErrorCode::kInvalidArgument, request.method + " does not work on this path",
                       request.target.path, "use " + list},
                      405);
    response.headers.emplace_back("Allow", list);
    responder.Send(std::move(response));
    return;
  }
  PathParameters parameters;
  for (size_t i = 0; i < best->segments.size(); ++i) {
    if (best->segments[i].is_parameter) {
      parameters[best->segments[i].text] = request.target.segments[i];
    }
  }
  best->handler(std::move(request), parameters, std::move(responder));
}

}  // namespace mete::http
