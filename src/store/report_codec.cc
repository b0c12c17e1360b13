#include "store/report_codec.h"

#include <zstd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "store/column_codec.h"

namespace mete {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kMaxFrameBytes = size_t{64} << 20;  // uncompressed

// Values of one field over all reports of a section.
template <typename Field>
std::vector<int64_t> Column(const std::vector<StoredReport>& reports, Field field) {
  std::vector<int64_t> column;
  column.reserve(reports.size());
  for (const StoredReport& stored : reports) {
    column.push_back(static_cast<int64_t>(field(stored)));
  }
  return column;
}

void PutMetrics(std::string& out, const std::vector<StoredReport>& reports) {
  std::map<std::string_view, size_t> index_of;
  std::vector<std::string_view> names;
  std::vector<std::vector<double>> values;
  std::map<std::vector<size_t>, int64_t> shape_of;
  std::vector<std::vector<size_t>> shapes;
  std::vector<int64_t> shape_column;
  for (const StoredReport& stored : reports) {
    std::vector<size_t> shape;
    for (const Metric& metric : stored.report.metrics) {
      const auto [entry, added] = index_of.emplace(metric.name, names.size());
      if (added) {
        names.push_back(metric.name);
        values.emplace_back();
      }
      shape.push_back(entry->second);
      values[entry->second].push_back(metric.value);
    }
    const auto [entry, added] = shape_of.emplace(shape, static_cast<int64_t>(shapes.size()));
    if (added) shapes.push_back(std::move(shape));
    shape_column.push_back(entry->second);
  }
  PutVarint(out, names.size());
  for (const std::string_view name : names) PutBytes(out, name);
  if (names.empty()) return;
  PutVarint(out, shapes.size());
  for (const std::vector<size_t>& shape : shapes) {
    PutVarint(out, shape.size());
    for (const size_t name : shape) PutVarint(out, name);
  }
  PutIntegers(out, shape_column);
  for (const std::vector<double>& column : values) PutDoubles(out, column);
}

bool GetMetrics(ByteReader& in, std::vector<StoredReport>* reports) {
  uint64_t name_count = 0;
  if (!in.GetVarint(&name_count) || name_count > kMaxFrameBytes) return false;
  if (name_count == 0) return true;
  std::vector<std::string_view> names;
  for (uint64_t i = 0; i < name_count; ++i) {
    std::string_view name;
    if (!in.GetBytes(&name)) return false;
    names.push_back(name);
  }
  uint64_t shape_count = 0;
  if (!in.GetVarint(&shape_count) || shape_count > reports->size()) return false;
  std::vector<std::vector<size_t>> shapes(shape_count);
  for (std::vector<size_t>& shape : shapes) {
    uint64_t size = 0;
    if (!in.GetVarint(&size)) return false;
    for (uint64_t i = 0; i < size; ++i) {
      uint64_t name = 0;
      if (!in.GetVarint(&name) || name >= name_count) return false;
      shape.push_back(name);
    }
  }
  std::vector<int64_t> shape_column;
  if (!in.GetIntegers(reports->size(), &shape_column)) return false;
  std::vector<size_t> counts(name_count, 0);
  size_t total = 0;
  for (const int64_t shape : shape_column) {
    if (shape < 0 || static_cast<uint64_t>(shape) >= shape_count) return false;
    for (const size_t name : shapes[static_cast<size_t>(shape)]) ++counts[name];
    total += shapes[static_cast<size_t>(shape)].size();
    // A constant column takes no bytes for its values: bound what a small frame can make.
    if (total > kMaxFrameBytes / sizeof(Metric)) return false;
  }
  std::vector<std::vector<double>> values(name_count);
  for (size_t i = 0; i < name_count; ++i) {
    if (!in.GetDoubles(counts[i], &values[i])) return false;
  }
  std::vector<size_t> next(name_count, 0);
  for (size_t i = 0; i < reports->size(); ++i) {
    std::vector<Metric>& metrics = (*reports)[i].report.metrics;
    const std::vector<size_t>& shape = shapes[static_cast<size_t>(shape_column[i])];
    metrics.reserve(shape.size());
    for (const size_t name : shape) {
      metrics.push_back({std::string(names[name]), values[name][next[name]++]});
    }
  }
  return true;
}

void PutSection(std::string& out, const JobReports& section) {
  const std::vector<StoredReport>& reports = section.reports;
  PutVarint(out, section.job.value);
  PutVarint(out, reports.size());
  if (reports.empty()) return;
  PutIntegers(out, Column(reports, [](const auto& r) { return r.number; }));
  PutIntegers(out, Column(reports, [](const auto& r) { return r.replica.value; }));
  PutIntegers(out, Column(reports, [](const auto& r) { return r.report.sequence; }));
  PutIntegers(out, Column(reports, [](const auto& r) { return r.report.iteration; }));
  PutIntegers(
      out, Column(reports, [](const auto& r) { return r.report.time.time_since_epoch().count(); }));
  std::vector<double> losses, samples;
  for (const StoredReport& stored : reports) {
    losses.push_back(stored.report.loss);
    samples.push_back(stored.report.samples);
  }
  PutDoubles(out, losses);
  PutDoubles(out, samples);
  PutMetrics(out, reports);
}

bool GetSection(ByteReader& in, int64_t room, JobReports* section) {
  uint64_t job = 0, count = 0;
  if (!in.GetVarint(&job) || !in.GetVarint(&count)) return false;
  if (count > static_cast<uint64_t>(room)) return false;
  section->job = JobId{job};
  if (count == 0) return true;
  std::vector<int64_t> numbers, replicas, sequences, iterations, times;
  std::vector<double> losses, samples;
  const bool columns = in.GetIntegers(count, &numbers) && in.GetIntegers(count, &replicas) &&
                       in.GetIntegers(count, &sequences) && in.GetIntegers(count, &iterations) &&
                       in.GetIntegers(count, &times) && in.GetDoubles(count, &losses) &&
                       in.GetDoubles(count, &samples);
  if (!columns) return false;
  section->reports.resize(count);
  for (size_t i = 0; i < count; ++i) {
    StoredReport& stored = section->reports[i];
    stored.number = numbers[i];
    stored.replica = ReplicaId{static_cast<uint64_t>(replicas[i])};
    stored.report.sequence = static_cast<uint64_t>(sequences[i]);
    stored.report.iteration = iterations[i];
    stored.report.time = Instant(Duration(times[i]));
    stored.report.loss = losses[i];
    stored.report.samples = samples[i];
  }
  return GetMetrics(in, &section->reports);
}

auto Corrupt(std::string what) {
  return Fail(ErrorCode::kCorrupt, "a block of reports does not read back: " + std::move(what));
}

}  // namespace

