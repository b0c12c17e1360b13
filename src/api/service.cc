// GET /v1/version, GET /v1/doctor, POST /v1/shutdown: the daemon itself.

#include <unistd.h>

#include "api/api_state.h"
#include "api/cluster_document.h"

namespace mete {
namespace {

using http::PathParameters;
using http::Request;
using http::Responder;

void WriteIdentity(JsonWriter& json, const ApiContext& context) {
  json.Field("version", context.version);
  json.Field("api", "v1");
  json.Field("pid", static_cast<int64_t>(getpid()));
  json.Field("term", context.term.value);
  json.Field("state_directory", context.state_directory);
  json.Field("socket", context.socket_path);
}

}  // namespace

void AddServiceRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add("GET", "/v1/version",
             [api](const Request&, const PathParameters&, const Responder& responder) {
               std::string body;
               JsonWriter json(body);
               json.BeginObject();
               WriteIdentity(json, api->context());
               json.EndObject();
               responder.Send(JsonResponse(std::move(body)));
             });
  routes.Add("GET", "/v1/doctor",
             [api](const Request&, const PathParameters&, const Responder& responder) {
               std::string body;
               JsonWriter json(body);
               json.BeginObject();
               WriteIdentity(json, api->context());
               WriteCapabilities(json, api->engine().capabilities());
               if (const auto& error = api->engine().journal_error()) {
                 json.Field("journal_error", error->ToString());
               }
               json.Field("rounds", api->engine().round_status().rounds);
               json.Field("late_rounds", api->engine().round_status().late);
               json.EndObject();
               responder.Send(JsonResponse(std::move(body)));
             });
  routes.Add("POST", "/v1/shutdown",
             [api](const Request&, const PathParameters&, const Responder& responder) {
               responder.Send(JsonResponse(R"({"ok":true})"));
               if (api->context().request_shutdown) api->context().request_shutdown();
             });
}

}  // namespace mete
