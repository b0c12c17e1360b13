#include "http/error_response.h"

#include <nlohmann/json.hpp>

namespace mete::http {
namespace {

using Json = nlohmann::json;

constexpr ErrorCode kCodes[] = {
    ErrorCode::kInvalidArgument,    ErrorCode::kNotFound,         ErrorCode::kNeverFits,
    ErrorCode::kFailedPrecondition, ErrorCode::kPermissionDenied, ErrorCode::kUnavailable,
    ErrorCode::kResourceExhausted,  ErrorCode::kCorrupt,          ErrorCode::kInternal,
};

ErrorCode CodeOf(const std::string& name, int status) {
  for (ErrorCode code : kCodes) {
    if (name == ErrorCodeName(code)) return code;
  }
  for (ErrorCode code : kCodes) {
    if (status == HttpStatus(code)) return code;
  }
  return status < 500 ? ErrorCode::kInvalidArgument : ErrorCode::kInternal;
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

int HttpStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 400;
    case ErrorCode::kPermissionDenied:
      return 403;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kFailedPrecondition:
      return 409;
    case ErrorCode::kNeverFits:
      return 422;
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kResourceExhausted:
      return 507;
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return 500;
  }
  return 500;
}

Response ErrorResponse(const Error& error, int status) {
  Json inner = {{"code", ErrorCodeName(error.code)}, {"message", error.message}};
  if (!error.where.empty()) inner["where"] = error.where;
  if (!error.hint.empty()) inner["hint"] = error.hint;
  Response response;
  response.status = status == 0 ? HttpStatus(error.code) : status;
  response.body = Json{{"error", inner}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  response.body += '\n';
  return response;
}

Error ErrorFromResponse(const Response& response) {
  const Json body = Json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  const auto inner = body.is_object() ? body.find("error") : body.end();
  Error error;
  if (inner != body.end() && inner->is_object()) {
    error = {CodeOf(Text(*inner, "code"), response.status), Text(*inner, "message"),
             Text(*inner, "where"), Text(*inner, "hint")};
  } else {
    error.code = CodeOf("", response.status);
  }
  if (error.message.empty()) {
    error.message = "the daemon answered with status " + std::to_string(response.status);
  }
  return error;
}

}  // namespace mete::http
