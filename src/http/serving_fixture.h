#pragma once

// A server on its own thread with a socket in a fresh directory, and a raw client that can
// misbehave: for the tests of this folder and of those that serve through it.

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "http/client.h"
#include "http/router.h"
#include "http/server.h"
#include "http/unix_socket.h"

namespace mete::http {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mete-http-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Calls made with On() run on the server's thread and are waited for.
class Serving {
 public:
  explicit Serving(Handler handler, ServerOptions options = {})
      : socket_path_(directory_.path() + "/mete.sock"),
        server_(std::make_unique<Server>(loop_, options, std::move(handler))) {
    const Status listening = server_->ListenUnix(socket_path_);
    if (!listening) throw std::runtime_error(listening.error().ToString());
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Serving() {
    loop_.Stop();
    thread_.join();
  }

  void On(const std::function<void()>& call) {
    std::atomic<bool> done = false;
    loop_.Post([&] {
      call();
      done = true;
      done.notify_all();
    });
    done.wait(false);
  }
  Client MakeClient(ClientOptions options = {}) const {
    return Client(Endpoint{socket_path_, 0, ""}, std::move(options));
  }
  int ConnectionCount() {
    int count = 0;
    On([&] { count = server_->ConnectionCount(); });
    return count;
  }

  const std::string& socket_path() const { return socket_path_; }
  const std::string& directory() const { return directory_.path(); }
  EventLoop& loop() { return loop_; }
  std::unique_ptr<Server>& server() { return server_; }

 private:
  TemporaryDirectory directory_;
  std::string socket_path_;
  EventLoop loop_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

// Polls for `condition` for up to ten seconds.
inline bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

// Bytes in, bytes out.
class RawClient {
 public:
  explicit RawClient(const std::string& path) {
    auto fd = ConnectUnix(path, std::chrono::seconds(5));
    if (fd) fd_ = std::move(*fd);
  }
  // False when the server does not take all of it.
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_.Get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0 && errno == EAGAIN) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      } else if (count <= 0) {
        return false;
      } else {
        bytes.remove_prefix(static_cast<size_t>(count));
      }
    }
    return true;
  }
  // Until the server closes, or `enough` is satisfied, or ten seconds have passed.
  std::string Read(const std::function<bool(const std::string&)>& enough = {}) {
    std::string all;
    for (int i = 0; i < 1000; ++i) {
      char buffer[4096];
      const ssize_t count = ::recv(fd_.Get(), buffer, sizeof(buffer), 0);
      if (count == 0 || (count < 0 && errno != EAGAIN)) {
        closed_ = true;
        return all;
      }
      if (count > 0) {
        all.append(buffer, static_cast<size_t>(count));
        i = 0;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (enough && enough(all)) return all;
    }
    return all;
  }
  void FinishSending() { ::shutdown(fd_.Get(), SHUT_WR); }
  void Close() { fd_.Reset(); }
  bool closed_by_server() const { return closed_; }

 private:
  UniqueFd fd_;
  bool closed_ = false;
};

}  // namespace mete::http
