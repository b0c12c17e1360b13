#pragma once

// Reports as bytes: columns of differences under zstd, about 5 to 15 bytes a report. Every value
// comes back bit for bit, NaN payloads included.
//
// A frame is zstd (with its checksum) over: version, number of sections, sections. A section is the
// reports of one job, column by column:
//   integers   first value, smallest difference, then each difference less the smallest (varints)
//   numbers    a mode, then constant | decimals k / 10^d as integers | exclusive-or of float32 or
//              float64 with the one before, byte planes together; absent values in a bit map
//   metrics    names, the distinct lists of names ("shapes"), each report's shape, a column a name
//
// Decoding never trusts the bytes: anything but a frame of this form is kCorrupt, and at most
// kMaxReportsInFrame reports are made from it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/stored_report.h"

namespace mete {

inline constexpr int64_t kMaxReportsInFrame = 1 << 16;

// How much of a frame's room a report takes: 1, and more with its metrics. Whoever encodes keeps a
// frame's sum within kMaxReportsInFrame (a single report always fits).
int64_t FrameRoom(const Report& report);

// Holds zstd's working memory; not thread-safe.
class ReportCodec {
 public:
  ReportCodec();
  ~ReportCodec();
  ReportCodec(ReportCodec&&) noexcept;
  ReportCodec& operator=(ReportCodec&&) noexcept;

  // At most kMaxReportsInFrame reports in all. `level` is zstd's: 1 fast, 3 smaller.
  std::string Encode(std::span<const JobReports> sections, int level);
  Result<std::vector<JobReports>> Decode(std::string_view frame);
  // What is inside the zstd frame.
  static Result<std::vector<JobReports>> DecodeColumns(std::string_view raw);

 private:
  struct Contexts;
  std::unique_ptr<Contexts> contexts_;
};

}  // namespace mete
