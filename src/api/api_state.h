#pragma once

// What the handlers share: finding jobs, answering, and the clients that listen to events. Not for
// use outside api/.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/api.h"
#include "cluster/environment.h"
#include "http/responder.h"

namespace mete {

class ApiState : public std::enable_shared_from_this<ApiState> {
 public:
  explicit ApiState(ApiContext context) : context_(std::move(context)) {}
  ApiState(const ApiState&) = delete;
  ApiState& operator=(const ApiState&) = delete;

  const ApiContext& context() const { return context_; }
  Engine& engine() const { return context_.engine; }
  Instant now() const { return context_.clock.Now(); }
  // What submitted jobs have in common.
  VariablePool& variables() { return variables_; }

  // `name` is an id or a name (api.h). The id need not be in memory: the journal may know it.
  Result<JobId> ResolveJob(const std::string& name) const;
  // The same, and in memory.
  Result<const Job*> FindJob(const std::string& name) const;

  // Server-sent events of all jobs.
  void Listen(http::ResponseStream stream);
  void Tell(const JobRecord& record);

 private:
  ApiContext context_;
  VariablePool variables_;
  std::vector<http::ResponseStream> listeners_;
};

using ApiStatePtr = std::shared_ptr<ApiState>;

// Adds routes and remembers their names.
class RouteAdder {
 public:
  explicit RouteAdder(http::Router& router) : router_(router) {}
  void Add(std::string method, std::string pattern, http::Router::Handler handler);
  std::vector<RouteName> Take() { return std::move(names_); }

 private:
  http::Router& router_;
  std::vector<RouteName> names_;
};

void AddJobRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddJobHistoryRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddLogRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddNodeRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddPolicyRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddTopRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddMetricsRoutes(RouteAdder& routes, const ApiStatePtr& api);
void AddServiceRoutes(RouteAdder& routes, const ApiStatePtr& api);

// ---- Values in requests ----

// The query's `name` as a whole number in [least, most]; `otherwise` where it is not given.
Result<int64_t> QueryNumber(const http::Request& request, const std::string& name, int64_t least,
                            int64_t most, int64_t otherwise);

http::Response JsonResponse(std::string body);
// {"ok": true}, or the error.
http::Response StatusResponse(const Status& status);

}  // namespace mete
