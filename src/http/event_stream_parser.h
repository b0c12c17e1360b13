#pragma once

// Takes a text/event-stream apart, in whatever pieces it arrives (WHATWG HTML, "Server-sent
// events": fields event, data and id; comments and other fields are skipped).

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace mete::http {

class EventStreamParser {
 public:
  // Calls `on_event` for each event that `bytes` completes; after it returns false, nothing more is
  // read. Fails (kResourceExhausted) on an event larger than kEventBytesMax.
  Status Feed(std::string_view bytes, const std::function<bool(const ServerEvent&)>& on_event);
  // on_event has returned false.
  bool stopped() const { return stopped_; }

  static constexpr size_t kEventBytesMax = 16 * 1024 * 1024;

 private:
  // False when `on_event` wants no more.
  bool TakeLine(std::string_view line, const std::function<bool(const ServerEvent&)>& on_event);

  std::string line_;
  bool after_carriage_return_ = false;
  ServerEvent event_;
  bool has_data_ = false;
  bool stopped_ = false;
};

}  // namespace mete::http
