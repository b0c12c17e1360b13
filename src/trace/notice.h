#pragma once

// What a reader noticed about a trace without refusing it: how often, where first, and what to make
// of it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace mete {

enum class TraceNoticeKind : uint8_t {
  kUnsorted,          // rows that were submitted earlier than the row above them
  kDuplicateId,       // rows whose id an earlier row has
  kLongestDuration,   // many jobs have exactly the longest duration: somebody cut them there
  kZeroDuration,      // jobs that take no time
  kNegativeDuration,  // dropped: they end before they begin
  kNothingAsked,      // dropped: they ask for neither GPUs nor CPUs
  kNeverRan,          // dropped: no attempt with a beginning and an end
  kOpenAttempt,       // jobs with an attempt that lacks its beginning or its end; it counts nothing
};
inline constexpr int kTraceNoticeKinds = 8;

struct TraceNotice {
  TraceNoticeKind kind{};
  int64_t count = 0;
  int64_t first_line = 0;  // in the source, from 1
  Duration duration{};     // kLongestDuration: which

  bool operator==(const TraceNotice&) const = default;
};

// "unsorted", "duplicate_id", ...: in JSON and in files.
std::string_view TraceNoticeName(TraceNoticeKind kind);
std::optional<TraceNoticeKind> TraceNoticeFromName(std::string_view name);

// "12 rows are not in the order of their submit time (first: line 4)", and what to do.
std::string TraceNoticeText(const TraceNotice& notice);
std::string_view TraceNoticeAdvice(TraceNoticeKind kind);

}  // namespace mete
