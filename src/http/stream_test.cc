#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "http/serving_fixture.h"

namespace mete::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// Keeps every stream that is asked for.
class Streams {
 public:
  explicit Streams(ServerOptions options = {})
      : serving(
            [this](Request request, Responder responder) {
              if (request.target.path == "/plain") {
                responder.Send(Response());
                return;
              }
              streams.push_back(responder.StartEvents());
              streams.back().OnGone([this] { ++gone; });
            },
            options) {}

  ~Streams() {
    serving.On([this] { streams.clear(); });
  }
  bool WaitForStreams(size_t count) {
    return Eventually([&] {
      size_t now = 0;
      serving.On([&] { now = streams.size(); });
      return now >= count;
    });
  }

  std::vector<ResponseStream> streams;
  std::atomic<int> gone = 0;
  Serving serving;
};

TEST(Stream, EventsArriveInOrderAndTheEndIsSeen) {
  Streams test;
  std::vector<ServerEvent> seen;
  Status status;
  std::thread reader([&] {
    status = test.serving.MakeClient().StreamEvents(
        "/events",
        [&](const ServerEvent& event) {
          seen.push_back(event);
          return true;
        },
        seconds(20));
  });
  ASSERT_TRUE(test.WaitForStreams(1));
  for (int i = 0; i < 500; ++i) {
    test.serving.On([&] {
      EXPECT_TRUE(test.streams[0].Send({"tick", "line 1\nline " + std::to_string(i), ""}));
    });
  }
  test.serving.On([&] {
    test.streams[0].End();
    EXPECT_FALSE(test.streams[0].Send({"late", "", ""}));
  });
  reader.join();
  EXPECT_TRUE(status) << status.error().ToString();
  ASSERT_EQ(seen.size(), 500u);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(seen[i].data, "line 1\nline " + std::to_string(i));
  EXPECT_EQ(test.gone, 0);
}

TEST(Stream, TheClientMayStop) {
  Streams test;
  std::thread reader([&] {
    Client client = test.serving.MakeClient();
    EXPECT_TRUE(client.StreamEvents(
        "/events", [](const ServerEvent&) { return false; }, seconds(20)));
    EXPECT_TRUE(client.Call("GET", "/plain"));
  });
  ASSERT_TRUE(test.WaitForStreams(1));
  test.serving.On([&] { test.streams[0].Send({"one", "", ""}); });
  reader.join();
  EXPECT_TRUE(Eventually([&] { return test.gone == 1; }));
}

