#include "runner/report_codec.h"

#include <cmath>

#include "runner/byte_codec.h"

namespace mete::runner {
namespace {

// Which of the optional parts follow.
constexpr uint8_t kHasLoss = 1;
constexpr uint8_t kHasSamples = 2;
constexpr uint8_t kHasMetrics = 4;
// The iteration is the one before plus one: the usual case takes no byte.
constexpr uint8_t kNextIteration = 8;

// Differences wrap around, so that any two int64 have one.
int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

Report DecodeReport(ByteReader& in, int64_t last_iteration, int64_t last_time) {
  Report report;
  const auto flags = in.Fixed<uint8_t>();
  report.iteration = Sum(last_iteration, (flags & kNextIteration) ? 1 : in.Signed());
  report.time = Instant(Duration(Sum(last_time, in.Signed())));
  if (flags & kHasLoss) report.loss = in.Fixed<double>();
  if (flags & kHasSamples) report.samples = in.Fixed<double>();
  if (flags & kHasMetrics) {
    // A metric takes at least 9 bytes, so a count that lies cannot make this allocate much.
    const uint64_t count = in.Varint();
    for (uint64_t i = 0; i < count && !in.Failed(); ++i) {
      const std::string_view name = in.Bytes();
      report.metrics.push_back({std::string(name), in.Fixed<double>()});
    }
  }
  return report;
}

}  // namespace

void ReportEncoder::Begin(uint64_t first_sequence) {
  first_sequence_ = first_sequence;
  count_ = 0;
  last_iteration_ = 0;
  last_time_ = 0;
  body_.clear();
}

void ReportEncoder::Add(const Report& report) {
  ByteWriter out(&body_);
  const int64_t time = report.time.time_since_epoch().count();
  const int64_t step = Difference(report.iteration, last_iteration_);
  uint8_t flags = 0;
  if (!std::isnan(report.loss)) flags |= kHasLoss;
  if (!std::isnan(report.samples)) flags |= kHasSamples;
  if (!report.metrics.empty()) flags |= kHasMetrics;
  if (step == 1) flags |= kNextIteration;
  out.Fixed(flags);
  if (step != 1) out.Signed(step);
  out.Signed(Difference(time, last_time_));
  if (flags & kHasLoss) out.Fixed(report.loss);
  if (flags & kHasSamples) out.Fixed(report.samples);
  if (flags & kHasMetrics) {
    out.Varint(report.metrics.size());
    for (const Metric& metric : report.metrics) {
      out.Bytes(metric.name);
      out.Fixed(metric.value);
    }
  }
  last_iteration_ = report.iteration;
  last_time_ = time;
  ++count_;
}

void ReportEncoder::Finish(std::string* out) const {
  ByteWriter writer(out);
  writer.Varint(first_sequence_);
  writer.Varint(count_);
  out->append(body_);
}

Result<Reports> DecodeReports(std::string_view bytes) {
  ByteReader in(bytes);
  Reports batch;
  batch.first_sequence = in.Varint();
  const uint64_t count = in.Varint();
  // A report takes at least 2 bytes.
  if (in.Failed() || count > in.Left() / 2 || batch.first_sequence > UINT64_MAX - count)
    return Fail(ErrorCode::kCorrupt, "a batch of reports does not read back");
  batch.reports.reserve(count);
  int64_t last_iteration = 0;
  int64_t last_time = 0;
  for (uint64_t i = 0; i < count; ++i) {
    Report& report = batch.reports.emplace_back(DecodeReport(in, last_iteration, last_time));
    if (in.Failed()) return Fail(ErrorCode::kCorrupt, "a batch of reports does not read back");
    report.sequence = batch.first_sequence + i;
    last_iteration = report.iteration;
    last_time = report.time.time_since_epoch().count();
  }
  return batch;
}

}  // namespace mete::runner
