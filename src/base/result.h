#pragma once

// Operating errors as values. An Error says what went wrong, where (a field or a file), why, and
// what to do next; the code decides exit status and HTTP status at the edge. No exception leaves a
// folder: see docs/adr/0001-errors.md.

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace mete {

enum class ErrorCode {
  kInvalidArgument,     // the input is wrong: fix it and try again
  kNotFound,            // no such job, file or policy
  kNeverFits,           // asks for more than the whole cluster has
  kFailedPrecondition,  // right input, wrong state (the job has already ended)
  kPermissionDenied,    // not ours to use
  kUnavailable,         // the other side is not there, or went away: try again later
  kResourceExhausted,   // disk, memory, descriptors or a size limit
  kCorrupt,             // stored bytes do not read back
  kInternal,            // a bug in mete, or an operating system call that cannot fail did
};

// "invalid_argument", ...: the name in JSON and in logs.
const char* ErrorCodeName(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;  // what went wrong, one sentence without a final stop
  std::string where;    // the field ("jobs[2].roles.worker.max") or file; may be empty
  std::string hint;     // what to do next; may be empty

  // "WHERE: MESSAGE (HINT)", leaving out what is empty.
  std::string ToString() const;
  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(ErrorCode code, std::string message, std::string where = "",
                                  std::string hint = "") {
  return tl::make_unexpected(Error{code, std::move(message), std::move(where), std::move(hint)});
}

// Fail() for a system call that set `errno_value`: appends its text, and maps ENOSPC, EACCES,
// ENOENT and friends to codes.
tl::unexpected<Error> FailErrno(int errno_value, std::string message, std::string where = "");

}  // namespace mete

#define METE_CONCAT_INNER(a, b) a##b
#define METE_CONCAT(a, b) METE_CONCAT_INNER(a, b)

// METE_RETURN_IF_ERROR(expression): returns the error of a Status or Result.
#define METE_RETURN_IF_ERROR(expression)                            \
  do {                                                              \
    if (auto mete_status = (expression); !mete_status) [[unlikely]] \
      return ::tl::make_unexpected(std::move(mete_status).error()); \
  } while (false)

// METE_ASSIGN_OR_RETURN(auto x, expression): binds the value or returns the error.
#define METE_ASSIGN_OR_RETURN(declaration, expression) \
  METE_ASSIGN_OR_RETURN_INNER(METE_CONCAT(mete_result_, __LINE__), declaration, expression)
#define METE_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                        \
  if (!result) [[unlikely]]                                          \
    return ::tl::make_unexpected(std::move(result).error());         \
  declaration = std::move(result).value()
