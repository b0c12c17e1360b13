#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace mete {

const char* ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kNeverFits:
      return "never_fits";
    case ErrorCode::kFailedPrecondition:
      return "failed_precondition";
    case ErrorCode::kPermissionDenied:
      return "permission_denied";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kResourceExhausted:
      return "resource_exhausted";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

std::string Error::ToString() const {
  std::string text;
  if (!where.empty()) text += where + ": ";
  text += message;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

tl::unexpected<Error> FailErrno(int errno_value, std::string message, std::string where) {
  ErrorCode code = ErrorCode::kInternal;
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      code = ErrorCode::kNotFound;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = ErrorCode::kPermissionDenied;
      break;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      code = ErrorCode::kResourceExhausted;
      break;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
    case ETIMEDOUT:
    case EAGAIN:
      code = ErrorCode::kUnavailable;
      break;
    default:
      break;
  }
  // generic_category().message is thread-safe, strerror is not.
  return Fail(code, message + ": " + std::generic_category().message(errno_value),
              std::move(where));
}

}  // namespace mete
