#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <map>

#include "base/rng.h"
#include "http/error_response.h"
#include "http/serving_fixture.h"

namespace mete::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Answers with what it got.
void Echo(Request request, Responder responder) {
  Response response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.target.path + " " + request.body;
  responder.Send(std::move(response));
}

bool HasWholeAnswer(const std::string& text) { return text.find("\r\n\r\n") != std::string::npos; }

TEST(Server, AnswersOnAKeptConnection) {
  Serving serving(Echo);
  Client client = serving.MakeClient();
  for (int i = 0; i < 50; ++i) {
    const auto response =
        client.Send("POST", "/a/" + std::to_string(i), "body" + std::to_string(i));
    ASSERT_TRUE(response) << response.error().ToString();
    EXPECT_EQ(response->body, "POST /a/" + std::to_string(i) + " body" + std::to_string(i));
    EXPECT_EQ(response->content_type, "text/plain");
  }
  EXPECT_EQ(serving.ConnectionCount(), 1);
}

TEST(Server, TellsTheHandlerWhoAsksAndWhat) {
  Serving serving([](Request request, Responder responder) {
    Response response;
    response.body = std::to_string(request.peer_uid.value_or(12345)) + " " +
                    *request.FindHeader("USER-AGENT") + " " + *request.FindQuery("q");
    responder.Send(std::move(response));
  });
  const auto body = serving.MakeClient().Call("GET", "/x?q=a%20b");
  ASSERT_TRUE(body);
  EXPECT_EQ(*body, std::to_string(::geteuid()) + " mete a b");
}

TEST(Server, LargeBodiesBothWays) {
  Serving serving(Echo);
  Client client = serving.MakeClient();
  const std::string body(7 * 1024 * 1024, 'b');
  const auto response = client.Call("POST", "/", body);
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->size(), body.size() + 7);
}

TEST(Server, TooLargeABodyIsRefusedWith413) {
  Serving serving(Echo);
  Client client = serving.MakeClient();
  const auto response = client.Send("POST", "/", std::string(9 * 1024 * 1024, 'b'));
  ASSERT_TRUE(response) << response.error().ToString();
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(ErrorFromResponse(*response).code, ErrorCode::kResourceExhausted);
  EXPECT_TRUE(client.Call("GET", "/"));

  RawClient chunked(serving.socket_path());
  chunked.Write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "100000\r\n" + std::string(0x100000, 'c') + "\r\n";
  for (int i = 0; i < 10 && chunked.Write(chunk); ++i) {
  }
  EXPECT_THAT(chunked.Read(), StartsWith("HTTP/1.1 413"));
}

