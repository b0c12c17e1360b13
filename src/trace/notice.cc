#include "trace/notice.h"

#include <fmt/format.h>

#include <array>

#include "base/units.h"

namespace mete {
namespace {

struct Words {
  TraceNoticeKind kind;
  std::string_view name;
  std::string_view one;   // "1 row ..."
  std::string_view many;  // "N rows ..."
  std::string_view advice;
};

constexpr std::array<Words, kTraceNoticeKinds> kWords = {{
    {TraceNoticeKind::kUnsorted, "unsorted", "row is out of the order of submit times",
     "rows are out of the order of submit times", "they were sorted; nothing to do"},
    {TraceNoticeKind::kDuplicateId, "duplicate_id", "row has the id of an earlier one",
     "rows have the id of an earlier one",
     "they are jobs of their own; if they are copies, remove them from the file"},
    {TraceNoticeKind::kLongestDuration, "longest_duration", "job has the longest duration",
     "jobs have exactly the longest duration",
     "the source seems to cut durations there: means and tails are too low"},
    {TraceNoticeKind::kZeroDuration, "zero_duration", "job takes no time", "jobs take no time",
     "they are over when they start; the source may count in larger units"},
    {TraceNoticeKind::kNegativeDuration, "negative_duration",
     "row was dropped: it ends before it begins", "rows were dropped: they end before they begin",
     "check the clock of the source"},
    {TraceNoticeKind::kNothingAsked, "nothing_asked",
     "row was dropped: it asks for neither GPUs nor CPUs",
     "rows were dropped: they ask for neither GPUs nor CPUs",
     "nothing to do if they are jobs without GPUs"},
    {TraceNoticeKind::kNeverRan, "never_ran", "job was dropped: it never ran from begin to end",
     "jobs were dropped: they never ran from begin to end",
     "their length is unknown; they waited in vain or ran past the end of the trace"},
    {TraceNoticeKind::kOpenAttempt, "open_attempt",
     "job has an attempt without begin or end, which counts nothing",
     "jobs have attempts without begin or end, which count nothing",
     "their durations are too short by these attempts"},
}};

const Words& WordsOf(TraceNoticeKind kind) { return kWords[static_cast<size_t>(kind)]; }

}  // namespace

std::string_view TraceNoticeName(TraceNoticeKind kind) { return WordsOf(kind).name; }

std::optional<TraceNoticeKind> TraceNoticeFromName(std::string_view name) {
  for (const Words& each : kWords)
    if (each.name == name) return each.kind;
  return std::nullopt;
}

std::string TraceNoticeText(const TraceNotice& notice) {
  const Words& words = WordsOf(notice.kind);
  std::string text = fmt::format("{} {}", notice.count, notice.count == 1 ? words.one : words.many);
  if (notice.kind == TraceNoticeKind::kLongestDuration)
    text += fmt::format(", {}", FormatDuration(notice.duration));
  if (notice.first_line > 0) text += fmt::format(" (first: line {})", notice.first_line);
  return text;
}

std::string_view TraceNoticeAdvice(TraceNoticeKind kind) { return WordsOf(kind).advice; }

}  // namespace mete
