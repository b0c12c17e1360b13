#include "trace/philly_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/csv_reader.h"
#include "trace/time_text.h"

namespace mete {
namespace {

// The bytes of a source one by one for the parser, which keeps a copy: the place is behind a
// pointer.
class Bytes {
 public:
  explicit Bytes(const ByteSource& source) : source_(source) { Refill(); }

  bool ended() const { return position_ == block_.size(); }
  char current() const { return block_[position_]; }
  void Advance() {
    if (block_[position_] == '\n') {
      ++line_;
      column_ = 0;
    }
    ++column_;
    if (++position_ == block_.size()) Refill();
  }
  int64_t line() const { return line_; }
  int64_t column() const { return column_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  void Refill() {
    position_ = 0;
    Result<std::string_view> block = source_();
    block_ = block.value_or(std::string_view());
    if (!block) error_ = block.error();
  }

  const ByteSource& source_;
  std::string_view block_;
  size_t position_ = 0;
  int64_t line_ = 1;
  int64_t column_ = 1;
  std::optional<Error> error_;
};

struct ByteIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Bytes* bytes = nullptr;  // null: the end

  char operator*() const { return bytes->current(); }
  ByteIterator& operator++() {
    bytes->Advance();
    return *this;
  }
  void operator++(int) { bytes->Advance(); }
  bool operator==(const ByteIterator& other) const {
    return (bytes == nullptr || bytes->ended()) == (other.bytes == nullptr || other.bytes->ended());
  }
};

// Where in the log's tree the parser is. What lies elsewhere is passed over.
enum class Place { kOutside, kJobs, kJob, kAttempts, kAttempt, kDetails, kDetail, kGpus, kOther };

struct Attempt {
  std::optional<Duration> start, end;
  int64_t gpus = 0;
};

class LogHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  LogHandler(Bytes& bytes, const std::string& file, TraceLimits limits)
      : bytes_(bytes),
        file_(file),
        builder_({.file = file, .format = "philly-json", .time_unit = "dates"}, limits) {}

  Result<Trace> Finish() {
    builder_.SetStart(DateText(builder_.CountFromFirst()));
    return builder_.Finish();
  }
  const std::optional<Error>& error() const { return error_; }

  bool null() override { return Scalar(nullptr); }
  bool boolean(bool) override { return Scalar(nullptr); }
  bool number_integer(number_integer_t) override { return Scalar(nullptr); }
  bool number_unsigned(number_unsigned_t) override { return Scalar(nullptr); }
  bool number_float(number_float_t, const string_t&) override { return Scalar(nullptr); }
  bool binary(binary_t&) override { return Scalar(nullptr); }
  bool string(string_t& text) override { return Scalar(&text); }
  bool key(string_t& name) override {
    if (place() != Place::kOther) key_ = name;
    return true;
  }

  bool start_object(size_t) override {
    switch (place()) {
      case Place::kJobs:
        job_ = {};
        attempts_.clear();
        id_.clear();
        submitted_.reset();
        line_ = bytes_.line();
        return Enter(Place::kJob);
      case Place::kAttempts:
        attempts_.emplace_back();
        return Enter(Place::kAttempt);
      case Place::kDetails:
        return Enter(Place::kDetail);
      case Place::kOutside:
        return Wrong("an object", "the log is an array of jobs");
      case Place::kGpus:
        return Wrong("an object", "GPUs are texts");
      default:
        return Enter(Place::kOther);
    }
  }
  bool end_object() override {
    const Place left = place();
    places_.pop_back();
    return left != Place::kJob || AddJob();
  }
  bool start_array(size_t) override {
    switch (place()) {
      case Place::kOutside:
        return Enter(Place::kJobs);
      case Place::kJobs:
        return Wrong("an array", "the log is an array of jobs");
      case Place::kJob:
        return Enter(key_ == "attempts" ? Place::kAttempts : Place::kOther);
      case Place::kAttempt:
        return Enter(key_ == "detail" ? Place::kDetails : Place::kOther);
      case Place::kDetail:
        return Enter(key_ == "gpus" ? Place::kGpus : Place::kOther);
      default:
        return Enter(Place::kOther);
    }
  }
  bool end_array() override {
    places_.pop_back();
    return true;
  }

  bool parse_error(size_t, const std::string& token, const nlohmann::json::exception&) override {
    if (bytes_.error()) {
      error_ = bytes_.error();
      return false;
    }
    return bytes_.ended() ? Wrong("the end of the file", "it was cut off: get it again")
                          : Wrong(QuotedCell(token), "this is no JSON");
  }

 private:
  Place place() const { return places_.empty() ? Place::kOutside : places_.back(); }
  bool Enter(Place place) {
    places_.push_back(place);
    return true;
  }