TEST(Server, TooLargeAHeaderIsRefusedWith431) {
  Serving serving(Echo);
  RawClient client(serving.socket_path());
  client.Write("GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + std::string(20000, 'x') + "\r\n\r\n");
  EXPECT_THAT(client.Read(), StartsWith("HTTP/1.1 431"));
  EXPECT_TRUE(client.closed_by_server());
}

TEST(Server, GarbageIsAnsweredWith400AndHarmsNobody) {
  Serving serving(Echo);
  for (const char* bytes : {"\r\r\r\r", "GET\r\n\r\n", "hello world\r\n\r\n",
                            "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbroken header\r\n\r\n",
                            "\x16\x03\x01\x02", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                            "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    RawClient client(serving.socket_path());
    client.Write(bytes);
    client.FinishSending();
    EXPECT_THAT(client.Read(), StartsWith("HTTP/1.1 400")) << bytes;
  }
  const auto bad_target = serving.MakeClient().Send("GET", "/%zz");
  ASSERT_TRUE(bad_target);
  EXPECT_EQ(bad_target->status, 400);
  EXPECT_EQ(ErrorFromResponse(*bad_target).where, "target");
  EXPECT_TRUE(serving.MakeClient().Call("GET", "/"));
}

TEST(Server, RandomBytesHarmNobody) {
  Serving serving(Echo);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    std::string bytes = rng.Chance(0.5) ? "GET / HTTP/1.1\r\n" : "";
    for (uint64_t i = rng.Below(2000); i > 0; --i) bytes += static_cast<char>(rng.Below(256));
    RawClient client(serving.socket_path());
    client.Write(bytes);
    if (rng.Chance(0.5)) client.FinishSending();
  }
  EXPECT_TRUE(serving.MakeClient().Call("GET", "/"));
  EXPECT_TRUE(Eventually([&] { return serving.ConnectionCount() == 0; }));
}

TEST(Server, PipelinedRequestsAreAnsweredInOrder) {
  Serving serving(Echo);
  RawClient client(serving.socket_path());
  client.Write(
      "GET /1 HTTP/1.1\r\n\r\nPOST /2 HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi"
      "GET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string text = client.Read();
  const size_t first = text.find("GET /1");
  const size_t second = text.find("POST /2 hi");
  const size_t third = text.find("GET /3");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos) << text;
}

TEST(Server, AHalfClosedClientStillGetsItsAnswer) {
  Serving serving(Echo);
  RawClient client(serving.socket_path());
  client.Write("GET /half HTTP/1.1\r\n\r\n");
  client.FinishSending();
  EXPECT_THAT(client.Read(), HasSubstr("GET /half"));
  EXPECT_TRUE(Eventually([&] { return serving.ConnectionCount() == 0; }));
}

TEST(Server, OldHttpExpectAndHead) {
  Serving serving(Echo);
  RawClient old(serving.socket_path());
  old.Write("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.Read(), HasSubstr("GET /old"));
  EXPECT_TRUE(old.closed_by_server());
  old.Close();

  RawClient careful(serving.socket_path());
  careful.Write("POST / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(careful.Read(HasWholeAnswer), StartsWith("HTTP/1.1 100 Continue"));
  careful.Write("ok");
  EXPECT_THAT(careful.Read(HasWholeAnswer), HasSubstr("POST / ok"));

  Client client = serving.MakeClient();
  const auto head = client.Send("HEAD", "/head");
  ASSERT_TRUE(head) << head.error().ToString();
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(*head->FindHeader("Content-Length"), std::to_string(std::string("HEAD /head ").size()));
  EXPECT_TRUE(client.Call("GET", "/after"));
  EXPECT_TRUE(Eventually([&] { return serving.ConnectionCount() == 2; }));
}

TEST(Server, HandlersMayAnswerLater) {
  std::vector<EventLoop::Timer> timers;
  Serving* loop_owner = nullptr;
  Serving serving([&](Request request, Responder responder) {
    timers.push_back(loop_owner->loop().After(milliseconds(20),
                                              [request, responder] { Echo(request, responder); }));
  });
  loop_owner = &serving;
  Client client = serving.MakeClient();
  EXPECT_EQ(client.Call("GET", "/later"), "GET /later ");
  serving.On([&] { timers.clear(); });
}

TEST(Server, AThrowingHandlerGives500) {
  Serving serving([](Request, Responder) { throw std::runtime_error("broken"); });
  const auto response = serving.MakeClient().Send("GET", "/");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 500);
}

TEST(Server, ManyClientsAtOnce) {
  Serving serving(Echo);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&, t] {
      Client client = serving.MakeClient();
      for (int i = 0; i < 30; ++i) {
        const std::string path = "/" + std::to_string(t) + "/" + std::to_string(i);
        const auto body = client.Call("POST", path, "x");
        if (body == "POST " + path + " x") ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 32 * 30);
}

TEST(Server, ConnectionsBeyondTheLimitAreToldSo) {
  ServerOptions options;
  options.connections_max = 3;
  Serving serving(Echo, options);
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(serving.MakeClient());
    EXPECT_TRUE(clients.back().Call("GET", "/"));
  }
  const auto refused = serving.MakeClient().Send("GET", "/");
  ASSERT_TRUE(refused) << refused.error().ToString();
  EXPECT_EQ(refused->status, 503);
  clients.pop_back();
  EXPECT_TRUE(Eventually([&] { return serving.MakeClient().Call("GET", "/").has_value(); }));
}

TEST(Server, IdleAndSlowClientsAreDropped) {
  ServerOptions options;
  options.idle_timeout = milliseconds(100);
  Serving serving(Echo, options);
  RawClient idle(serving.socket_path());
  RawClient slow(serving.socket_path());
  slow.Write("GET / HTTP/1.1\r\nX: ");
  EXPECT_EQ(idle.Read(), "");
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_EQ(slow.Read(), "");
  EXPECT_TRUE(slow.closed_by_server());
}

// A client that keeps a connection which the server has closed meanwhile must not notice.
TEST(Server, AClientReconnectsAfterAnIdleClose) {
  ServerOptions options;
  options.idle_timeout = milliseconds(50);
  Serving serving(Echo, options);
  Client client = serving.MakeClient();
  ASSERT_TRUE(client.Call("GET", "/"));
  ASSERT_TRUE(Eventually([&] { return serving.ConnectionCount() == 0; }));
  EXPECT_TRUE(client.Call("GET", "/again"));
}

TEST(Server, AClientThatDoesNotReadItsAnswerIsDropped) {
  ServerOptions options;
  options.write_timeout = milliseconds(100);
  Serving serving(
      [](Request, Responder responder) {
        Response response;
        response.body = std::string(16 * 1024 * 1024, 'x');
        responder.Send(std::move(response));
      },
      options);
  RawClient client(serving.socket_path());
  client.Write("GET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(Eventually([&] { return serving.ConnectionCount() == 1; }));
  EXPECT_TRUE(Eventually([&] { return serving.ConnectionCount() == 0; }));
}

TEST(Server, AClientThatLeavesIsNoticedWhileItsRequestIsPending) {
  std::optional<Responder> pending;
  Serving serving([&](Request, Responder responder) { pending = responder; });
  RawClient client(serving.socket_path());
  client.Write("GET / HTTP/1.1\r\n\r\n");
  const auto is_pending = [&] {
    bool is = false;
    serving.On([&] { is = pending && pending->IsOpen(); });
    return is;
  };
  ASSERT_TRUE(Eventually(is_pending));
  client.Close();
  EXPECT_TRUE(Eventually([&] { return !is_pending(); }));
  EXPECT_EQ(serving.ConnectionCount(), 0);
  serving.On([&] {
    pending->Send(Response());
    pending.reset();
  });
}

TEST(Server, StoppingAnswersWhatIsPending) {
  std::optional<Responder> pending;
  Serving serving([&](Request, Responder responder) { pending = responder; });
  Result<std::string> body = Fail(ErrorCode::kInternal, "not asked");
  std::thread asking([&] { body = serving.MakeClient().Call("GET", "/"); });
  RawClient idle(serving.socket_path());
  ASSERT_TRUE(Eventually([&] {
    bool is_pending = false;
    serving.On([&] { is_pending = pending.has_value(); });
    return is_pending && serving.ConnectionCount() == 2;
  }));
  serving.On([&] { serving.server()->StopListening(); });
  EXPECT_EQ(idle.Read(), "");
  EXPECT_FALSE(serving.MakeClient().Call("GET", "/"));
  serving.On([&] {
    Response response;
    response.body = "at last";
    pending->Send(std::move(response));
    pending.reset();
  });
  asking.join();
  EXPECT_EQ(body, "at last");
  EXPECT_TRUE(Eventually([&] { return serving.ConnectionCount() == 0; }));
}

TEST(Server, DestroyedWithPendingRequestsAndStreams) {
  std::optional<Responder> pending;
  std::optional<ResponseStream> stream;
  Serving serving([&](Request request, Responder responder) {
    if (request.target.path == "/stream") {
      stream = responder.StartEvents();
      stream->OnGone([] { FAIL() << "the server is gone"; });
    } else {
      pending = responder;
    }
  });
  RawClient waiting(serving.socket_path());
  waiting.Write("GET / HTTP/1.1\r\n\r\n");
  RawClient streaming(serving.socket_path());
  streaming.Write("GET /stream HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(Eventually([&] {
    bool both = false;
    serving.On([&] { both = pending && stream; });
    return both;
  }));
  serving.On([&] {
    stream->OnGone({});
    serving.server().reset();
    EXPECT_FALSE(pending->IsOpen());
    EXPECT_FALSE(stream->Send({"late", "", ""}));
    pending->Send(Response());
    pending.reset();
    stream.reset();
  });
  EXPECT_EQ(waiting.Read(), "");
  EXPECT_TRUE(waiting.closed_by_server());
}

