#pragma once

// Errors on the wire: {"error": {"code": "never_fits", "message": ..., "where": ..., "hint": ...}}
// with a fitting status, and back again on the client's side.

#include "base/result.h"
#include "http/message.h"

namespace mete::http {

// 400, 403, 404, 409, ...
int HttpStatus(ErrorCode code);

// `status` 0: HttpStatus(error.code).
Response ErrorResponse(const Error& error, int status = 0);

// The error that `response` (status >= 400) carries; whatever the body is, some error comes of it.
Error ErrorFromResponse(const Response& response);

}  // namespace mete::http
