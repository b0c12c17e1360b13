// Targets, queries, routing and event streams from arbitrary bytes. Beast parses the rest of a
// request.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "http/error_response.h"
#include "http/event_stream_parser.h"
#include "http/router.h"
#include "http/target.h"

namespace mete::http {
namespace {

class CountingSink final : public ResponseSink {
 public:
  void Send(Response response) override {
    ++answers;
    METE_CHECK(IsValidUtf8(response.body));
    ErrorFromResponse(response);
  }
  void StartStream(Response) override { ++answers; }
  bool Write(std::string_view) override { return true; }
  void EndStream() override {}
  void OnGone(std::function<void()>) override {}
  bool IsOpen() const override { return true; }
  int answers = 0;
};

Router Routes() {
  Router router;
  const auto answer = [](Request, const PathParameters& parameters, Responder responder) {
    Response response;
    for (const auto& [name, value] : parameters) response.body += value;
    responder.Send(std::move(response));
  };
  router.Add("GET", "/v1/jobs", answer);
  router.Add("GET", "/v1/jobs/{id}", answer);
  router.Add("POST", "/v1/{kind}/{id}", answer);
  return router;
}

void FuzzTarget(std::string_view text) {
  auto target = ParseTarget(text);
  if (!target) return;
  for (const std::string& segment : target->segments) {
    METE_CHECK(PercentDecode(PercentEncode(segment), false) == segment);
  }
  static const Router router = Routes();
  for (const char* method : {"GET", "POST", "PUT"}) {
    const auto sink = std::make_shared<CountingSink>();
    Request request;
    request.method = method;
    request.target = *target;
    router.Handle(std::move(request), Responder(sink));
    METE_CHECK(sink->answers == 1);
  }
}

// Whole, or cut in two: the same events.
void FuzzEventStream(std::string_view text, size_t cut) {
  std::string whole;
  std::string pieces;
  const auto append_to = [](std::string& all) {
    return [&all](const ServerEvent& event) {
      all += FormatEvent(event);
      return true;
    };
  };
  EventStreamParser first;
  EventStreamParser second;
  METE_CHECK(first.Feed(text, append_to(whole)).has_value());
  cut = cut % (text.size() + 1);
  METE_CHECK(second.Feed(text.substr(0, cut), append_to(pieces)).has_value());
  METE_CHECK(second.Feed(text.substr(cut), append_to(pieces)).has_value());
  METE_CHECK(whole == pieces);
}

}  // namespace
}  // namespace mete::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  mete::http::FuzzTarget(text);
  mete::http::FuzzTarget("/v1/" + std::string(text));
  mete::http::FuzzEventStream(text, data[0]);
  mete::http::Response response;
  response.status = 400 + data[0];
  response.body = text;
  mete::http::ErrorFromResponse(response);
  return 0;
}
