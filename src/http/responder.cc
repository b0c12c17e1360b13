#include "http/responder.h"

#include "base/check.h"
#include "http/error_response.h"

namespace mete::http {
namespace {

// Line breaks would end the field that holds them.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  return text;
}

}  // namespace

std::string FormatEvent(const ServerEvent& event) {
  std::string text;
  if (!event.name.empty()) text += "event: " + OneLine(event.name) + "\n";
  if (!event.id.empty()) text += "id: " + OneLine(event.id) + "\n";
  std::string_view data = event.data;
  while (true) {
    const size_t end = data.find('\n');
    text += "data: " + OneLine(std::string(data.substr(0, end))) + "\n";
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  text += '\n';
  return text;
}

bool ResponseStream::Write(std::string_view bytes) { return sink_ && sink_->Write(bytes); }

bool ResponseStream::Send(const ServerEvent& event) { return Write(FormatEvent(event)); }

void ResponseStream::End() {
  if (sink_) sink_->EndStream();
}

bool ResponseStream::IsOpen() const { return sink_ && sink_->IsOpen(); }

void ResponseStream::OnGone(std::function<void()> function) {
  if (sink_) sink_->OnGone(std::move(function));
}

struct Responder::Answer {
  explicit Answer(std::shared_ptr<ResponseSink> sink) : sink(std::move(sink)) {}
  ~Answer() {
    if (answered) return;
    sink->Send(ErrorResponse({ErrorCode::kInternal, "the request was dropped unanswered", "", ""}));
  }
  std::shared_ptr<ResponseSink> sink;
  bool answered = false;
};

Responder::Responder(std::shared_ptr<ResponseSink> sink)
    : answer_(std::make_shared<Answer>(std::move(sink))) {}

void Responder::Send(Response response) const {
  METE_CHECK(!answer_->answered);
  answer_->answered = true;
  answer_->sink->Send(std::move(response));
}

ResponseStream Responder::StartStream(Response head) const {
  METE_CHECK(!answer_->answered);
  answer_->answered = true;
  answer_->sink->StartStream(std::move(head));
  return ResponseStream(answer_->sink);
}

ResponseStream Responder::StartEvents() const {
  Response head;
  head.content_type = "text/event-stream";
  head.headers = {{"Cache-Control", "no-store"}};
  return StartStream(std::move(head));
}

bool Responder::IsOpen() const { return answer_->sink->IsOpen(); }

}  // namespace mete::http
