#pragma once

// One line of the progress contract, as it comes over METE_SOCKET and in JSONL files: a JSON object
//
//   {"iteration": 12, "loss": 0.31, "samples": 6400, "metrics": {"accuracy": 0.9}}
//
// with at least one of these keys; null counts as not given; NaN, Infinity and -Infinity are
// numbers, as Python writes them. Other keys are passed over, and so are metrics that are not
// numbers and those after the first kMaxMetrics. Allocates only for metrics.

#include <cstddef>
#include <string_view>

#include "runner/report.h"

namespace mete::runner {

inline constexpr size_t kMaxMetrics = 64;

struct ParsedLine {
  Report report;  // sequence and time are not set
  bool has_iteration = false;
  bool loss_is_nan = false;  // the job said so, which is not the same as saying nothing
};

// False: not such a line; `parsed` is then unspecified.
bool ParseProgressLine(std::string_view line, ParsedLine* parsed);

}  // namespace mete::runner