// Root talks to everybody's daemon; nobody else does, even where file modes let them in.
TEST(Server, OtherUsersAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "not run: needs root to become another user";
  Serving serving(Echo);
  ::chmod(serving.directory().c_str(), 0755);
  ::chmod(serving.socket_path().c_str(), 0666);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
    RawClient client(serving.socket_path());
    client.Write("GET / HTTP/1.1\r\n\r\n");
    const std::string answer = client.Read();
    ::_exit(answer.starts_with("HTTP/1.1 403") && answer.find("GET /") == std::string::npos ? 0
                                                                                            : 4);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(serving.MakeClient().Call("GET", "/"));
}

TEST(Server, TcpNeedsTheToken) {
  Serving serving(Echo);
  uint16_t port = 0;
  serving.On([&] { port = serving.server()->ListenTcp(0, "0123456789abcdef").value(); });
  Client right(Endpoint{"", port, "0123456789abcdef"});
  EXPECT_EQ(right.Call("GET", "/tcp"), "GET /tcp ");
  EXPECT_EQ(right.Call("GET", "/tcp2"), "GET /tcp2 ");
  for (const char* token : {"", "0123456789abcdeX", "0123456789abcdef0"}) {
    const auto response = Client(Endpoint{"", port, token}).Send("GET", "/tcp");
    ASSERT_TRUE(response) << response.error().ToString();
    EXPECT_EQ(response->status, 401) << token;
  }
  const auto taken = [&] {
    Result<uint16_t> again = uint16_t{0};
    serving.On([&] { again = serving.server()->ListenTcp(port, "x"); });
    return again;
  }();
  EXPECT_FALSE(taken);
}

}  // namespace
}  // namespace mete::http
