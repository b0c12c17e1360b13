#pragma once

// One client of the server: reads a request, hands it on, writes the answer, and again. Internal to
// the server; see server.h for the bounds.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "http/event_loop.h"
#include "http/message.h"
#include "http/server.h"

namespace mete::http {

class Connection {
 public:
  // What all connections of a server share. It goes with the server; what connections are left then
  // do nothing any more.
  struct Host {
    ServerOptions options;
    Handler handler;
    std::function<void(Connection&)> on_gone;
    bool stopping = false;
  };

  // `family` is AF_UNIX or AF_INET. `token` empty: none is asked for.
  static std::shared_ptr<Connection> Make(EventLoop& loop, std::weak_ptr<Host> host, int family,
                                          UniqueFd socket, std::string token,
                                          std::optional<uint32_t> peer_uid);
  virtual ~Connection() = default;

  virtual void Start() = 0;
  // Answers without reading, and closes.
  virtual void Refuse(Response response) = 0;
  virtual void Drop() = 0;
  // Drops if no request is under way; else after the answer.
  virtual void Retire() = 0;
};

}  // namespace mete::http