  // `text` is null for what is no text.
  bool Scalar(const std::string* text) {
    switch (place()) {
      case Place::kOutside:
      case Place::kJobs:
        return Wrong("a value", "the log is an array of jobs");
      case Place::kJob:
        return JobField(text);
      case Place::kAttempt:
        if (key_ == "start_time") return Date(text, attempts_.back().start);
        if (key_ == "end_time") return Date(text, attempts_.back().end);
        return true;
      case Place::kGpus:
        ++attempts_.back().gpus;
        return true;
      default:
        return true;
    }
  }

  bool JobField(const std::string* text) {
    if (key_ == "submitted_time") return Date(text, submitted_);
    if (key_ != "jobid" && key_ != "vc" && key_ != "user" && key_ != "status") return true;
    if (text == nullptr) return key_ != "jobid" || Wrong("no text", "'jobid' is a text");
    if (std::any_of(text->begin(), text->end(),
                    [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }))
      return Wrong("a control character", fmt::format("'{}' is a plain text", key_));
    if (key_ == "jobid") id_ = *text;
    if (key_ == "vc") job_.tenant = builder_.Name(*text);
    if (key_ == "user") job_.user = builder_.Name(*text);
    if (key_ == "status")
      job_.status = *text == "Pass"     ? TraceStatus::kCompleted
                    : *text == "Killed" ? TraceStatus::kKilled
                    : *text == "Failed" ? TraceStatus::kFailed
                                        : TraceStatus::kUnknown;
    return true;
  }

  // "None", null and the empty text say that there is none.
  bool Date(const std::string* text, std::optional<Duration>& date) {
    date.reset();
    if (text == nullptr || text->empty() || *text == "None") return true;
    date = ParseDate(*text);
    return date || Wrong(QuotedCell(*text),
                         fmt::format("'{}' is a date such as 2017-10-07 01:12:09, or None", key_));
  }

  bool AddJob() {
    if (id_.empty()) return Wrong("the end of a job", "it has no 'jobid'");
    if (!submitted_) return Wrong("the end of a job", "it has no 'submitted_time'");
    job_.submit = *submitted_;
    Duration ran{};
    int64_t gpus = 0;
    bool open = false, finished = false;
    for (const Attempt& attempt : attempts_) {
      if (attempt.gpus > 0) gpus = attempt.gpus;
      if (attempt.start && attempt.end) {
        ran += *attempt.end - *attempt.start;
        finished = true;
      } else {
        open = true;
      }
    }
    if (!finished) {
      builder_.Notice(TraceNoticeKind::kNeverRan, line_);
      return true;
    }
    if (gpus > UINT16_MAX || ran > kTraceTimeMax || ran < -kTraceTimeMax)
      return Wrong("the end of a job", "it has more than 65535 GPUs or ran for over 100 years");
    if (open) builder_.Notice(TraceNoticeKind::kOpenAttempt, line_);
    job_.duration = ran;
    job_.gpus = static_cast<uint16_t>(gpus);
    job_.attempts = static_cast<uint8_t>(std::min<size_t>(attempts_.size(), UINT8_MAX));
    const Status added = builder_.Add(job_, id_, line_);
    if (!added) error_ = added.error();
    return added.has_value();
  }

  bool Wrong(const std::string& what, const std::string& hint) {
    error_ = Error{ErrorCode::kInvalidArgument, what + " does not belong here",
                   fmt::format("{}:{}:{}", file_, bytes_.line(), bytes_.column()), hint};
    return false;
  }

  Bytes& bytes_;
  const std::string& file_;
  TraceBuilder builder_;
  std::vector<Place> places_;
  std::string key_;
  std::optional<Error> error_;
  // The job that is being read.
  TraceJob job_;
  std::string id_;
  std::optional<Duration> submitted_;
  std::vector<Attempt> attempts_;
  int64_t line_ = 0;
};

}  // namespace

Result<Trace> ReadPhillyJson(const ByteSource& source, const std::string& file,
                             TraceLimits limits) {
  Bytes bytes(source);
  if (bytes.error()) return tl::make_unexpected(*bytes.error());
  if (bytes.ended())
    return Fail(ErrorCode::kInvalidArgument, "the file is empty", file, "the log is a JSON array");
  LogHandler handler(bytes, file, limits);
  const bool parsed = nlohmann::json::sax_parse(ByteIterator{&bytes}, ByteIterator{}, &handler);
  if (!parsed)
    return tl::make_unexpected(handler.error().value_or(
        Error{ErrorCode::kInternal, "the JSON parser gave up without a reason", file, ""}));
  return handler.Finish();
}

}  // namespace mete
