#pragma once

// For tests: the API over a real engine and a journal on disk, with a backend in memory and a clock
// that the test moves.

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "api/api.h"
#include "backend/memory/memory_backend.h"
#include "engine/manual_executor.h"
#include "gtest/gtest.h"
#include "http/target.h"

namespace mete {

// Keeps what a handler answers.
class RecordedAnswer final : public http::ResponseSink {
 public:
  void Send(http::Response response) override {
    EXPECT_FALSE(answer) << "answered twice";
    answer = std::move(response);
  }
  void StartStream(http::Response head) override { Send(std::move(head)); }
  bool Write(std::string_view bytes) override {
    streamed += bytes;
    return open;
  }
  void EndStream() override { ended = true; }
  void OnGone(std::function<void()>) override {}
  bool IsOpen() const override { return open; }

  std::optional<http::Response> answer;
  std::string streamed;
  bool ended = false;
  bool open = true;
};

class ApiFixture : public ::testing::Test {
 protected:
  ApiFixture() {
    std::string pattern = ::testing::TempDir() + "mete-api-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    StartDaemon({});
  }
  ~ApiFixture() override {
    journal_.reset();
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }

  // Also a later daemon on the same journal and backend.
  void StartDaemon(JournalOptions options) {
    if (engine_) Settle();
    journal_.reset();
    loop_.RunFor(std::chrono::milliseconds(20));  // its last answers
    executor_ = std::make_unique<ManualExecutor>(clock_);
    engine_.reset();
    router_ = http::Router();
    options.gather = options.report_gather = {};
    Result<OpenedJournal> opened =
        Journal::Open(directory_ + "/journal.db", options, clock_,
                      [this](std::function<void()> done) { loop_.Post(std::move(done)); });
    if (!opened) throw std::runtime_error(opened.error().ToString());
    journal_ = std::move(opened->journal);
    engine_ = std::make_unique<Engine>(EngineOptions{.default_policy = "fair"}, clock_, *executor_,
                                       backend_, *journal_, policies_);
    engine_->Start(std::move(opened->state),
                   [](const Status& status) { EXPECT_TRUE(status) << status.error().ToString(); });
    routes_ = RegisterApi(router_, {.engine = *engine_,
                                    .clock = clock_,
                                    .loop = loop_,
                                    .policies = policies_,
                                    .journal = journal_.get(),
                                    .replica_directory = [this](ReplicaId) { return directory_; },
                                    .request_shutdown = [this] { shut_down_ = true; },
                                    .version = "test",
                                    .state_directory = directory_,
                                    .socket_path = directory_ + "/mete.sock",
                                    .term = Term{1}});
    Settle();
  }

  // Lets the backend, the journal and the engine come to rest.
  void Settle() {
    for (int i = 0; i < 3; ++i) {
      loop_.RunFor(std::chrono::milliseconds(20));
      while (backend_.Deliver() > 0) loop_.RunFor(std::chrono::milliseconds(20));
      executor_->RunFor(std::chrono::milliseconds(200));
    }
  }

  std::shared_ptr<RecordedAnswer> Begin(std::string method, std::string_view target,
                                        std::string body = "") {
    auto recorded = std::make_shared<RecordedAnswer>();
    http::Request request;
    request.method = std::move(method);
    request.target = http::ParseTarget(target).value();
    request.body = std::move(body);
    router_.Handle(std::move(request), http::Responder(recorded));
    return recorded;
  }
  http::Response Ask(std::string method, std::string_view target, std::string body = "") {
    const auto recorded = Begin(std::move(method), target, std::move(body));
    for (int i = 0; i < 200 && !recorded->answer; ++i) {
      loop_.RunFor(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(recorded->answer) << target << " was not answered";
    return recorded->answer.value_or(http::Response{.status = 0});
  }
  nlohmann::json AskJson(std::string method, std::string_view target, std::string body = "") {
    const http::Response response = Ask(std::move(method), target, std::move(body));
    EXPECT_LT(response.status, 300) << response.body;
    return nlohmann::json::parse(response.body);
  }
  // {code, status} of an answer that is an error.
  std::pair<std::string, int> AskError(std::string method, std::string_view target,
                                       std::string body = "") {
    const http::Response response = Ask(std::move(method), target, std::move(body));
    const auto json = nlohmann::json::parse(response.body, nullptr, false);
    if (!json.is_object() || !json.contains("error")) return {response.body, response.status};
    return {json["error"]["code"], response.status};
  }

  uint64_t Submit(const std::string& name, const std::string& more = "") {
    const std::string body = R"({"jobs":[{"name":")" + name +
                             R"(","command":["train"],"directory":"/","roles":[{}])" + more + "}]}";
    const nlohmann::json answer = AskJson("POST", "/v1/jobs", body);
    Settle();
    return answer["ids"][0].get<uint64_t>();
  }

  static constexpr int64_t kGiB = int64_t{1} << 30;

  ManualClock clock_{Instant(std::chrono::hours(1)), WallTime(std::chrono::hours(500'000))};
  EventLoop loop_;
  std::unique_ptr<ManualExecutor> executor_;
  MemoryBackend backend_{{{.id = NodeId{1},
                           .name = "here",
                           .capacity = {.cpu_millis = 4000, .memory_bytes = 8 * kGiB}}}};
  PolicyRegistry policies_ = BuiltinPolicies();
  std::string directory_;
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<Engine> engine_;
  http::Router router_;
  std::vector<RouteName> routes_;
  bool shut_down_ = false;
};

}  // namespace mete