int64_t FrameRoom(const Report& report) {
  int64_t room = 1;
  for (const Metric& metric : report.metrics) {
    room += 1 + static_cast<int64_t>(metric.name.size() / 64);
  }
  return std::min(room, kMaxReportsInFrame);
}

struct ReportCodec::Contexts {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> compress{ZSTD_createCCtx()};
  std::unique_ptr<ZSTD_DCtx, Free> decompress{ZSTD_createDCtx()};
};

ReportCodec::ReportCodec() : contexts_(std::make_unique<Contexts>()) {
  METE_CHECK(contexts_->compress && contexts_->decompress);
}
ReportCodec::~ReportCodec() = default;
ReportCodec::ReportCodec(ReportCodec&&) noexcept = default;
ReportCodec& ReportCodec::operator=(ReportCodec&&) noexcept = default;

std::string ReportCodec::Encode(std::span<const JobReports> sections, int level) {
  std::string raw;
  raw.push_back(static_cast<char>(kVersion));
  PutVarint(raw, sections.size());
  size_t count = 0;
  for (const JobReports& section : sections) {
    count += section.reports.size();
    PutSection(raw, section);
  }
  METE_CHECK(count <= static_cast<size_t>(kMaxReportsInFrame));
  ZSTD_CCtx* context = contexts_->compress.get();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(raw.size()), '\0');
  const size_t size = ZSTD_compress2(context, frame.data(), frame.size(), raw.data(), raw.size());
  METE_CHECK(!ZSTD_isError(size));
  frame.resize(size);
  return frame;
}

Result<std::vector<JobReports>> ReportCodec::Decode(std::string_view frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Corrupt("not a zstd frame");
  }
  if (size > kMaxFrameBytes) return Corrupt("too large");
  std::string raw(size, '\0');
  const size_t got = ZSTD_decompressDCtx(contexts_->decompress.get(), raw.data(), raw.size(),
                                         frame.data(), frame.size());
  if (ZSTD_isError(got)) return Corrupt(ZSTD_getErrorName(got));
  if (got != raw.size()) return Corrupt("cut short");
  return DecodeColumns(raw);
}

Result<std::vector<JobReports>> ReportCodec::DecodeColumns(std::string_view raw) {
  ByteReader in(raw);
  uint8_t version = 0;
  uint64_t section_count = 0;
  if (!in.GetByte(&version) || version != kVersion) return Corrupt("unknown version");
  if (!in.GetVarint(&section_count) || section_count > raw.size()) return Corrupt("cut short");
  std::vector<JobReports> sections;
  int64_t room = kMaxReportsInFrame;
  for (uint64_t i = 0; i < section_count; ++i) {
    JobReports section;
    if (!GetSection(in, room, &section)) return Corrupt("malformed columns");
    room -= static_cast<int64_t>(section.reports.size());
    sections.push_back(std::move(section));
  }
  if (!in.done()) return Corrupt("bytes left over");
  return sections;
}

}  // namespace mete
