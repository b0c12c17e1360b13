// GET and PUT /v1/policy, GET /v1/policies.

#include <nlohmann/json.hpp>

#include "api/api_state.h"
#include "api/json_writer.h"
#include "http/error_response.h"

namespace mete {
namespace {

using http::PathParameters;
using http::Request;
using http::Responder;

Result<std::string> ReadPolicy(const std::string& body) {
  const nlohmann::json json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object() || json.size() != 1 || !json.contains("policy") ||
      !json["policy"].is_string()) {
    return Fail(ErrorCode::kInvalidArgument, "the body does not name a policy", "policy",
                R"(send {"policy": "slaq:floor=0.5"})");
  }
  return json["policy"].get<std::string>();
}

void SendPolicy(const ApiStatePtr& api, const Responder& responder) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject();
  json.Field("policy", api->engine().policy_text());
  json.EndObject();
  responder.Send(JsonResponse(std::move(body)));
}

void Set(const ApiStatePtr& api, const Request& request, const Responder& responder) {
  const Result<std::string> policy = ReadPolicy(request.body);
  if (!policy) return responder.Send(http::ErrorResponse(policy.error()));
  api->engine().SetPolicy(*policy, [api, responder](const Status& status) {
    if (!status) return responder.Send(http::ErrorResponse(status.error()));
    SendPolicy(api, responder);
  });
}

void List(const ApiStatePtr& api, const Responder& responder) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject();
  json.Key("policies");
  json.BeginArray();
  for (const PolicyRegistry::Entry& entry : api->context().policies.entries()) {
    json.BeginObject();
    json.Field("name", entry.name);
    json.Field("summary", entry.summary);
    json.Key("options");
    json.BeginArray();
    for (const PolicyOption& option : entry.options) {
      json.BeginObject();
      json.Field("name", option.name);
      json.Field("standard", option.standard);
      json.Field("meaning", option.meaning);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  responder.Send(JsonResponse(std::move(body)));
}

}  // namespace

void AddPolicyRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add("GET", "/v1/policy",
             [api](const Request&, const PathParameters&, const Responder& responder) {
               SendPolicy(api, responder);
             });
  routes.Add("PUT", "/v1/policy",
             [api](const Request& request, const PathParameters&, const Responder& responder) {
               Set(api, request, responder);
             });
  routes.Add("GET", "/v1/policies",
             [api](const Request&, const PathParameters&, const Responder& responder) {
               List(api, responder);
             });
}

}  // namespace mete
