#include "http/event_stream_parser.h"

#include <utility>

namespace mete::http {

Status EventStreamParser::Feed(std::string_view bytes,
                               const std::function<bool(const ServerEvent&)>& on_event) {
  while (!bytes.empty() && !stopped_) {
    if (std::exchange(after_carriage_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + event_.data.size() > kEventBytesMax) {
      return Fail(ErrorCode::kResourceExhausted, "an event of the stream is too large");
    }
    if (end == std::string_view::npos) return {};
    after_carriage_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    stopped_ = !TakeLine(line_, on_event);
    line_.clear();
  }
  return {};
}

bool EventStreamParser::TakeLine(std::string_view line,
                                 const std::function<bool(const ServerEvent&)>& on_event) {
  if (line.empty()) {
    const ServerEvent event = std::exchange(event_, ServerEvent());
    return !std::exchange(has_data_, false) || on_event(event);
  }
  const size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value;
  if (colon != std::string_view::npos) value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    event_.name = value;
  } else if (field == "id") {
    event_.id = value;
  } else if (field == "data") {
    if (std::exchange(has_data_, true)) event_.data += '\n';
    event_.data += value;
  }
  return true;
}

}  // namespace mete::http