TEST(Stream, AClientThatLeavesIsNoticed) {
  Streams test;
  RawClient client(test.serving.socket_path());
  client.Write("GET /events HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(test.WaitForStreams(1));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return test.gone == 1; }));
  test.serving.On([&] { EXPECT_FALSE(test.streams[0].Send({"late", "", ""})); });
  EXPECT_EQ(test.serving.ConnectionCount(), 0);
}

TEST(Stream, AHalfClosedClientKeepsItsStream) {
  Streams test;
  RawClient client(test.serving.socket_path());
  client.Write("GET /events HTTP/1.1\r\n\r\n");
  client.FinishSending();
  ASSERT_TRUE(test.WaitForStreams(1));
  test.serving.On([&] {
    EXPECT_TRUE(test.streams[0].Send({"x", "still here", ""}));
    test.streams[0].End();
  });
  EXPECT_THAT(client.Read(), HasSubstr("still here"));
}

TEST(Stream, AClientThatDoesNotReadIsDroppedAndOthersAreNot) {
  ServerOptions options;
  options.stream_buffer_bytes = 64 * 1024;
  Streams test(options);
  RawClient slow(test.serving.socket_path());
  slow.Write("GET /events HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(test.WaitForStreams(1));
  std::atomic<int> seen = 0;
  std::thread reader([&] {
    EXPECT_TRUE(test.serving.MakeClient().StreamEvents(
        "/events", [&](const ServerEvent&) { return ++seen, true; }, seconds(20)));
  });
  ASSERT_TRUE(test.WaitForStreams(2));
  const std::string data(1000, 'x');
  int sent = 0;
  bool slow_is_open = true;
  while (slow_is_open && sent < 10000) {
    test.serving.On([&] {
      slow_is_open = test.streams[0].Send({"", data, ""});
      EXPECT_TRUE(test.streams[1].Send({"", data, ""}));
    });
    ++sent;
    // The other one reads along.
    ASSERT_TRUE(Eventually([&] { return seen > sent - 30; }));
  }
  EXPECT_FALSE(slow_is_open);
  EXPECT_TRUE(Eventually([&] { return test.gone == 1; }));
  test.serving.On([&] { test.streams[1].End(); });
  reader.join();
  EXPECT_EQ(seen, sent);
}

TEST(Stream, HeartbeatsKeepAQuietStreamOpen) {
  ServerOptions options;
  options.heartbeat_interval = milliseconds(20);
  Streams test(options);
  std::atomic<int> seen = 0;
  std::thread reader([&] {
    EXPECT_TRUE(test.serving.MakeClient().StreamEvents(
        "/events", [&](const ServerEvent&) { return ++seen, true; }, seconds(5)));
  });
  ASSERT_TRUE(test.WaitForStreams(1));
  RawClient raw(test.serving.socket_path());
  raw.Write("GET /events HTTP/1.1\r\n\r\n");
  const std::string text = raw.Read(
      [](const std::string& all) { return all.find(":\n\n\r\n3\r\n:\n\n") != std::string::npos; });
  EXPECT_THAT(text, HasSubstr("3\r\n:\n\n\r\n3\r\n:\n\n\r\n"));
  test.serving.On([&] { test.streams[0].End(); });
  reader.join();
  EXPECT_EQ(seen, 0);
}

TEST(Stream, SilenceIsAnError) {
  Streams test;
  const Status status = test.serving.MakeClient().StreamEvents(
      "/events", [](const ServerEvent&) { return true; }, milliseconds(100));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
}

TEST(Stream, OldHttpGetsAStreamWithoutChunks) {
  Streams test;
  RawClient client(test.serving.socket_path());
  client.Write("GET /events HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(test.WaitForStreams(1));
  test.serving.On([&] {
    test.streams[0].Send({"x", "y", ""});
    test.streams[0].End();
  });
  EXPECT_TRUE(client.Read().ends_with("\r\n\r\nevent: x\ndata: y\n\n"));
}

TEST(Client, CanBeInterrupted) {
  Streams test;
  std::atomic<bool> interrupted = false;
  ClientOptions options;
  options.cancelled = [&] { return interrupted.load(); };
  std::thread interrupter([&] {
    test.WaitForStreams(1);
    interrupted = true;
  });
  const Status status = test.serving.MakeClient(options).StreamEvents(
      "/events", [](const ServerEvent&) { return true; }, seconds(60));
  interrupter.join();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "interrupted");
}

TEST(Client, SaysWhatToDoWhenNoDaemonListens) {
  const TemporaryDirectory directory;
  for (const Endpoint& endpoint :
       {Endpoint{directory.path() + "/none.sock", 0, ""}, Endpoint{"", 1, "t"}}) {
    const auto body = Client(endpoint).Call("GET", "/");
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(body.error().where, endpoint.Describe());
    EXPECT_THAT(body.error().hint, HasSubstr("mete serve"));
  }
}

TEST(Client, ASilentServerTimesOut) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/silent.sock";
  const auto listener = UnixListener::Open(path);
  ASSERT_TRUE(listener);
  ClientOptions options;
  options.request_timeout = milliseconds(100);
  const auto body = Client(Endpoint{path, 0, ""}, options).Call("GET", "/");
  ASSERT_FALSE(body);
  EXPECT_EQ(body.error().code, ErrorCode::kUnavailable);
}

TEST(Client, NonsenseFromAServerIsAnError) {
  for (const char* answer :
       {"nonsense\r\n\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/odd.sock";
    const auto listener = UnixListener::Open(path);
    ASSERT_TRUE(listener);
    std::thread server([&] {
      int fd = -1;
      Eventually([&] { return (fd = ::accept(listener->Fd(), nullptr, nullptr)) >= 0; });
      char buffer[1024];
      EXPECT_GT(::recv(fd, buffer, sizeof(buffer), 0), 0);
      EXPECT_EQ(::send(fd, answer, std::strlen(answer), MSG_NOSIGNAL),
                static_cast<ssize_t>(std::strlen(answer)));
      ::close(fd);
    });
    const auto body = Client(Endpoint{path, 0, ""}).Call("GET", "/");
    server.join();
    ASSERT_FALSE(body) << answer;
    EXPECT_EQ(body.error().code, ErrorCode::kUnavailable) << answer;
  }
}

}  // namespace
}  // namespace mete::http
