#include "http/router.h"

#include <gtest/gtest.h>

#include "http/error_response.h"
#include "http/target.h"

namespace mete::http {
namespace {

class Recorder final : public ResponseSink {
 public:
  void Send(Response response) override {
    EXPECT_FALSE(sent) << "answered twice";
    sent = std::move(response);
  }
  void StartStream(Response head) override { Send(std::move(head)); }
  bool Write(std::string_view) override { return true; }
  void EndStream() override {}
  void OnGone(std::function<void()>) override {}
  bool IsOpen() const override { return true; }

  std::optional<Response> sent;
};

Response Ask(const Router& router, std::string method, std::string_view target) {
  const auto recorder = std::make_shared<Recorder>();
  Request request;
  request.method = std::move(method);
  request.target = *ParseTarget(target);
  router.Handle(std::move(request), Responder(recorder));
  return recorder->sent.value();
}

// Answers with its name and its parameters.
Router::Handler Named(std::string name) {
  return [name](Request, const PathParameters& parameters, Responder responder) {
    Response response;
    response.body = name;
    for (const auto& [key, value] : parameters) response.body += " " + key + "=" + value;
    responder.Send(std::move(response));
  };
}

Router JobRoutes() {
  Router router;
  router.Add("GET", "/", Named("root"));
  router.Add("GET", "/v1/jobs", Named("list"));
  router.Add("POST", "/v1/jobs", Named("submit"));
  router.Add("GET", "/v1/jobs/{id}", Named("describe"));
  router.Add("GET", "/v1/jobs/latest", Named("latest"));
  router.Add("POST", "/v1/jobs/{id}/cancel", Named("cancel"));
  router.Add("GET", "/v1/{kind}/latest", Named("kind"));
  return router;
}

TEST(Router, FindsHandlersAndParameters) {
  const Router router = JobRoutes();
  EXPECT_EQ(Ask(router, "GET", "/").body, "root");
  EXPECT_EQ(Ask(router, "GET", "/v1/jobs?limit=1").body, "list");
  EXPECT_EQ(Ask(router, "POST", "/v1/jobs/").body, "submit");
  EXPECT_EQ(Ask(router, "GET", "/v1/jobs/a%2Fb%20c").body, "describe id=a/b c");
  EXPECT_EQ(Ask(router, "POST", "/v1/jobs/7/cancel").body, "cancel id=7");
  EXPECT_EQ(Ask(router, "HEAD", "/v1/jobs").body, "list");
}

TEST(Router, AFixedSegmentWins) {
  const Router router = JobRoutes();
  EXPECT_EQ(Ask(router, "GET", "/v1/jobs/latest").body, "latest");
  EXPECT_EQ(Ask(router, "GET", "/v1/nodes/latest").body, "kind kind=nodes");
}

TEST(Router, UnknownPathsAndMethods) {
  const Router router = JobRoutes();
  for (const char* path : {"/v2", "/v1/jobs/7/nothing", "/v1//cancel", "/v1/jobs/7/cancel/x"}) {
    const Response response = Ask(router, "GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(ErrorFromResponse(response).code, ErrorCode::kNotFound) << path;
  }
  const Response response = Ask(router, "DELETE", "/v1/jobs");
  EXPECT_EQ(response.status, 405);
  ASSERT_NE(response.FindHeader("allow"), nullptr);
  EXPECT_EQ(*response.FindHeader("allow"), "GET, POST");
}

TEST(Router, AHandlerThatForgetsToAnswerGives500) {
  Router router;
  router.Add("GET", "/", [](Request, const PathParameters&, Responder) {});
  EXPECT_EQ(Ask(router, "GET", "/").status, 500);
}

TEST(ErrorResponse, ComesBackTheSame) {
  const Error error{ErrorCode::kNeverFits, "asks for 64 \xFF cores", "jobs[2].roles.worker.max",
                    "the cluster has 2"};
  const Response response = ErrorResponse(error);
  EXPECT_EQ(response.status, 422);
  const Error back = ErrorFromResponse(response);
  EXPECT_EQ(back.code, error.code);
  EXPECT_EQ(back.message, "asks for 64 \xEF\xBF\xBD cores");
  EXPECT_EQ(back.where, error.where);
  EXPECT_EQ(back.hint, error.hint);
}

TEST(ErrorResponse, AnyBodyGivesSomeError) {
  for (const char* body :
       {"", "<html>", "[1]", "{}", R"({"error": 5})", R"({"error": {"code": 1}})"}) {
    Response response;
    response.status = 404;
    response.body = body;
    EXPECT_EQ(ErrorFromResponse(response).code, ErrorCode::kNotFound) << body;
    EXPECT_FALSE(ErrorFromResponse(response).message.empty()) << body;
  }
}

}  // namespace
}  // namespace mete::http
