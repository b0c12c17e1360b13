// GET /v1/nodes.

#include "api/api_state.h"
#include "api/cluster_document.h"

namespace mete {

void AddNodeRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add(
      "GET", "/v1/nodes",
      [api](const http::Request&, const http::PathParameters&, const http::Responder& responder) {
        std::string body;
        JsonWriter json(body);
        json.BeginObject();
        WriteCapabilities(json, api->engine().capabilities());
        json.EndObject();
        responder.Send(JsonResponse(std::move(body)));
      });
}

}  // namespace mete
